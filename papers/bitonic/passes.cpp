// SPDX-License-Identifier: Apache-2.0
#include "papers/bitonic/passes.hpp"

#include <algorithm>
#include <bit>

namespace sortie::papers::bitonic_network {

namespace {

int log2_rounded_up(std::uint64_t n) {
  return n <= 1 ? 0 : std::bit_width(n - 1);
}

}  // namespace

BitonicPlan plan_bitonic_passes(std::uint64_t n, const BitonicTile& tile) {
  const int stages = log2_rounded_up(n);
  const int most_steps = tile.log_items - tile.log_least_columns;
  BitonicPlan plan;
  plan.first_stages = std::min(stages, tile.log_items);
  for (int stage = tile.log_items + 1; stage <= stages; ++stage) {
    // The last pass of a stage does the steps within a tile of consecutive items. The passes before
    // divide the steps of larger distances evenly, at least log_items_a_thread each; where these
    // minimums add up to more steps, the last pass has fewer.
    const int far_passes = (stage - tile.log_items + most_steps - 1) / most_steps;
    const int far_steps = std::max(stage - tile.log_items, far_passes * tile.log_items_a_thread);
    int log_distance = stage;
    for (int i = 0; i < far_passes; ++i) {
      const int steps = (far_steps + far_passes - 1 - i) / far_passes;
      log_distance -= steps;
      plan.passes.push_back({stage, i == 0, steps, log_distance});
    }
    plan.passes.push_back({stage, false, log_distance, 0});
  }
  return plan;
}

std::uint64_t tiles_of_pass(const BitonicPass& pass, std::uint64_t n, const BitonicTile& tile) {
  const int log_block = std::max(pass.log_distance + pass.steps, tile.log_items);
  const std::uint64_t blocks =
      (n >> log_block) + ((n & ((std::uint64_t{1} << log_block) - 1)) != 0);
  return blocks << (log_block - tile.log_items);
}

std::uint64_t memory_transactions(const BitonicPlan& plan, std::uint64_t n, const BitonicTile& tile,
                                  std::uint64_t segment) {
  const auto of_pass = [&](std::uint64_t neighbours) {
    const std::uint64_t keys = std::min(segment, neighbours);
    return 2 * ((n + keys - 1) / keys);
  };
  std::uint64_t transactions = of_pass(segment);  // the first pass
  for (const BitonicPass& pass : plan.passes)
    transactions += of_pass(
        pass.log_distance == 0 ? segment : std::uint64_t{1} << (tile.log_items - pass.steps));
  return transactions;
}

}  // namespace sortie::papers::bitonic_network
