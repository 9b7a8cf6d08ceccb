// SPDX-License-Identifier: Apache-2.0
#include "cluster/rank_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "core/host_memory.hpp"
#include "sortie/error.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::cluster {
namespace {

HostContext with_budget(std::uint64_t bytes) {
  HostContext context;
  context.memory_budget = bytes;
  return context;
}

TEST(RankMemory, TheBudgetIsTheLimitOfAllThatIsHeld) {
  test::on_few_ranks([](Ranks& ranks) {
    RankMemory memory(ranks, with_budget(1000));
    memory.take("keys", {400});
    EXPECT_EQ(memory.left(), 600u);
    memory.require("values", {600});
    EXPECT_THAT(
        test::error_of([&] { memory.take("values", {601}); }),
        testing::AllOf(testing::HasSubstr("values needs"), testing::HasSubstr("(601 bytes)"),
                       testing::HasSubstr("(600 bytes) are free")));
    EXPECT_EQ(memory.left(), 600u);
    memory.release(400);
    EXPECT_EQ(memory.left(), 1000u);
  });
}

TEST(RankMemory, ARefusalNamesTheLeastNumberOfRanks) {
  test::on_few_ranks([](Ranks& ranks) {
    const RankMemory memory(ranks, with_budget(1000));
    // 100 bytes on each rank, and a part of 18001.
    EXPECT_THAT(test::error_of([&] {
                  memory.require("text", {5000, 18'001, 100});
                }),
                testing::HasSubstr("at least 21 ranks are enough"));
    EXPECT_THAT(test::error_of([&] {
                  memory.require("text", {5000, 18'001, 1000});
                }),
                testing::HasSubstr("more ranks do not need less each"));
    // A rank that has more than the others: the present number of ranks is not enough.
    EXPECT_THAT(test::error_of([&] {
                  memory.require("text", {5000, 1, 0});
                }),
                testing::HasSubstr("at least " + std::to_string(ranks.size() + 1) + " ranks"));
  });
}

TEST(RankMemory, WithoutABudgetRanksShareTheFreeMemoryOfTheirMachine) {
  test::on_few_ranks([](Ranks& ranks) {
    const RankMemory memory(ranks, HostContext{});
    const auto on_machine = static_cast<std::uint64_t>(ranks.ranks_on_machine());
    const std::uint64_t free = host_memory_available() / on_machine;
    EXPECT_GT(memory.left(), free / 2);  // other processes may take or free some
    EXPECT_LT(memory.left(), free * 2);
  });
}

TEST(RankMemory, RowsForOthersCountAgainstTheFreeMemoryOnly) {
  test::on_few_ranks([](Ranks& ranks) {
    const RankMemory memory(ranks, with_budget(10));
    memory.require_for_others("rows", 1000);
    EXPECT_THAT(test::error_of([&] { memory.require_for_others("rows", std::uint64_t{1} << 60); }),
                testing::HasSubstr("rows needs"));
  });
}

TEST(RankMemory, AFaultOfMeasuringIsThrownByAll) {
  test::on_few_ranks([](Ranks& ranks) {
    for (const int failing : {0, ranks.size() / 2, ranks.size() - 1}) {
      const test::Fault fault(ranks, failing, "measure memory");
      std::string message;
      try {
        const RankMemory memory(ranks, HostContext{});
      } catch (const Error& error) {
        message = error.what();
      }
      EXPECT_EQ(message, "rank " + std::to_string(failing) + ": injected");
    }
  });
}

}  // namespace
}  // namespace sortie::cluster
