// SPDX-License-Identifier: Apache-2.0
#include "cluster/cost_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sortie/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::cluster {
namespace {

RankModel model_of_round_numbers() {
  return {4, 1e-3, 1e9, 1e8, {{"sort", 1e6}}};
}

TEST(CostModel, AStepIsLatencyBytesAndWork) {
  const RankModel model = model_of_round_numbers();
  RankStep step{"s", 2, 0, 0, 3, "", 0};
  EXPECT_NEAR(seconds_of(model, 1, step), 3e-3, 1e-12);  // no rounds with one rank
  EXPECT_NEAR(seconds_of(model, 8, step), (2 * 3 + 3) * 1e-3, 1e-12);
  EXPECT_NEAR(seconds_of(model, 9, step), (2 * 4 + 3) * 1e-3, 1e-12);
  step = {"s", 0, 500'000'000, 10'000'000, 0, "sort", 2e6};
  EXPECT_NEAR(seconds_of(model, 2, step), 0.5 + 2, 1e-9);
  step.network_bytes = 100'000'000;
  EXPECT_NEAR(seconds_of(model, 2, step), 1 + 2, 1e-9);
}

TEST(CostModel, TheStepsOfAPlanAreAdded) {
  const RankPlan plan{4, {{"a", 0, 100, 20, 0, "", 0}, {"b", 0, 0, 3, 0, "sort", 1e6}}, 1 << 20};
  EXPECT_EQ(plan.sent_bytes(), 123u);
  EXPECT_NEAR(seconds_of(model_of_round_numbers(), plan), 1, 1e-3);
  const std::string table = describe(model_of_round_numbers(), plan);
  EXPECT_THAT(table, testing::HasSubstr("memory of a rank: 1.00 MiB"));
  EXPECT_THAT(table, testing::HasSubstr("123 B"));
}

TEST(CostModel, BytesAreDividedByWhereTheOtherRanksAre) {
  RankStep step;
  divide_bytes(700, 8, 4, step);
  EXPECT_EQ(step.machine_bytes, 300u);
  EXPECT_EQ(step.network_bytes, 400u);
  divide_bytes(700, 3, 4, step);
  EXPECT_EQ(step.machine_bytes, 700u);
  EXPECT_EQ(step.network_bytes, 0u);
  RankStep alone;
  divide_bytes(700, 1, 4, alone);
  EXPECT_EQ(alone.machine_bytes + alone.network_bytes, 0u);
}

TEST(CostModel, AFileIsReadBack) {
  const test::TemporaryFolder folder;
  const RankModel model = model_of_round_numbers();
  const RankModel read = RankModel::read(folder.write("model.json", model.to_json()));
  EXPECT_EQ(read.to_json(), model.to_json());
}

TEST(CostModel, WhatAFileLacksIsNamed) {
  const test::TemporaryFolder folder;
  const auto error_of = [&](const std::string& content) -> std::string {
    try {
      static_cast<void>(RankModel::read(folder.write("m", content)));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of("nothing"), testing::HasSubstr("found no JSON object, expected"));
  EXPECT_THAT(error_of("{}"), testing::HasSubstr("found no \"ranks_on_machine\", expected"));
  EXPECT_THAT(error_of(R"({"ranks_on_machine": 1, "latency_seconds": -1})"),
              testing::HasSubstr("found -1 in \"latency_seconds\""));
  EXPECT_THAT(error_of(R"({"ranks_on_machine": 1, "latency_seconds": 1,
      "machine_bytes_per_second": 1, "network_bytes_per_second": 1, "items_per_second": 7})"),
              testing::HasSubstr("an object of rates"));
  EXPECT_THROW(static_cast<void>(RankModel::read(folder.path("absent"))), Error);
  RankStep step;
  step.work = "unknown";
  EXPECT_THROW(static_cast<void>(seconds_of(model_of_round_numbers(), 1, step)), Error);
}

}  // namespace
}  // namespace sortie::cluster
