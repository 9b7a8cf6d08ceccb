// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/build_plan.hpp"

namespace sortie::suffix_array {
namespace {

/// Bits of a letter of DNA with its ends, and bytes of an element of the first sort and of what a
/// rank holds of its share at most (ranks/build.cpp).
constexpr std::uint64_t symbol_bits = 3;
constexpr std::uint64_t element_bytes = 8;
constexpr std::uint64_t share_bytes = 17;

/// Collective calls of the first sort, and of the end.
constexpr std::uint64_t calls_of_sort = 12;
constexpr std::uint64_t calls_of_end = 10;

}  // namespace

cluster::RankPlan plan_build(std::uint64_t symbols, int ranks, int on_machine) {
  const auto p = static_cast<std::uint64_t>(ranks);
  const std::uint64_t share = (symbols + p - 1) / p;
  const std::uint64_t packed = (symbols * symbol_bits + 7) / 8;
  cluster::RankPlan plan;
  plan.ranks = ranks;
  plan.rank_memory = symbols + packed + share_bytes * share;
  if (ranks > 1) {
    // Large messages are broadcast in parts: each rank passes on about as much as it receives.
    cluster::RankStep text{"broadcast text", 3, 0, 0, 0, "", 0};
    divide_bytes(packed, ranks, on_machine, text);
    cluster::RankStep exchange{"exchange", calls_of_sort, 0, 0, p - 1, "", 0};
    divide_bytes(element_bytes * (share / p) * (p - 1), ranks, on_machine, exchange);
    plan.steps = {text, exchange};
  }
  plan.steps.push_back({"sort", 0, 0, 0, 0, "symbols", static_cast<double>(share)});
  if (ranks > 1) plan.steps.push_back({"end", calls_of_end, 0, 0, 0, "", 0});
  return plan;
}

}  // namespace sortie::suffix_array
