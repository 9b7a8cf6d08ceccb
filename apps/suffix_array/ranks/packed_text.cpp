// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/packed_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

/// The stream of the text on rank 0, and memory for it on the others.
host::SymbolStream packed(cluster::Ranks& ranks, const Context& context,
                          const cluster::RankMemory& memory, const RankText& text,
                          std::uint64_t size, const host::PrefixPlan& plan,
                          std::uint64_t separators, const PackedText::ShareBytes& share_bytes) {
  std::unique_ptr<host::SymbolStream> stream;
  ranks.together("pack", [&] {
    const std::uint64_t bytes =
        host::SymbolStream::bytes(size, plan) + separators * PackedText::separator_bytes;
    const EqualShares shares{size, static_cast<std::uint64_t>(ranks.size())};
    memory.require(
        fmt::format("suffix array of {} symbols on {} ranks", size, ranks.size()),
        {bytes + share_bytes(shares.items / shares.count + 1), share_bytes(size), bytes});
    start_host_runtime(context.threads);
    stream = std::make_unique<host::SymbolStream>(
        ranks.rank() == 0 ? text.pack(context, plan) : host::SymbolStream(size, plan));
  });
  ranks.broadcast(stream->storage(plan), 0);
  return std::move(*stream);
}

}  // namespace

host::LetterCounts RankText::count_letters() const {
  if (blocks_ == nullptr) return host::count_letters(view_);
  host::LetterCounts counts = blocks_->counts();
  counts[sequences::Text::separator] = 0;
  return counts;
}

host::SymbolStream RankText::pack(const HostContext& context, const host::PrefixPlan& plan) const {
  if (blocks_ == nullptr) return {view_, plan};
  host::SymbolStream stream(size(), plan);
  const std::uint64_t block_symbols = blocks_->block_symbols();
  blocks_->visit(
      threads_of(context),
      [&](std::uint64_t block, std::span<const std::uint8_t> symbols) {
        stream.pack(block * block_symbols, symbols, plan);
      },
      is_last_use_);
  stream.finish(view_.separators, plan);
  return stream;
}

PackedText::Header PackedText::shared_header(cluster::Ranks& ranks, const Context& context,
                                             const RankText& text) {
  Header header;
  ranks.on_rank(0, "count letters", [&] {
    start_host_runtime(context.threads);
    header = {text.size(), text.separators().size(), text.count_letters()};
  });
  ranks.broadcast(std::as_writable_bytes(std::span(&header, 1)), 0);
  return header;
}

PackedText::PackedText(cluster::Ranks& ranks, const Context& context,
                       const cluster::RankMemory& memory, const RankText& text,
                       const PackedText::ShareBytes& share_bytes)
    : PackedText(ranks, context, memory, text, share_bytes, shared_header(ranks, context, text)) {}

PackedText::PackedText(cluster::Ranks& ranks, const Context& context,
                       const cluster::RankMemory& memory, const RankText& text,
                       const PackedText::ShareBytes& share_bytes, const Header& header)
    : size_(header.size),
      plan_(host::plan_prefixes(header.counts, std::max<std::uint64_t>(header.size, 1))),
      stream_(packed(ranks, context, memory, text, size_, plan_, header.separators, share_bytes)) {
  for (std::size_t byte = 0; byte < plan_.code.size(); ++byte)
    if (plan_.code[byte] != 0) letter_of_code_[plan_.code[byte]] = static_cast<std::uint8_t>(byte);
  ranks.together("separators", [&] {
    separators_.resize(header.separators);
    separator_symbols_.resize(header.separators);
    if (ranks.rank() != 0) return;
    std::ranges::copy(text.separators(), separators_.begin());
    for (std::size_t i = 0; i < separators_.size(); ++i)
      separator_symbols_[i] = text.separator_symbol(i);
  });
  ranks.broadcast(std::as_writable_bytes(std::span(separators_)), 0);
  ranks.broadcast(std::as_writable_bytes(std::span(separator_symbols_)), 0);
}

std::uint8_t PackedText::symbol(std::uint64_t position) const {
  const std::uint64_t code = stream_.code(position);
  if (code != 0) return letter_of_code_[code];
  const auto found = std::ranges::lower_bound(separators_, position);
  return separator_symbols_[static_cast<std::size_t>(found - separators_.begin())];
}

std::uint64_t PackedText::common_symbols(std::uint64_t left, std::uint64_t right,
                                         std::uint64_t known) const {
  while (true) {
    const int common =
        stream_.common_symbols(stream_.word(left + known), stream_.word(right + known));
    known += static_cast<std::uint64_t>(common);
    if (common < stream_.symbols()) return known;
  }
}

}  // namespace sortie::suffix_array::on_ranks
