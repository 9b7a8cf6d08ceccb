// SPDX-License-Identifier: Apache-2.0

// The device primitives on the host, beside their definitions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/merge_path.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie {
namespace {

/// One number per lane.
template <class Number>
using Lanes = std::array<Number, 32>;

template <class Number>
Lanes<Number> random_lanes(std::uint64_t seed, std::uint64_t below) {
  std::mt19937_64 random(seed);
  Lanes<Number> numbers;
  for (Number& number : numbers) number = static_cast<Number>(random() % below);
  return numbers;
}

/// The results of function(lane) on the lanes of one warp.
template <class Function>
auto in_warp(const Function& function) {
  Lanes<decltype(function(0))> results{};
  cuda_on_host::run_block(32, [&] { results[threadIdx.x] = function(static_cast<int>(lane())); });
  return results;
}

template <class T>
class WarpOfNumbers : public ::testing::Test {};
using Numbers = ::testing::Types<std::uint32_t, std::int32_t, std::uint64_t, double>;
TYPED_TEST_SUITE(WarpOfNumbers, Numbers);

TYPED_TEST(WarpOfNumbers, ReadsTheValueOfAnotherLane) {
  const auto values = random_lanes<TypeParam>(1, 1'000'000);
  const auto rotated = in_warp([&](int i) { return from_lane(values[i], (i + 5) % 32); });
  const auto in_groups = in_warp([&](int i) { return from_lane(values[i], 3, 8); });
  const auto above = in_warp([&](int i) { return from_lane_above(values[i], 7); });
  const auto across = in_warp([&](int i) { return from_lane_across(values[i], 12); });
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(rotated[i], values[(i + 5) % 32]) << "lane " << i;
    EXPECT_EQ(in_groups[i], values[i / 8 * 8 + 3]) << "lane " << i;
    EXPECT_EQ(above[i], values[i + 7 < 32 ? i + 7 : i]) << "lane " << i;
    EXPECT_EQ(across[i], values[i ^ 12]) << "lane " << i;
  }
}

template <int Width, class Number>
void expect_sums_of_groups(const Lanes<Number>& values) {
  const auto up_to = in_warp([&](int i) { return inclusive_sum_in_warp<Width>(values[i]); });
  const auto total = in_warp([&](int i) { return sum_in_warp<Width>(values[i]); });
  for (int i = 0; i < 32; ++i) {
    const auto* const group = values.data() + i / Width * Width;
    EXPECT_EQ(up_to[i], std::accumulate(group, values.data() + i + 1, Number{}))
        << "lane " << i << " of groups of " << Width;
    EXPECT_EQ(total[i], std::accumulate(group, group + Width, Number{}))
        << "lane " << i << " of groups of " << Width;
  }
}

TYPED_TEST(WarpOfNumbers, SumsGroupsOfEverySize) {
  const auto values = random_lanes<TypeParam>(2, 1000);
  expect_sums_of_groups<1>(values);
  expect_sums_of_groups<2>(values);
  expect_sums_of_groups<4>(values);
  expect_sums_of_groups<8>(values);
  expect_sums_of_groups<16>(values);
  expect_sums_of_groups<32>(values);
}

TYPED_TEST(WarpOfNumbers, FindsLeastAndGreatest) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto values = random_lanes<TypeParam>(seed, 1'000'000'000);
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    EXPECT_THAT(in_warp([&](int i) { return min_in_warp(values[i]); }), ::testing::Each(*least));
    EXPECT_THAT(in_warp([&](int i) { return max_in_warp(values[i]); }), ::testing::Each(*greatest));
  }
}

TEST(Warp, CombinesWithAnyOperation) {
  const auto values = random_lanes<std::uint32_t>(3, std::uint64_t{1} << 32);
  const auto all = std::accumulate(values.begin(), values.end(), 0U, std::bit_or<>());
  EXPECT_THAT(in_warp([&](int i) { return or_in_warp(values[i]); }), ::testing::Each(all));
  const auto parity =
      in_warp([&](int i) { return reduce_in_warp<4>(values[i], std::bit_xor<>()); });
  for (int i = 0; i < 32; ++i) {
    const auto* const group = values.data() + i / 4 * 4;
    EXPECT_EQ(parity[i], group[0] ^ group[1] ^ group[2] ^ group[3]) << "lane " << i;
  }
}

TEST(Warp, MovesComplexNumbers) {
  const auto value_of = [](int i) { return std::complex<double>(i, -2 * i); };
  const auto from = in_warp([&](int i) { return from_lane(value_of(i), 31 - i); });
  const auto above = in_warp([&](int i) { return from_lane_above(value_of(i), 1); });
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(from[i], value_of(31 - i));
    EXPECT_EQ(above[i], value_of(std::min(i + 1, 31)));
  }
}

TEST(Warp, RanksLanesOfMasks) {
  for (const unsigned int mask : {0x1U, 0x80000000U, 0xffffffffU, 0x0f0f0f0fU, 0x12345678U}) {
    const auto ranks = in_warp([&](int) { return rank_among(mask); });
    std::uint32_t before = 0;
    for (int i = 0; i < 32; ++i) {
      EXPECT_EQ(ranks[i], before) << "lane " << i << " of mask " << mask;
      before += mask >> i & 1;
    }
    EXPECT_EQ(lanes_of(mask), before);
    EXPECT_EQ(first_lane(mask), std::countr_zero(mask));
  }
}

