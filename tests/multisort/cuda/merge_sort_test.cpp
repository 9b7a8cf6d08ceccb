// SPDX-License-Identifier: Apache-2.0

// The merge sorts of chunks on GPUs, `merge` and `tanasic`, against the reference. Several logical
// devices share a GPU where there are not enough of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "papers/papers.hpp"
#include "sortie/run_report.hpp"
#include "tests/multisort/cuda/chunk_sort_case.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

constexpr SortAlgorithm both_algorithms[] = {SortAlgorithm::merge, papers::tanasic};

bool serves(SortAlgorithm algorithm, const Cut& cut) {
  return algorithm != papers::tanasic || std::has_single_bit(cut.sizes.size());
}

template <class T>
class MergeSort : public testing::Test {};
TYPED_TEST_SUITE(MergeSort, AllTypes);

// Lengths about a power of two, about a tile, and of several tiles and rounds of merging.
TYPED_TEST(MergeSort, EveryLengthAndCut) {
  for (const std::uint64_t n : {0, 1, 2, 3, 31, 255, 256, 257, 1791, 3328, 3329, 4351, 4352, 4353,
                                8705, 16383, 16384, 16385, 100'003}) {
    const auto keys = draw_keys<typename TypeParam::Key>({"zipf", Distribution::Kind::zipf, 1}, n);
    for (const Cut& cut : cuts_of(n)) {
      for (const SortAlgorithm algorithm : both_algorithms) {
        if (!serves(algorithm, cut)) continue;
        check<TypeParam>(keys, cut, {Order::ascending, true, algorithm});
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(MergeSort, EveryDistribution) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<typename TypeParam::Key>(distribution, 50'021);
    const auto cuts = cuts_of(keys.size());
    for (const Order order : {Order::ascending, Order::descending}) {
      check<TypeParam>(keys, cuts[0], {order, true, SortAlgorithm::merge});
      check<TypeParam>(keys, cuts[4], {order, true, SortAlgorithm::merge});
      check<TypeParam>(keys, cuts[5], {order, true, papers::tanasic});
      if (this->HasFailure()) return;
    }
  }
}

// Every kernel at least once, and quick enough for the sanitizers.
TEST(MergeSortOfU32, AFewTilesOfPairs) {
  const auto keys = draw_keys<std::uint32_t>({"zipf", Distribution::Kind::zipf, 1}, 12'345);
  for (const Cut& cut : {cuts_of(keys.size())[1], cuts_of(keys.size())[5]})
    for (const SortAlgorithm algorithm : both_algorithms)
      for (const Transport transport : {Transport::automatic, Transport::staged})
        check_pairs<std::uint32_t, std::uint32_t>(
            keys, cut, {Order::descending, true, algorithm, 0, transport});
}

TEST(MergeSortOfU32, OneAndAHalfMillionItemsOverDevices) {
  const auto keys = draw_keys<std::uint32_t>({"", Distribution::Kind::uniform}, 1'500'007);
  for (const Cut& cut : cuts_of(keys.size())) {
    for (const SortAlgorithm algorithm : both_algorithms) {
      if (!serves(algorithm, cut)) continue;
      for (const Transport transport : {Transport::automatic, Transport::staged}) {
        check_keys(keys, cut, {Order::descending, true, algorithm, 0, transport});
        check_pairs<std::uint32_t, std::uint64_t>(
            keys, cut, {Order::ascending, true, algorithm, 0, transport});
        if (HasFailure()) return;
      }
    }
  }
}

// Long enough for the merge of two chunks to go in parts; of sorted keys all of a part is one
// device's own, of reversed ones all is the other's.
TEST(MergeSortOfU32, TwoDevicesInParts) {
  using Kind = Distribution::Kind;
  for (const Distribution& distribution :
       {Distribution{"uniform", Kind::uniform}, Distribution{"equal", Kind::equal},
        Distribution{"sorted", Kind::sorted}, Distribution{"reverse", Kind::reverse},
        Distribution{"blocks", Kind::blocks}}) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<std::uint32_t>(distribution, 3'000'007);
    for (const Cut& cut : {cuts_of(keys.size())[1], cuts_of(keys.size())[2]}) {
      check_keys(keys, cut, {Order::descending, true, SortAlgorithm::merge});
      check_pairs<std::uint32_t, std::uint32_t>(keys, cut,
                                                {Order::ascending, true, SortAlgorithm::merge});
      if (HasFailure()) return;
    }
  }
}

TEST(MergeSortOfU32, EightDevicesInStages) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<std::uint32_t>(distribution, 80'003);
    const Cut cut{"eight", {10'000, 1, 20'000, 0, 9'002, 30'000, 1'000, 10'000}};
    for (const SortAlgorithm algorithm : both_algorithms)
      for (const Transport transport : {Transport::automatic, Transport::staged})
        check_pairs<std::uint32_t, std::uint32_t>(
            keys, cut, {Order::ascending, true, algorithm, 0, transport});
    if (HasFailure()) return;
  }
}

template <class Key>
class MergeSortOfFloatingPoint : public testing::Test {};
using FloatingPoint = testing::Types<float, double>;
TYPED_TEST_SUITE(MergeSortOfFloatingPoint, FloatingPoint);

TYPED_TEST(MergeSortOfFloatingPoint, ZerosInfinitiesAndNaNsAreInTotalOrder) {
  using Limits = std::numeric_limits<TypeParam>;
  const TypeParam nan = Limits::quiet_NaN();
  const std::vector<TypeParam> keys{nan,
                                    Limits::infinity(),
                                    TypeParam{0},
                                    TypeParam{-0.0},
                                    Limits::lowest(),
                                    Limits::max(),
                                    -Limits::infinity(),
                                    std::copysign(nan, TypeParam{-1}),
                                    -Limits::denorm_min(),
                                    Limits::denorm_min()};
  for (const Order order : {Order::ascending, Order::descending}) {
    for (const Cut& cut : cuts_of(keys.size())) {
      check_keys(keys, cut, {order, true, SortAlgorithm::merge});
      if (serves(papers::tanasic, cut)) check_keys(keys, cut, {order, true, papers::tanasic});
    }
  }
}

TEST(MergeSortErrors, TanasicWantsAPowerOfTwo) {
  const std::vector<std::uint32_t> keys{3, 1, 2};
  expect_error(
      [&] {
        check_keys(keys, {"three", {1, 1, 1}}, {Order::ascending, true, papers::tanasic});
      },
      ErrorKind::usage, testing::HasSubstr("found 3 chunks, expected a power of two"));
}

TEST(MergeSortErrors, AMemoryBudgetThatIsTooSmallNamesWhatIsWanted) {
  const auto keys = draw_keys<std::uint64_t>({"", Distribution::Kind::uniform}, 100'000);
  const Cut cut{"two halves", {50'000, 50'000}};
  GuardedArray<std::uint64_t> array(keys, cut);
  std::vector<ArrayChunk<std::uint64_t>> chunks;
  for (std::size_t i = 0; i < 2; ++i)
    chunks.push_back({array.chunk(i).data(), nullptr, 50'000, array.chunk(i).device()});
  Context context;
  context.backend = Backend::cuda;
  context.memory_budget = 100'000;
  expect_error(
      [&] {
        sort_chunks(context, std::span<const ArrayChunk<std::uint64_t>>(chunks),
                    {Order::ascending, false, SortAlgorithm::merge});
      },
      ErrorKind::out_of_memory, testing::HasSubstr("100000"));
  EXPECT_EQ(array.items(), keys);
}

TEST(MergeSortReport, PhasesInOrder) {
  const auto keys = draw_keys<std::uint32_t>({"", Distribution::Kind::uniform}, 100'000);
  GuardedArray<std::uint32_t> array(keys, {"", {40'000, 60'000}});
  std::vector<ArrayChunk<std::uint32_t>> chunks{
      {array.chunk(0).data(), nullptr, 40'000, array.chunk(0).device()},
      {array.chunk(1).data(), nullptr, 60'000, array.chunk(1).device()}};
  RunReport report;
  Context context;
  context.backend = Backend::cuda;
  context.report = &report;
  sort_chunks(context, std::span<const ArrayChunk<std::uint32_t>>(chunks),
              {Order::ascending, false, SortAlgorithm::merge, 0, Transport::staged});
  std::vector<std::string> phases;
  for (const auto& phase : report.phases()) phases.push_back(phase.name);
  EXPECT_THAT(phases, testing::ElementsAre("local sort", "pivots", "exchange", "merge"));
}

}  // namespace
}  // namespace sortie::test
