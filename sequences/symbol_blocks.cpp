// SPDX-License-Identifier: Apache-2.0
#include "sequences/symbol_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/files/block_pipeline.hpp"
#include "primitives/host/packed_codes.hpp"
#include "sequences/fasta_text.hpp"
#include "sortie/error.hpp"

namespace sortie::sequences {
namespace {

/// malloc() returns memory of more than 32 MiB to the system when it is freed.
constexpr std::uint64_t least_chunk = std::uint64_t{64} << 20;

/// unpack_codes() reads so much more.
constexpr std::uint64_t bytes_beyond = 8;

void unpack_block(const SymbolBlocks::Block& block, std::vector<std::uint8_t>& symbols) {
  symbols.resize(block.size);
  unpack_codes(block.bytes.get(), block.bits, block.symbols, symbols);
}

}  // namespace

void SymbolBlocks::start(const HostContext& context, std::string name) {
  name_ = std::move(name);
  memory_ = HostMemoryBudget(context);
  has_budget_ = context.memory_budget != 0;
  blocks_.clear();
  rest_.clear();
  size_ = 0;
  counts_.fill(0);
  chunk_.reset();
  chunk_left_ = 0;
}

SymbolCounts SymbolBlocks::counts() const {
  SymbolCounts all = counts_;
  count_symbols(rest_, all);
  return all;
}

SymbolBlocks::Block& SymbolBlocks::add() {
  size_ += block_symbols_;
  return blocks_.emplace_back();
}

std::shared_ptr<std::uint8_t> SymbolBlocks::take_bytes(std::uint64_t bytes) {
  if (has_budget_ || bytes > chunk_left_) {
    try {
      memory_.require("the text", bytes);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: {}", name_, error.what()));
    }
  }
  if (bytes > chunk_left_) {
    const std::uint64_t wanted = std::max(bytes, least_chunk);
    try {
      chunk_ = std::make_shared<HostArray<std::uint8_t>>(allocate_array<std::uint8_t>(wanted));
    } catch (const std::bad_alloc&) {
      throw out_of_memory_error(name_ + ": the text", wanted, host_memory_available());
    }
    chunk_bytes_ = chunk_left_ = wanted;
  }
  memory_.hold(bytes);
  std::uint8_t* const begin = chunk_->get() + (chunk_bytes_ - chunk_left_);
  chunk_left_ -= bytes;
  return {chunk_, begin};
}

void SymbolBlocks::store(Block& block, std::span<const std::uint8_t> symbols) {
  block.size = symbols.size();
  SymbolCounts counts{};
  count_symbols(symbols, counts);
  ByteCodes code_of{};
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    if (counts[symbol] == 0) continue;
    code_of[symbol] = static_cast<std::uint16_t>(block.codes);
    block.symbols[block.codes++] = static_cast<std::uint8_t>(symbol);
  }
  block.bits = std::max(1U, static_cast<unsigned>(std::bit_width(block.codes - 1)));
  const std::uint64_t groups = (symbols.size() + codes_in_group - 1) / codes_in_group;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t symbol = 0; symbol < counts_.size(); ++symbol)
      counts_[symbol] += counts[symbol];
    block.bytes = take_bytes(groups * block.bits + bytes_beyond);
  }
  pack_codes(symbols, code_of, block.bits, block.bytes.get());
}

void SymbolBlocks::append(std::span<const std::uint8_t> symbols) {
  size_ += symbols.size();
  while (!symbols.empty()) {
    const auto taken =
        symbols.first(std::min<std::uint64_t>(symbols.size(), block_symbols_ - rest_.size()));
    rest_.insert(rest_.end(), taken.begin(), taken.end());
    symbols = symbols.subspan(taken.size());
    if (rest_.size() == block_symbols_) seal();
  }
}

void SymbolBlocks::seal() {
  if (!rest_.empty()) store(blocks_.emplace_back(), rest_);
  rest_.clear();
}

void SymbolBlocks::replace(const std::array<std::uint8_t, 256>& by) {
  for (Block& block : blocks_)
    for (unsigned code = 0; code < block.codes; ++code)
      block.symbols[code] = by[block.symbols[code]];
  SymbolCounts counts{};
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol)
    counts[by[symbol]] += counts_[symbol];
  counts_ = counts;
}