TEST(Warp, TakesPlacesInLists) {
  constexpr int lists = 3;
  std::array<std::uint32_t, lists> counters{100, 200, 300};
  auto expected = counters;
  std::mt19937_64 random(4);
  for (int round = 0; round < 20; ++round) {
    Lanes<int> wanted;
    for (int& list : wanted) list = static_cast<int>(random() % (lists + 1)) - 1;
    const auto places = in_warp([&](int i) { return take_places(counters.data(), wanted[i]); });
    for (int i = 0; i < 32; ++i)
      if (wanted[i] >= 0) {
        EXPECT_EQ(places[i], expected[wanted[i]]++) << "lane " << i;
      }
    EXPECT_EQ(counters, expected);
  }
}

/// Ranks rows of a warp's items, some of which are missing, beside a count in order.
template <bool HeavyHitters>
void expect_stable_ranks(std::uint64_t buckets_drawn) {
  constexpr std::uint32_t buckets = 40;
  std::array<std::uint32_t, buckets> masks{};
  std::array<std::uint16_t, buckets> counts{};
  std::array<std::uint16_t, buckets> expected{};
  for (std::uint64_t row = 0; row < 6; ++row) {
    const auto bucket = random_lanes<std::uint32_t>(row, buckets_drawn);
    const auto present = random_lanes<std::uint32_t>(row + 100, row == 5 ? 2 : 10);
    const auto ranks = in_warp([&](int i) {
      return stable_rank_in_warp<HeavyHitters>(masks.data(), counts.data(), bucket[i],
                                               present[i] != 0);
    });
    for (int i = 0; i < 32; ++i)
      if (present[i] != 0) {
        EXPECT_EQ(ranks[i], expected[bucket[i]]++) << "row " << row;
      }
    EXPECT_EQ(counts, expected);
    EXPECT_THAT(masks, ::testing::Each(0U));
  }
}

TEST(Warp, RanksItemsOfBucketsStably) {
  for (const std::uint64_t buckets : {1, 2, 7, 40}) {
    expect_stable_ranks<false>(buckets);
    expect_stable_ranks<true>(buckets);
  }
}

template <class T>
class BlockOfWarps : public ::testing::Test {};
using WarpCounts = ::testing::Types<std::integral_constant<int, 1>, std::integral_constant<int, 2>,
                                    std::integral_constant<int, 5>, std::integral_constant<int, 8>>;
TYPED_TEST_SUITE(BlockOfWarps, WarpCounts);

TYPED_TEST(BlockOfWarps, SumsTheThreadsBefore) {
  constexpr int warps = TypeParam::value;
  constexpr unsigned threads = 32 * warps;
  std::mt19937_64 random(5);
  std::vector<std::uint32_t> values(threads);
  for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random() % 1000);
  std::array<std::uint64_t, warps> warp_sums{};
  std::vector<BlockPrefix<std::uint32_t>> first(threads);
  std::vector<BlockPrefix<std::uint32_t>> second(threads);
  cuda_on_host::run_block(threads, [&] {
    const std::uint32_t value = values[threadIdx.x];
    first[threadIdx.x] = prefix_sum_in_block<warps>(value, warp_sums.data());
    second[threadIdx.x] =
        prefix_sum_in_block<warps>(value + 1, warp_sums.data());  // storage reused
  });
  std::uint32_t before = 0;
  const std::uint32_t total = std::accumulate(values.begin(), values.end(), 0U);
  for (unsigned thread = 0; thread < threads; ++thread) {
    EXPECT_EQ(first[thread].before, before) << "thread " << thread;
    EXPECT_EQ(first[thread].total, total);
    EXPECT_EQ(second[thread].before, before + thread);
    EXPECT_EQ(second[thread].total, total + threads);
    before += values[thread];
  }
}

/// An item of a run: compared by its key; the second member tells the run.
using Item = std::pair<int, int>;

TEST(MergePath, SplitsEveryRankAsAStableMergeDoes) {
  const auto before = [](const Item& a, const Item& b) { return a.first < b.first; };
  std::mt19937_64 random(6);
  for (const auto& [first_size, second_size, keys] : std::vector<std::tuple<int, int, int>>{
           {0, 0, 1}, {0, 7, 3}, {9, 0, 3}, {1, 1, 1}, {12, 30, 4}, {50, 50, 1}, {64, 33, 1000}}) {
    std::vector<Item> first;
    std::vector<Item> second;
    for (int i = 0; i < first_size; ++i) first.emplace_back(random() % keys, 0);
    for (int i = 0; i < second_size; ++i) second.emplace_back(random() % keys, 1);
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    std::vector<Item> merged;
    std::merge(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(merged),
               before);
    int from_first = 0;
    for (int rank = 0; rank <= first_size + second_size; ++rank) {
      const int split = merge_path(
          first_size, second_size, rank, before, [&](int i) { return first.at(i); },
          [&](int i) { return second.at(i); });
      EXPECT_EQ(split, from_first) << "rank " << rank;
      if (rank < first_size + second_size) from_first += merged[rank].second == 0 ? 1 : 0;
    }
  }
}

}  // namespace
}  // namespace sortie
