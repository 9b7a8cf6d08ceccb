// SPDX-License-Identifier: Apache-2.0

// The memory plan: what it says to hold at a time stays within the budget.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "multisort/plan/memory.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

namespace plan = multisort::plan;

constexpr std::uint64_t kibibyte = 1024;
constexpr std::uint64_t gibibyte = kibibyte * kibibyte * kibibyte;

TEST(MemoryPlan, StaysWithinTheBudget) {
  for (const std::uint64_t budget :
       {64 * kibibyte, 65 * kibibyte + 1, 1000 * kibibyte, gibibyte, 1000 * gibibyte}) {
    for (std::uint64_t item_bytes = 1; item_bytes <= 16; ++item_bytes) {
      const plan::MemoryPlan memory = plan::plan_memory(item_bytes, budget);
      EXPECT_GT(memory.chunk_items, 0u);
      EXPECT_LE(2 * memory.chunk_items * item_bytes + plan::transfer_buffer_bytes(budget), budget);
      EXPECT_GE(memory.runs_merged, 2u);
      EXPECT_GT(memory.block_items, 0u);
      EXPECT_LE((memory.runs_merged * memory.block_items + memory.output_items) * item_bytes +
                    plan::transfer_buffer_bytes(budget),
                budget);
    }
  }
}

TEST(MemoryPlan, AFileOfThreeTimesTheBudgetIsMergedOnce) {
  const plan::MemoryPlan memory = plan::plan_memory(4, gibibyte);
  const std::uint64_t runs = memory.runs(3 * gibibyte / 4);
  EXPECT_EQ(runs, 7u);
  EXPECT_LE(runs, memory.runs_merged);
}

TEST(MemoryPlan, CountsRuns) {
  const plan::MemoryPlan memory{10, 3, 1, 1};
  EXPECT_EQ(memory.runs(0), 0u);
  EXPECT_EQ(memory.runs(1), 1u);
  EXPECT_EQ(memory.runs(10), 1u);
  EXPECT_EQ(memory.runs(11), 2u);
}

TEST(MemoryPlan, ABudgetThatHoldsNothingIsRefused) {
  expect_error([] { static_cast<void>(plan::plan_memory(4, 1000)); }, ErrorKind::out_of_memory,
               testing::HasSubstr("sort beyond memory needs 64.00 KiB"));
}

}  // namespace
}  // namespace sortie::test
