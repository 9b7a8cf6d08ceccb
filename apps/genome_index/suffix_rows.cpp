// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/suffix_rows.hpp"

#include <algorithm>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/build/range_build.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::genomes {
namespace {

using suffix_array::RowRequest;

/// Rows of a block: enough for all threads, which wait for each other several times a block, and few
/// beside the text.
constexpr std::uint64_t block_rows = std::uint64_t{1} << 22;

/// for_each_row_block() on the host.
template <class Pos>
void visit_host_rows(const Context& context, const suffix_array::TextView& text,
                     const RowRequest& request, const suffix_array::VisitRowBlock& visit) {
  const std::uint8_t* const symbols = text.symbols.data();
  std::vector<std::uint8_t> letters;
  std::vector<std::uint64_t> samples;
  std::uint64_t first_suffix = suffix_array::no_row;
  const auto visit_rows = [&](std::uint64_t first, std::span<const Pos> rows) {
    letters.resize(rows.size());
    const std::uint64_t skipped = request.samples_below(first);
    samples.resize(request.samples_below(first + rows.size()) - skipped);
    for_each_range(rows.size(), std::uint64_t{1} << 16,
                   [&](std::uint64_t begin, std::uint64_t end) {
                     constexpr std::uint64_t ahead = 32;
                     for (std::uint64_t i = begin; i < end; ++i) {
                       if (i + ahead < end) __builtin_prefetch(symbols + rows[i + ahead]);
                       const std::uint64_t position = rows[i];
                       letters[i] = position == 0 ? request.first_letter : symbols[position - 1];
                       if (position == 0) first_suffix = first + i;
                     }
                   });
    for_each_index(0, samples.size(), [&](std::uint64_t i) {
      samples[i] = rows[(skipped + i) * request.sample_step + request.sample_phase - first];
    });
    visit({first, letters, samples, {&first_suffix, 1}});
  };
  for_each_rows<Pos>(context, text, RowOrder::ascending, visit_rows);
}

}  // namespace

template <suffix_array::Position Pos>
void for_each_rows(const Context& context, const suffix_array::TextView& text, RowOrder order,
                   const VisitRows<Pos>& visit) {
  const auto visit_blocks = [&](std::uint64_t first, std::span<const Pos> rows) {
    const std::uint64_t blocks = (rows.size() + block_rows - 1) / block_rows;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const std::uint64_t at = (order == RowOrder::ascending ? i : blocks - 1 - i) * block_rows;
      visit(first + at, rows.subspan(at, std::min<std::uint64_t>(block_rows, rows.size() - at)));
    }
  };
  if (host_memory_limit(context) < memory_of_rows(context, text.size())) {
    start_host_runtime(context.threads);
    suffix_array::host::build_in_ranges<Pos>(context, text, order == RowOrder::descending,
                                             visit_blocks);
    return;
  }
  const std::vector<Pos> suffixes = suffix_array::build<Pos>(context, text);
  visit_blocks(0, suffixes);
}

bool streams_from_device(const Context& context) {
  return resolve_backend(context) == Backend::cuda;
}

void for_each_row_block(const Context& context, const suffix_array::TextView& text,
                        const RowRequest& request, const suffix_array::VisitRowBlock& visit) {
  with_position_type(request.mirrored ? 2 * text.size() : text.size(), [&](auto type) {
    using Pos = decltype(type);
    suffix_array::on_backend(
        context,
        [&](const auto& here) {
          suffix_array::cuda::stream_rows<Pos>(here, text, request, visit, nullptr);
        },
        [&](const Context& here) { visit_host_rows<Pos>(here, text, request, visit); });
  });
}

std::uint64_t memory_of_rows(const Context& context, std::uint64_t symbols) {
  if (streams_from_device(context)) return 4 * suffix_array::row_stream_bytes;
  std::uint64_t position = sizeof(std::uint64_t);
  with_position_type(symbols, [&](auto type) { position = sizeof(type); });
  return symbols * position * 25 / 8;
}

template void for_each_rows(const Context&, const suffix_array::TextView&, RowOrder,
                            const VisitRows<std::uint32_t>&);
template void for_each_rows(const Context&, const suffix_array::TextView&, RowOrder,
                            const VisitRows<std::uint64_t>&);

}  // namespace sortie::genomes
