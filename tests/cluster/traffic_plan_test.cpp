// SPDX-License-Identifier: Apache-2.0
#include "cluster/traffic_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::cluster {
namespace {

std::uint64_t number(int rank) {
  return static_cast<std::uint64_t>(rank);
}

TEST(TrafficPlan, ReportsSumsAndTheRankThatSendsTheMost) {
  test::on_few_ranks([](Ranks& ranks) {
    const std::uint64_t p = number(ranks.size());
    TrafficPlan plan(ranks);
    const std::vector<std::uint32_t> mine(number(ranks.rank()));
    plan.add_gathering(mine.size(), sizeof(std::uint32_t));
    static_cast<void>(ranks.gather_arrays(std::span<const std::uint32_t>(mine)));
    plan.add_counts();
    static_cast<void>(ranks.exchange_counts(std::vector<std::uint64_t>(p)));
    RunReport report;
    HostContext context;
    context.report = &report;
    plan.finish(context);
    const auto figure = [&](std::string_view key) {
      for (const auto& [name, value] : report.figures())
        if (name == key) return std::get<std::uint64_t>(value);
      return ~std::uint64_t{0};
    };
    const std::uint64_t sum = (p - 1) * (4 * p * (p - 1) / 2 + 8 * p);
    EXPECT_EQ(figure("ranks"), p);
    EXPECT_EQ(figure("planned_exchange_bytes"), sum);
    EXPECT_EQ(figure("exchanged_bytes"), sum);
    EXPECT_EQ(figure("most_exchange_bytes"), (p - 1) * (4 * (p - 1) + 8));
  });
}

TEST(TrafficPlan, OtherBytesThanPlannedAreAnErrorOfAll) {
  test::on_few_ranks([](Ranks& ranks) {
    TrafficPlan plan(ranks);
    if (ranks.rank() == ranks.size() / 2) plan.add(3, 5);
    try {
      plan.finish({});
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::check);
      EXPECT_THAT(
          error.what(),
          testing::AllOf(testing::StartsWith("rank " + std::to_string(ranks.size() / 2) + ": "),
                         testing::HasSubstr("found 0 sent, expected 15 by plan")));
    }
  });
}

TEST(TrafficPlan, ImbalanceIsTheLargestShareOverTheMean) {
  test::on_few_ranks([](Ranks& ranks) {
    EXPECT_EQ(imbalance_of(ranks, 0), 1);
    EXPECT_EQ(imbalance_of(ranks, 7), 1);
    EXPECT_EQ(imbalance_of(ranks, ranks.rank() == 0 ? 9 : 0), ranks.size());
  });
}

}  // namespace
}  // namespace sortie::cluster
