// SPDX-License-Identifier: Apache-2.0

// The passes of the bitonic network, done item by item on the host: they sort any length, without
// an item beyond the end.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "papers/bitonic/passes.hpp"

namespace sortie::test {
namespace {

namespace plan = papers::bitonic_network;

using Keys = std::vector<std::uint32_t>;

/// The smaller key to place i, unless place j is beyond the end.
void compare(Keys& keys, std::uint64_t i, std::uint64_t j) {
  if (j < keys.size() && keys[j] < keys[i]) std::swap(keys[i], keys[j]);
}

/// All comparisons of a stage's first step, or of one at `distance`.
void run_step(Keys& keys, int stage, bool mirrors, std::uint64_t distance) {
  const std::uint64_t block = std::uint64_t{1} << stage;
  for (std::uint64_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t partner = mirrors ? i ^ (block - 1) : i ^ distance;
    if (i < partner) compare(keys, i, partner);
  }
}

void run_stage(Keys& keys, int stage) {
  run_step(keys, stage, true, 0);
  for (int bit = stage - 2; bit >= 0; --bit) run_step(keys, stage, false, std::uint64_t{1} << bit);
}

void run_pass(Keys& keys, const plan::BitonicPass& pass) {
  for (int step = pass.steps - 1; step >= 0; --step)
    run_step(keys, pass.stage, pass.begins_stage && step == pass.steps - 1,
             std::uint64_t{1} << (pass.log_distance + step));
}

constexpr plan::BitonicTile tiles[] = {{14, 5, 4}, {13, 4, 3}, {12, 3, 3}, {14, 5, 6},
                                       {5, 2, 1},  {6, 3, 3},  {4, 2, 2}};

TEST(BitonicPasses, SortAnyLength) {
  Random random(1);
  for (const plan::BitonicTile& tile : {tiles[4], tiles[5], tiles[6]}) {
    for (std::uint64_t n = 0; n < 700; n += n < 300 ? 1 : 37) {
      Keys keys(n);
      for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random.below(100));
      Keys expected = keys;
      std::sort(expected.begin(), expected.end());
      const plan::BitonicPlan passes = plan::plan_bitonic_passes(n, tile);
      for (int stage = 1; stage <= passes.first_stages; ++stage) run_stage(keys, stage);
      for (const plan::BitonicPass& pass : passes.passes) run_pass(keys, pass);
      ASSERT_EQ(keys, expected) << n << " keys, tiles of 2^" << tile.log_items;
    }
  }
}

TEST(BitonicPasses, EveryStepOnceAndAsManyAsATileHolds) {
  for (const plan::BitonicTile& tile : tiles) {
    for (int log_n = 0; log_n <= 40; ++log_n) {
      const plan::BitonicPlan passes = plan::plan_bitonic_passes(std::uint64_t{1} << log_n, tile);
      int stage = passes.first_stages;
      int open = 0;  // steps of the stage that are still to be done
      for (const plan::BitonicPass& pass : passes.passes) {
        if (pass.begins_stage) {
          ASSERT_EQ(open, 0);
          ASSERT_EQ(pass.stage, ++stage);
          open = stage;
        }
        ASSERT_EQ(pass.stage, stage);
        open -= pass.steps;
        ASSERT_EQ(pass.log_distance, open);
        if (pass.log_distance > 0) {
          ASSERT_GE(pass.steps, tile.log_items_a_thread);
          ASSERT_LE(pass.steps, tile.log_items - tile.log_least_columns);
          ASSERT_GE(pass.log_distance, tile.log_items - pass.steps) << "rows overlap";
        } else {
          ASSERT_LE(pass.steps, tile.log_items);
        }
      }
      ASSERT_EQ(open, 0);
      ASSERT_EQ(stage, log_n);
    }
  }
}

TEST(BitonicPasses, TilesCoverTheArray) {
  for (const plan::BitonicTile& tile : tiles) {
    for (const std::uint64_t n : {std::uint64_t{100'000}, std::uint64_t{1} << 33,
                                  (std::uint64_t{1} << 34) + 1, std::uint64_t{31'000'000'000}}) {
      for (const plan::BitonicPass& pass : plan::plan_bitonic_passes(n, tile).passes) {
        const std::uint64_t tiles_of_pass = plan::tiles_of_pass(pass, n, tile);
        ASSERT_GE(tiles_of_pass << tile.log_items, n);
        if (tile.log_items >= 12) {
          ASSERT_LT(tiles_of_pass, std::uint64_t{1} << 31);
        }
      }
    }
  }
}

TEST(BitonicPasses, NumberOfPasses) {
  const auto passes = [](std::uint64_t n) {
    return plan::plan_bitonic_passes(n, tiles[0]).passes_over_memory();
  };
  EXPECT_EQ(passes(1), 1);
  EXPECT_EQ(passes(std::uint64_t{1} << 14), 1);
  EXPECT_EQ(passes((std::uint64_t{1} << 14) + 1), 3);
  EXPECT_EQ(passes(std::uint64_t{1} << 31), 42);
  EXPECT_EQ(passes(std::uint64_t{1} << 35), 55);
}

TEST(BitonicPasses, MemoryTransactions) {
  const auto transactions = [](int log_n) {
    const std::uint64_t n = std::uint64_t{1} << log_n;
    return plan::memory_transactions(plan::plan_bitonic_passes(n, tiles[0]), n, tiles[0]);
  };
  // One pass in rows of whole segments; then for each stage up to 2^19 a pass of 2^9 columns more.
  EXPECT_EQ(transactions(14), 2 * (1 << 14) / 32);
  EXPECT_EQ(transactions(15), 3 * 2 * (1 << 15) / 32);
  // Stage 24 does 10 steps of large distances in a pass of 16 columns: twice as many.
  EXPECT_EQ(transactions(24), (21 + 1) * 2 * (1 << 24) / 32);
}

}  // namespace
}  // namespace sortie::test
