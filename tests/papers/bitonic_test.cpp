// SPDX-License-Identifier: Apache-2.0

// The in-place bitonic network on a GPU, against the reference.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "papers/papers.hpp"
#include "tests/multisort/cuda/chunk_sort_case.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

Cut whole(std::uint64_t n) {
  return {"one chunk", {n}};
}

SortOptions bitonic(Order order = Order::ascending) {
  return {order, false, papers::bitonic};
}

template <class T>
class Bitonic : public testing::Test {};
TYPED_TEST_SUITE(Bitonic, AllTypes);

// About powers of two, about tiles (2^12 to 2^14 items), and up to stages of three passes.
TYPED_TEST(Bitonic, EveryLength) {
  for (const std::uint64_t n :
       {0,    1,    2,    3,     7,     31,    33,     511,    512,    513,    4095,    4096,
        4097, 8191, 8193, 16383, 16384, 16385, 20'001, 32'768, 32'769, 65'537, 131'071, 300'007}) {
    const auto keys =
        draw_keys<typename TypeParam::Key>({"uniform", Distribution::Kind::uniform}, n, n);
    check<TypeParam>(keys, whole(n), bitonic());
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(Bitonic, EveryDistribution) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys = draw_keys<typename TypeParam::Key>(distribution, 50'021);
    for (const Order order : {Order::ascending, Order::descending}) {
      check<TypeParam>(keys, whole(keys.size()), bitonic(order));
      if (this->HasFailure()) return;
    }
  }
}

// More steps of large distances in a stage than one pass takes. Keys are all different and values
// tell where they came from, so that the result is checked without sorting.
template <class T>
class BitonicOfManyItems : public testing::Test {};
using ManyTypes =
    testing::Types<Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>,
                   Types<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(BitonicOfManyItems, ManyTypes);

TYPED_TEST(BitonicOfManyItems, SeveralPassesAStage) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  constexpr std::uint64_t n = (std::uint64_t{1} << 24) + 12'345;
  const auto key_of = [](std::uint64_t i) { return static_cast<Key>(i * 2'654'435'761U); };
  std::vector<Key> keys(n);
  for (std::uint64_t i = 0; i < n; ++i) keys[i] = key_of(i);
  GuardedArray<Key> key_array(keys, whole(n));
  GuardedArray<Value> value_array(numbers<Value>(n), whole(n));
  const ArrayChunk<Key, Value> chunk{key_array.chunk(0).data(), value_array.chunk(0).data(), n, 0};
  Context context;
  context.backend = Backend::cuda;
  sort_chunks_of_pairs(context, std::span<const ArrayChunk<Key, Value>>(&chunk, 1), bitonic());
  const std::vector<Key> sorted = key_array.items();
  const std::vector<Value> values = value_array.items();
  ASSERT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(sorted[i], key_of(values[i])) << "item " << i;
  // All different in order, each with a value that gives it: so no value is there twice.
  ASSERT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
}

TEST(BitonicOfManyKeys, SeveralPassesAStage) {
  auto keys = draw_keys<std::uint32_t>({"", Distribution::Kind::uniform},
                                       (std::uint64_t{1} << 24) + 12'345);
  GuardedArray<std::uint32_t> array(keys, whole(keys.size()));
  const ArrayChunk<std::uint32_t> chunk{array.chunk(0).data(), nullptr, keys.size(), 0};
  Context context;
  context.backend = Backend::cuda;
  sort_chunks(context, std::span<const ArrayChunk<std::uint32_t>>(&chunk, 1), bitonic());
  std::sort(keys.begin(), keys.end());
  ASSERT_TRUE(array.items() == keys);
}

TEST(BitonicOfLargestKeys, TheirValuesAreNotLost) {
  // What stands for a place beyond the end has the same key.
  for (const std::uint64_t n : {3, 1000, 5000, 70'001}) {
    const std::vector<std::uint32_t> keys(n, std::numeric_limits<std::uint32_t>::max());
    check_pairs<std::uint32_t, std::uint32_t>(keys, whole(n), bitonic());
    check_pairs<std::uint32_t, std::uint64_t>(std::vector<std::uint32_t>(n, 0), whole(n),
                                              bitonic(Order::descending));
  }
}

TEST(BitonicOfFloatingPoint, ZerosInfinitiesAndNaNsAreInTotalOrder) {
  using Limits = std::numeric_limits<double>;
  const double nan = Limits::quiet_NaN();
  std::vector<double> keys{nan,
                           0.0,
                           -0.0,
                           Limits::infinity(),
                           -Limits::infinity(),
                           std::copysign(nan, -1.0),
                           Limits::denorm_min(),
                           -Limits::denorm_min()};
  while (keys.size() < 20'000) keys.push_back(keys[keys.size() % 8]);
  for (const Order order : {Order::ascending, Order::descending})
    check_keys(keys, whole(keys.size()), bitonic(order));
}

TEST(BitonicErrors, MoreThanOneChunkWithItems) {
  const std::vector<std::uint32_t> keys{3, 1, 2};
  expect_error(
      [&] {
        check_keys(keys, {"two", {1, 2}}, bitonic());
      },
      ErrorKind::usage, testing::HasSubstr("found 2 chunks with items, expected one"));
  check_keys(keys, {"two empty ones", {0, 3, 0}}, bitonic());
}

}  // namespace
}  // namespace sortie::test
