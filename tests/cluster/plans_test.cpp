// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/sort/ranks/bucket_sort.hpp"
#include "apps/sort/ranks/file_sort.hpp"
#include "apps/spgemm/ranks/product_steps.hpp"
#include "apps/suffix_array/ranks/build_plan.hpp"
#include "matrices/generators.hpp"
#include "sortie/cluster_sort.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/run_report.hpp"
#include "tests/suffix_array/texts.hpp"

namespace sortie::cluster {
namespace {

const RankStep& step_of(const RankPlan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.steps, name, &RankStep::name);
  if (found == plan.steps.end()) throw std::out_of_range("no step " + name);
  return *found;
}

std::uint64_t figure_of(const RunReport& report, const std::string& name) {
  for (const auto& [key, value] : report.figures()) {
    if (key != name) continue;
    if (const auto* const number = std::get_if<std::uint64_t>(&value)) return *number;
    return static_cast<std::uint64_t>(std::get<std::int64_t>(value));
  }
  throw std::out_of_range("no figure " + name);
}

TEST(RankPlans, OneRankSendsNothing) {
  const auto matrix = matrices::stencil<double>(5, 10, 10, 1);
  const sorting::RecordFormat format{KeyType::u64, {}};
  for (const RankPlan& plan :
       {sorting::plan_sort(1000, format, 1, 1), spgemm::plan_product(matrix, matrix, 1, 1),
        suffix_array::plan_build(1000, 1, 1)}) {
    EXPECT_EQ(plan.sent_bytes(), 0u);
    EXPECT_GT(plan.rank_memory, 0u);
    EXPECT_EQ(plan.ranks, 1);
  }
}

TEST(RankPlans, ASortSendsAllButItsPart) {
  const sorting::RecordFormat format{KeyType::u64, KeyType::u32};
  const RankPlan plan = sorting::plan_sort(8'000'000, format, 8, 4);
  const RankStep& exchange = step_of(plan, "exchange");
  EXPECT_EQ(exchange.machine_bytes + exchange.network_bytes, 12'000'000u / 8 * 7);
  EXPECT_NEAR(static_cast<double>(exchange.machine_bytes),
              static_cast<double>(exchange.network_bytes) * 3 / 4, 2);
  EXPECT_GE(plan.rank_memory, 2 * 12'000'000u);
  EXPECT_EQ(step_of(plan, "merge").items, 3e6);
}

/// Keys in random order: the run sends what the plan says.
void expect_sort_as_planned(std::uint64_t share, int size) {
  const RankPlan plan =
      sorting::plan_sort(static_cast<std::uint64_t>(size) * share, {KeyType::u64, {}}, size, size);
  run_in_process(size, true, [&](Ranks& ranks) {
    std::vector<std::uint64_t> keys(share);
    for (std::uint64_t i = 0; i < share; ++i)
      keys[i] = (i + 1 + share * static_cast<std::uint64_t>(ranks.rank())) * 0x9e3779b97f4a7c15;
    Context context;
    context.backend = Backend::host;
    RunReport report;
    context.report = &report;
    const std::uint64_t before = ranks.traffic().collectives;
    sort(ranks, context, keys);
    // Exchanges of counts and of keys, of which the plan counts the messages.
    std::uint64_t calls = 0;
    for (const RankStep& step : plan.steps)
      calls += step.collectives + step.messages / static_cast<std::uint64_t>(size - 1);
    // A round of the splits more or less takes 3 calls; of small buckets two fewer may do.
    EXPECT_NEAR(static_cast<double>(ranks.traffic().collectives - before),
                static_cast<double>(calls), 6);
    const auto most = static_cast<double>(figure_of(report, "most_exchange_bytes"));
    EXPECT_NEAR(most / static_cast<double>(plan.sent_bytes()), 1, 0.02);
  });
}

TEST(RankPlans, ASortOfRandomKeysSendsWhatIsPlanned) {
  expect_sort_as_planned(20'000, 5);
  expect_sort_as_planned(sorting::fewest_bucket_keys, 2);
}

/// The product of a plan, and of ranks: the rows of B that move.
TEST(RankPlans, AProductFetchesWhatIsPlanned) {
  const auto matrix = matrices::rmat<double>(10, 8, 1);
  for (const int size : {2, 5}) {
    const RankPlan plan = spgemm::plan_product(matrix, matrix, size, size);
    run_in_process(size, true, [&](Ranks& ranks) {
      // Rank 0 has all rows; the balance moves them.
      auto rows = ranks.rank() == 0 ? matrix : matrices::Csr<double>{};
      rows.cols = matrix.cols;
      const auto all = divided(ranks, std::move(rows));
      Context context;
      context.backend = Backend::host;
      RunReport report;
      const auto a = balance(ranks, context, all);
      context.report = &report;
      static_cast<void>(multiply(ranks, context, a, a));
      const RankStep& fetch = step_of(plan, "fetch rows");
      const RankStep& find = step_of(plan, "find rows");
      const auto counted = static_cast<double>(figure_of(report, "most_exchange_bytes"));
      EXPECT_NEAR(static_cast<double>(fetch.machine_bytes + find.machine_bytes) / counted, 1, 0.25);
    });
  }
}

TEST(RankPlans, ATextIsHeldOnceAndItsShareIsSorted) {
  const RankPlan plan = suffix_array::plan_build(8'000'000, 4, 4);
  // Positions and 1/32 more, a bit, and an element of each suffix.
  EXPECT_EQ(plan.rank_memory, 3'000'000u + 4u * 2'062'500u + 250'000u + 8u * 2'000'000u);
  EXPECT_EQ(step_of(plan, "sort").items, 2'000'000);
  // With less memory for elements, more scans.
  const RankPlan little = suffix_array::plan_build(8'000'000, 4, 4, 14'000'000);
  EXPECT_EQ(little.rank_memory, 14'000'000u);
  EXPECT_GT(step_of(little, "scan").items, 2 * step_of(plan, "scan").items);
  EXPECT_EQ(suffix_array::plan_build(8'000'000, 4, 4, 1).rank_memory, 12'500'000u);
  // The text that rank 0 has read, packed in blocks, takes more than a small share.
  EXPECT_EQ(suffix_array::plan_build(8'000'000, 64, 4).rank_memory, 6'000'000u);
}

TEST(RankPlans, RepeatsOfATextAreEstimatedAndPlanned) {
  const std::string once = test::random_letters(300'000, 4, 'A', 1);
  const auto part = [](const std::string& letters) {
    return suffix_array::part_in_repeats(
        {reinterpret_cast<const std::uint8_t*>(letters.data()), letters.size()});
  };
  EXPECT_EQ(part(""), 0);
  EXPECT_EQ(part(once), 0);
  EXPECT_EQ(part(std::string(100'000, 'N')), 0);
  EXPECT_EQ(part(test::repeated(once.substr(0, 181), 1000)), 1);
  EXPECT_NEAR(part(once + once), 1, 0.001);
  EXPECT_NEAR(part(once + once.substr(0, 50'000)), 100'000. / 350'000, 0.02);

  const RankPlan plan = suffix_array::plan_build(8'000'000, 4, 4, 0, 0.05);
  EXPECT_EQ(step_of(plan, "repeats").items, 9 * 0.05 * 2'000'000);
  EXPECT_GT(step_of(plan, "repeats").machine_bytes, 8'000'000u / 8 * 3 / 4);
  EXPECT_EQ(plan.rank_memory, suffix_array::plan_build(8'000'000, 4, 4).rank_memory);
  EXPECT_GT(suffix_array::plan_build(8'000'000, 16, 4, 0, 0.05).rank_memory,
            suffix_array::plan_build(8'000'000, 16, 4).rank_memory);
}

}  // namespace
}  // namespace sortie::cluster
