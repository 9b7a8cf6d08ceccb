// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "apps/suffix_array/cuda/ranges/ranges.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/ranks/build_plan.hpp"

namespace sortie::suffix_array {
namespace {

/// Bits of a letter of DNA with its ends, and words behind the packed text.
constexpr std::uint64_t dna_bits = 3;
constexpr std::uint64_t words_behind = 2;
constexpr std::uint64_t usual_memory = std::uint64_t{74} << 30;

/// Adds the step in which each rank sends its part of so many bytes to all others.
void add_exchange(const char* name, std::uint64_t bytes, int on_machine, cluster::RankPlan& plan) {
  const auto others = static_cast<std::uint64_t>(plan.ranks) - 1;
  cluster::RankStep step{name, 4, 0, 0, others, "", 0};
  const std::uint64_t part = (bytes + others) / (others + 1);
  cluster::divide_bytes(part * others, plan.ranks, on_machine, step);
  if (others > 0) plan.steps.push_back(step);
}

template <Position Index>
cluster::RankPlan plan_by(std::uint64_t symbols, int ranks, int on_machine, std::uint64_t memory) {
  const auto p = static_cast<std::uint64_t>(ranks);
  const std::uint64_t share = (symbols + p - 1) / p;
  const cuda::TextShape shape{symbols, 0, dna_bits, sizeof(Index)};
  cluster::RankPlan plan;
  plan.ranks = ranks;
  plan.rank_memory = cuda::least_bytes<Index>(shape);
  if (memory == 0) memory = std::max(usual_memory, plan.rank_memory);
  // A plan that does not fit has one range of the least memory.
  const cuda::RangePlan range = memory < plan.rank_memory
                                    ? cuda::RangePlan{cuda::greatest_cover_order, share}
                                    : cuda::plan_ranges<Index>(shape, memory);
  const std::uint64_t members =
      std::min(range.members, share / cuda::ranges_a_part + share / 64 + 1);
  const std::uint64_t ranges = (share + members - 1) / members;
  if (memory >= plan.rank_memory)
    plan.rank_memory = cuda::bytes_in_ranges<Index>(shape, {range.cover_order, members});
  const std::uint64_t cover = cuda::DifferenceCover(range.cover_order).positions_below(symbols);

  const auto items = [](std::uint64_t count) { return static_cast<double>(count); };
  plan.steps.push_back({"copy text", 3, 0, 0, 0, "gpu bytes", items(share)});
  add_exchange("share text", ((symbols / 64 + 1) * dna_bits + words_behind) * 8, on_machine, plan);
  plan.steps.push_back({"sort cover", 4, 0, 0, 0, "gpu suffixes", items((cover + p - 1) / p)});
  add_exchange("share cover", cover * sizeof(Index), on_machine, plan);
  plan.steps.push_back({"rank cover", 2, 0, 0, 0, "gpu ranks", items(cover)});
  plan.steps.push_back(
      {"count and gather", 4, 0, 0, 0, "gpu symbols", items(3 * share + ranges * symbols)});
  plan.steps.push_back({"sort ranges", 0, 0, 0, 0, "gpu suffixes", items(share)});
  // The copies of the other ranges overlap the sorts.
  plan.steps.push_back(
      {"copy last range", 3, 0, 0, 0, "gpu bytes", items(share / ranges * sizeof(Index))});
  return plan;
}

}  // namespace

cluster::RankPlan plan_device_build(std::uint64_t symbols, int ranks, int on_machine,
                                    std::uint64_t memory) {
  symbols = std::max<std::uint64_t>(symbols, 1);
  return symbols <= cuda::max_symbols<std::uint32_t>
             ? plan_by<std::uint32_t>(symbols, ranks, on_machine, memory)
             : plan_by<std::uint64_t>(symbols, ranks, on_machine, memory);
}

}  // namespace sortie::suffix_array
