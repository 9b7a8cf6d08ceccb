// SPDX-License-Identifier: Apache-2.0

// The memory plan: what it says to hold at a time stays within the budget.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "multisort/host/in_place_sort.hpp"
#include "multisort/plan/memory.hpp"
#include "primitives/payload.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

namespace plan = multisort::plan;

constexpr std::uint64_t kibibyte = 1024;
constexpr std::uint64_t gibibyte = kibibyte * kibibyte * kibibyte;

TEST(MemoryPlan, StaysWithinTheBudget) {
  for (const std::uint64_t budget : {64 * kibibyte, 65 * kibibyte + 1, 1000 * kibibyte,
                                     40'000 * kibibyte, gibibyte, 1000 * gibibyte}) {
    for (const std::uint64_t threads : {1, 2, 3, 16, 300}) {
      for (std::uint64_t bytes = 1; bytes <= 16; ++bytes) {
        for (const auto scratch : {plan::SortScratch::copy, plan::SortScratch::small}) {
          SCOPED_TRACE(testing::Message() << budget << " bytes, " << threads << " threads, "
                                          << bytes << " bytes an item");
          const plan::MemoryPlan memory = plan::plan_memory({bytes, budget, threads, scratch});
          EXPECT_GE(memory.workers, 1u);
          EXPECT_LE(memory.workers, threads);
          EXPECT_GE(memory.block_items, 1u);
          const std::uint64_t blocks =
              plan::blocks_per_worker * memory.workers * memory.block_items * bytes;
          EXPECT_LE(blocks, budget / 4);
          EXPECT_GT(memory.chunk_items, 0u);

          // A sort beside its items: a copy, or what the sort in place takes.
          const auto expect_sort = [&](std::uint64_t sorted, std::uint64_t held) {
            EXPECT_LE(held * bytes, memory.item_memory);
            const std::uint64_t left = memory.scratch_for(held, bytes);
            EXPECT_LE(blocks + held * bytes + left, budget);
            const std::uint64_t small =
                threads * plan::in_place_thread_bytes + sorted / plan::in_place_items_per_byte;
            EXPECT_GE(left, scratch == plan::SortScratch::copy ? sorted * bytes
                                                               : std::min(sorted * bytes, small));
          };
          expect_sort(memory.chunk_items, 2 * memory.chunk_items);
          expect_sort(memory.memory_items, memory.memory_items);

          // Two slots for each run, beside a chunk that stays in memory or in its place.
          for (const std::uint64_t items : {memory.chunk_items, 2 * memory.chunk_items}) {
            const std::uint64_t runs = memory.runs_merged(items);
            EXPECT_GE(runs, 2u);
            EXPECT_GE(items / (2 * runs), items == memory.chunk_items ? 0u : 1u);
          }
        }
      }
    }
  }
}

template <class Key, class Value>
void expect_in_place_bounds() {
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{1} << 20, std::uint64_t{1} << 34}) {
    for (const std::size_t devices : {1, 2, 64}) {
      EXPECT_LE((multisort::InPlaceSort<Key, Value>::work_space(n, devices)),
                devices * plan::in_place_thread_bytes + n / plan::in_place_items_per_byte)
          << n << " items, " << devices << " devices, " << sizeof(Key) << " bytes a key";
    }
  }
}

TEST(MemoryPlan, BoundsTheWorkSpaceOfTheSortInPlace) {
  const auto of_key = []<class Key>(Key) {
    expect_in_place_bounds<Key, NoValue>();
    expect_in_place_bounds<Key, Opaque<std::uint32_t>>();
    expect_in_place_bounds<Key, Opaque<std::uint64_t>>();
  };
  of_key(std::uint8_t{});
  of_key(std::uint16_t{});
  of_key(std::uint32_t{});
  of_key(std::uint64_t{});
}

TEST(MemoryPlan, InPlaceNearlyAllMemoryHoldsItems) {
  const plan::MemoryPlan memory = plan::plan_memory({8, gibibyte, 2, plan::SortScratch::small});
  EXPECT_GT(memory.memory_items, gibibyte / 8 / 10 * 9);
  EXPECT_EQ(memory.chunk_items, memory.memory_items / 2);
}

TEST(MemoryPlan, AFileOfThreeTimesTheBudgetIsMergedOnce) {
  const plan::MemoryPlan memory = plan::plan_memory({4, gibibyte, 16, plan::SortScratch::copy});
  const std::uint64_t runs = memory.runs(3 * gibibyte / 4);
  EXPECT_EQ(runs, 10u);
  EXPECT_LE(runs, memory.runs_merged(memory.chunk_items));
}

TEST(MemoryPlan, CountsRuns) {
  plan::MemoryPlan memory;
  memory.chunk_items = 10;
  EXPECT_EQ(memory.runs(0), 0u);
  EXPECT_EQ(memory.runs(1), 1u);
  EXPECT_EQ(memory.runs(10), 1u);
  EXPECT_EQ(memory.runs(11), 2u);
}

TEST(MemoryPlan, ABudgetThatHoldsNothingIsRefused) {
  expect_error([] { static_cast<void>(plan::plan_memory({.item_bytes = 4, .budget = 1000})); },
               ErrorKind::out_of_memory, testing::HasSubstr("sort beyond memory needs 64.00 KiB"));
}

}  // namespace
}  // namespace sortie::test