void SymbolBlocks::for_each_block(int threads,
                                  const std::function<void(std::uint64_t, Symbols&)>& work) {
  const auto workers =
      static_cast<int>(std::clamp<std::uint64_t>(blocks_.size(), 1, std::max(threads, 1)));
  std::vector<Symbols> buffers(static_cast<std::size_t>(workers));
  run_blocks(
      workers,
      {.take = [&](int, std::uint64_t block) { return block < blocks_.size(); },
       .work = [&](int worker, std::uint64_t block) { work(block, buffers[std::size_t(worker)]); },
       .pass = {},
       .finish = {}});
}

void SymbolBlocks::visit(
    int threads, const std::function<void(std::uint64_t, std::span<const std::uint8_t>)>& visit,
    bool release) {
  for_each_block(threads, [&](std::uint64_t number, Symbols& symbols) {
    Block& block = blocks_[number];
    unpack_block(block, symbols);
    visit(number, symbols);
    if (release) block.bytes.reset();
  });
  if (release) start({}, {});
}

void SymbolBlocks::unpack(std::uint64_t begin, std::span<std::uint8_t> to) const {
  std::vector<std::uint8_t> groups;
  while (!to.empty()) {
    const std::uint64_t in_block = begin % block_symbols_;
    const std::span<std::uint8_t> part =
        to.first(std::min<std::uint64_t>(to.size(), block_symbols_ - in_block));
    if (begin / block_symbols_ == blocks_.size()) {
      std::ranges::copy(std::span(rest_).subspan(in_block, part.size()), part.begin());
    } else {
      const Block& block = blocks_[begin / block_symbols_];
      const std::uint64_t skipped = in_block % codes_in_group;
      groups.resize(skipped + part.size());
      unpack_codes(block.bytes.get() + in_block / codes_in_group * block.bits, block.bits,
                   block.symbols, groups);
      std::ranges::copy(std::span(groups).subspan(skipped), part.begin());
    }
    begin += part.size();
    to = to.subspan(part.size());
  }
}

std::vector<std::uint64_t> SymbolBlocks::positions(int threads, std::uint8_t symbol) {
  std::vector<std::vector<std::uint64_t>> found(blocks_.size());
  for_each_block(threads, [&](std::uint64_t number, Symbols& symbols) {
    const Block& block = blocks_[number];
    const auto occurring = std::span(block.symbols).first(block.codes);
    if (std::ranges::find(occurring, symbol) == occurring.end()) return;
    unpack_block(block, symbols);
    const std::uint64_t first = number * block_symbols_;
    for (std::size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i] == symbol) found[number].push_back(first + i);
  });
  std::vector<std::uint64_t> all;
  all.reserve(counts_[symbol]);
  for (const std::vector<std::uint64_t>& positions : found)
    all.insert(all.end(), positions.begin(), positions.end());
  return all;
}

std::string SymbolBlocks::checksum(int threads) {
  std::vector<std::uint64_t> sums(blocks_.size());
  visit(threads, [&](std::uint64_t number, std::span<const std::uint8_t> symbols) {
    sums[number] = block_checksum(std::as_bytes(symbols));
  });
  return checksum_text(checksum_of_blocks(sums));
}

void append_reverse_complements(std::vector<Record>& records, SymbolBlocks& blocks) {
  const std::size_t count = records.size();
  const std::uint64_t distance = blocks.size() + 1;
  const bool rna = is_rna(blocks.counts());
  std::vector<std::uint8_t> part;
  for (std::size_t i = 0; i < count; ++i) {
    const Record record = records[i];
    blocks.append({&Text::separator, 1});
    for (std::uint64_t left = record.length; left > 0; left -= part.size()) {
      part.resize(std::min(left, blocks.block_symbols()));
      blocks.unpack(record.offset + left - part.size(), part);
      std::ranges::reverse(part);
      for (std::uint8_t& symbol : part) symbol = complement(symbol, rna);
      blocks.append(part);
    }
    records.push_back(reverse_record(record, distance));
  }
}

}  // namespace sortie::sequences
