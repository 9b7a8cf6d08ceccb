// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/build_plan.hpp"

#include <algorithm>

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

/// Collective calls of the first sort, and of the end.
constexpr std::uint64_t calls_of_sort = 4;
constexpr std::uint64_t calls_of_end = 12;

}  // namespace

ShareMemory share_memory(std::uint64_t symbols, std::uint64_t position_bytes) {
  const std::uint64_t lasting = position_bytes * (symbols + symbols / 32) + symbols / 8;
  return {lasting, lasting + element_bytes * (symbols / most_passes),
          lasting + element_bytes * symbols};
}

cluster::RankPlan plan_build(std::uint64_t symbols, int ranks, int on_machine,
                             std::uint64_t memory) {
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
  if (ranks > 1) plan.steps.push_back({"end", calls_of_end, 0, 0, 0, "", 0});
  return plan;
}

#ifndef SORTIE_HAVE_CUDA
cluster::RankPlan plan_device_build(std::uint64_t, int, int, std::uint64_t) {
  throw Error(ErrorKind::unavailable, "found a plan for GPUs, expected a build with CUDA");
}
#endif

}  // namespace sortie::suffix_array
