// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "apps/suffix_array/cuda/ranges/ranges.hpp"
#include "apps/suffix_array/ranks/build_plan.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Covers : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Orders, Covers, testing::Range(0U, DifferenceCover::most_order + 1));

TEST_P(Covers, HaveEveryDifference) {
  const DifferenceCover cover(GetParam());
  const std::uint32_t period = cover.period();
  EXPECT_EQ(period, DifferenceCover::period(GetParam()));
  EXPECT_EQ(cover.elements.size(), DifferenceCover::residues(GetParam()));
  std::vector<bool> is_element(period);
  std::uint32_t smaller = 0;
  for (const std::uint16_t element : cover.elements) {
    ASSERT_LT(element, period);
    ASSERT_FALSE(is_element[element]);
    is_element[element] = true;
    EXPECT_EQ(cover.places[element], smaller++);
  }
  EXPECT_EQ(cover.elements.front(), 0);
  for (std::uint32_t difference = 0; difference < period; ++difference) {
    const std::uint32_t start = cover.starts[difference];
    EXPECT_TRUE(is_element[start]) << difference;
    EXPECT_TRUE(is_element[(start + difference) % period]) << difference;
  }
}

TEST_P(Covers, CountTheirPositions) {
  const DifferenceCover cover(GetParam());
  std::uint64_t count = 0;
  std::vector<bool> is_element(cover.period());
  for (const std::uint16_t element : cover.elements) is_element[element] = true;
  for (std::uint64_t position = 0; position < 3 * std::uint64_t{cover.period()}; ++position) {
    ASSERT_EQ(cover.positions_below(position), count) << position;
    if (is_element[position % cover.period()]) ++count;
    ASSERT_LE(count, DifferenceCover::most_positions(GetParam(), position + 1));
  }
}

template <class Index>
class RangePlans : public testing::Test {};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(RangePlans, Widths);

TYPED_TEST(RangePlans, KeepWithinTheBudget) {
  for (const std::uint64_t symbols :
       {std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{70000000}, std::uint64_t{4000000000},
        std::uint64_t{1} << 40}) {
    for (const int bits : {1, 3, 9}) {
      for (const std::uint64_t separators : {std::uint64_t{0}, symbols / 100}) {
        const TextShape shape{symbols, separators, bits};
        const std::uint64_t least = least_bytes<TypeParam>(shape);
        for (const std::uint64_t budget : {least, least + symbols, least + 9 * symbols}) {
          const RangePlan plan = plan_ranges<TypeParam>(shape, budget);
          EXPECT_LE(bytes_in_ranges<TypeParam>(shape, plan), budget);
          EXPECT_GE(plan.members, (symbols + most_ranges_wanted - 1) / most_ranges_wanted);
          EXPECT_LE(plan.members, symbols);
        }
        test::expect_error([&] { (void)plan_ranges<TypeParam>(shape, least - 1); },
                           ErrorKind::out_of_memory, HasSubstr(std::to_string(least)));
      }
    }
  }
}

TEST(RangePlan, TakesWhatIsStated) {
  // Of 1000 million symbols, in tenths of a byte: what docs/how-it-works.md says.
  constexpr std::uint64_t symbols = 1000000000;
  EXPECT_EQ(least_bytes<std::uint32_t>({symbols, 0, 3}) / (symbols / 10), 13U);
  EXPECT_EQ(least_bytes<std::uint32_t>({symbols, 0, 9}) / (symbols / 10), 21U);
}

TEST(RangePlan, TakesMoreMemoryForLargerRanges) {
  const TextShape shape{70000000, 0, 3};
  std::uint64_t members = 0;
  for (std::uint64_t bytes = 2; bytes <= 20; bytes += 2) {
    const RangePlan plan = plan_ranges<std::uint32_t>(shape, bytes * shape.symbols);
    EXPECT_GT(plan.members, members);
    members = plan.members;
  }
}

TEST(DevicePlan, SendsThePackedTextAndTheCoverToAll) {
  constexpr std::uint64_t symbols = 3'100'000'000;
  for (const int ranks : {1, 2, 4, 8}) {
    const auto others = static_cast<std::uint64_t>(ranks) - 1;
    const cluster::RankPlan plan = plan_device_build(symbols, ranks, ranks);
    const std::uint64_t all =
        8 * (3 * (symbols / 64 + 1) + 2) + 4 * DifferenceCover(2).positions_below(symbols);
    EXPECT_NEAR(static_cast<double>(plan.sent_bytes()),
                static_cast<double>(all) * static_cast<double>(others) / ranks, 16 * ranks);
    EXPECT_LE(plan.rank_memory, std::uint64_t{74} << 30);
    EXPECT_LT(cluster::seconds_of(cluster::RankModel::usual_of_gpus(), plan), 2.5 / ranks + 0.2);
  }
}

TEST(DevicePlan, TakesTheMemoryThatIsThere) {
  constexpr std::uint64_t symbols = 12'000'000'000;
  const std::uint64_t least = least_bytes<std::uint64_t>({symbols, 0, 3, 8});
  EXPECT_EQ(plan_device_build(symbols, 4, 4, 1).rank_memory, least);
  EXPECT_LE(plan_device_build(symbols, 4, 4, least).rank_memory, least);
  const cluster::RankPlan plan = plan_device_build(symbols, 4, 4);
  EXPECT_LE(plan.rank_memory, std::uint64_t{74} << 30);
  EXPECT_LT(cluster::seconds_of(cluster::RankModel::usual_of_gpus(), plan),
            cluster::seconds_of(cluster::RankModel::usual_of_gpus(),
                                plan_device_build(symbols, 4, 4, least)));
}

/// Where the ranges end that are joined of parts of the given sizes: the part i is from i to i + 1.
std::vector<std::uint64_t> ends_of_joined(const std::vector<std::uint64_t>& members,
                                          std::uint64_t most) {
  std::vector<SuffixRange> parts;
  for (std::uint64_t i = 0; i < members.size(); ++i) {
    parts.push_back({i, i + 1, i, i + 1, i == 0, i + 1 == members.size(), members[i]});
  }
  std::vector<std::uint64_t> ends;
  for (const SuffixRange& range : join_ranges(parts, most)) {
    const std::uint64_t begin = ends.empty() ? 0 : ends.back();
    ends.push_back(range.end);
    EXPECT_EQ(range.begin, begin);
    EXPECT_EQ(range.begin_window, begin);
    EXPECT_EQ(range.end_window, range.end);
    EXPECT_EQ(range.first, begin == 0);
    EXPECT_EQ(range.last, range.end == members.size());
    EXPECT_EQ(range.members, std::accumulate(members.data() + begin, members.data() + range.end,
                                             std::uint64_t{0}));
  }
  return ends;
}

TEST(JoinedRanges, FillUp) {
  EXPECT_THAT(ends_of_joined({3, 4, 5}, 100), ElementsAre(3));
  EXPECT_THAT(ends_of_joined({3, 4, 5}, 7), ElementsAre(2, 3));
  EXPECT_THAT(ends_of_joined({5, 5, 5, 0}, 5), ElementsAre(1, 2, 4));
  EXPECT_THAT(ends_of_joined({0, 0, 9}, 9), ElementsAre(3));
  EXPECT_THAT(ends_of_joined({0, 10, 1}, 9), IsEmpty());
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
