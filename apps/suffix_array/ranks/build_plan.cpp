// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/build_plan.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array {
namespace {

/// Bits of a letter of DNA with its ends.
constexpr std::uint64_t symbol_bits = 3;
constexpr std::uint64_t element_bytes = 8;
/// Blocks of the text that rank 0 has read which are not freed yet while it packs the text.
constexpr std::uint64_t packing_bytes = std::uint64_t{128} << 20;
/// At least this part of the elements is held at once.
constexpr std::uint64_t most_passes = 16;
/// To scan so many symbols takes the time to sort one.
constexpr double scanned_symbols = 20;

/// A suffix in a group takes as long as so many others. Seconds of one thread: yeast, of whose
/// suffixes 4.5 % are in groups, 1.42 times as many a symbol as random letters, E. coli with 1.8 %
/// 1.22, ten genomes that differ in 0.4 % 7.
constexpr double symbols_a_member = 9;
/// Samples of the suffixes in groups of DNA, and rounds in which they are exchanged.
constexpr double samples_a_member = 0.03;
constexpr std::uint64_t sample_rounds = 8;

/// Symbols in which the suffixes of a group of DNA agree.
constexpr std::uint64_t repeated_symbols = 80;
/// At least so many suffixes are examined, if there are as many.
constexpr int examined_bits = 20;

/// Collective calls of the first sort, of the samples, and of the end.
constexpr std::uint64_t calls_of_sort = 4;
constexpr std::uint64_t calls_of_samples = 16 + 8 * sample_rounds;
constexpr std::uint64_t calls_of_end = 12;

}  // namespace

ShareMemory share_memory(std::uint64_t symbols, std::uint64_t position_bytes) {
  const std::uint64_t lasting = position_bytes * (symbols + symbols / 32) + symbols / 8;
  return {lasting, lasting + element_bytes * (symbols / most_passes),
          lasting + element_bytes * symbols};
}

double part_in_repeats(std::span<const std::uint8_t> symbols) {
  if (symbols.size() <= repeated_symbols) return 0;
  constexpr std::uint64_t base = 0x9e3779b97f4a7c15;
  std::uint64_t last_power = 1;  // of the symbol that leaves
  for (std::uint64_t i = 0; i < repeated_symbols; ++i) last_power *= base;
  const int skipped_bits = std::max<int>(std::bit_width(symbols.size()) - examined_bits, 0);
  const EqualShares chunks = thread_shares(symbols.size() - repeated_symbols);
  std::vector<std::vector<std::uint64_t>> found(chunks.count);
  for_each_share(chunks, [&](std::uint64_t chunk, std::uint64_t first, std::uint64_t last) {
    std::uint64_t hash = 0;
    std::uint64_t run = 0;
    for (std::uint64_t i = first; i < last + repeated_symbols; ++i) {
      hash = hash * base + symbols[i] + 1;
      run = i > first && symbols[i] == symbols[i - 1] ? run + 1 : 1;
      if (i < first + repeated_symbols) continue;
      hash -= last_power * (symbols[i - repeated_symbols] + std::uint64_t{1});
      const std::uint64_t mixed = (hash ^ hash >> 32) * base;
      if (mixed >> 1 >> (63 - skipped_bits) == 0 && run < repeated_symbols)
        found[chunk].push_back(mixed);
    }
  });
  std::vector<std::uint64_t> hashes;
  for (const std::vector<std::uint64_t>& of_chunk : found)
    hashes.insert(hashes.end(), of_chunk.begin(), of_chunk.end());
  std::ranges::sort(hashes);
  std::uint64_t unique = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const bool is_first = i == 0 || hashes[i] != hashes[i - 1];
    const bool is_last = i + 1 == hashes.size() || hashes[i] != hashes[i + 1];
    unique += is_first && is_last ? 1 : 0;
  }
  return hashes.empty()
             ? 0
             : static_cast<double>(hashes.size() - unique) / static_cast<double>(hashes.size());
}

cluster::RankPlan plan_build(std::uint64_t symbols, int ranks, int on_machine, std::uint64_t memory,
                             double repeats) {
  const auto p = static_cast<std::uint64_t>(ranks);
  const std::uint64_t share = (symbols + p - 1) / p;
  const std::uint64_t packed = (symbols * symbol_bits + 7) / 8;
  const std::uint64_t position_bytes = symbols >> 32 == 0 ? 4 : 8;
  const ShareMemory of_share = share_memory(share, position_bytes);
  const std::uint64_t left = memory == 0 ? of_share.all : memory > packed ? memory - packed : 0;
  const std::uint64_t taken = std::clamp(left, of_share.least, of_share.all);
  const std::uint64_t elements = std::max<std::uint64_t>(taken - of_share.lasting, 1);
  const std::uint64_t scans = (element_bytes * share + elements - 1) / elements;
  cluster::RankPlan plan;
  plan.ranks = ranks;
  plan.rank_memory = packed + std::max(taken, std::min(packed, packing_bytes));
  if (ranks > 1) {
    // Large messages are broadcast in parts: each rank passes on about as much as it receives.
    cluster::RankStep text{"broadcast text", 3, 0, 0, 0, "", 0};
    divide_bytes(packed, ranks, on_machine, text);
    plan.steps = {text};
  }
  plan.steps.push_back({"scan", calls_of_sort, 0, 0, 0, "symbols",
                        static_cast<double>(scans * symbols + share) / scanned_symbols});
  plan.steps.push_back({"sort", 0, 0, 0, 0, "symbols", static_cast<double>(share)});
  if (repeats > 0) {
    const double members = repeats * static_cast<double>(share);
    const auto samples = static_cast<std::uint64_t>(samples_a_member * members * ranks);
    // Two values of the map for a sample, and what most rounds change in three of four.
    const std::uint64_t bytes =
        symbols / 8 + samples * position_bytes * (2 + 3 * sample_rounds * 3 / 4);
    cluster::RankStep step{"repeats", 0, 0, 0, 0, "symbols", symbols_a_member * members};
    if (ranks > 1) {
      step.collectives = calls_of_samples;
      divide_bytes(bytes / p * (p - 1), ranks, on_machine, step);
    }
    plan.steps.push_back(step);
    const std::uint64_t sets = 3 * symbols / 8 + symbols * position_bytes / 32;
    plan.rank_memory = std::max(plan.rank_memory, packed + of_share.lasting + sets +
                                                      samples * position_bytes * (4 + 5 / p));
  }
  if (ranks > 1) plan.steps.push_back({"end", calls_of_end, 0, 0, 0, "", 0});
  return plan;
}

#ifndef SORTIE_HAVE_CUDA
cluster::RankPlan plan_device_build(std::uint64_t, int, int, std::uint64_t) {
  throw Error(ErrorKind::unavailable, "found a plan for GPUs, expected a build with CUDA");
}
#endif

}  // namespace sortie::suffix_array
