// SPDX-License-Identifier: Apache-2.0

// Segmented sort through the public API, on the backend of this run, against the reference.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sortie/segmented_sort.hpp"
#include "tests/segsort/sort_case.hpp"

namespace sortie::test {
namespace {

template <class T>
class SegmentedSortTest : public testing::Test {};

using AllTypes = testing::Types<
    Types<std::uint32_t, void>, Types<std::uint32_t, std::uint32_t>,
    Types<std::uint32_t, SmallRecord>, Types<std::uint32_t, double>, Types<std::int32_t, void>,
    Types<std::int32_t, float>, Types<std::int32_t, LargeRecord>, Types<float, void>,
    Types<float, std::uint32_t>, Types<float, SmallRecord>, Types<float, double>,
    Types<std::uint64_t, void>, Types<std::uint64_t, std::uint32_t>,
    Types<std::uint64_t, SmallRecord>, Types<std::uint64_t, double>, Types<std::int64_t, void>,
    Types<std::int64_t, std::uint32_t>, Types<std::int64_t, LargeRecord>, Types<double, void>,
    Types<double, std::uint32_t>, Types<double, SmallRecord>, Types<double, std::uint64_t>>;
TYPED_TEST_SUITE(SegmentedSortTest, AllTypes);

TYPED_TEST(SegmentedSortTest, SortsEveryShape) {
  using Key = typename TypeParam::Key;
  for (const SegmentShape& shape : segment_shapes()) {
    SCOPED_TRACE(shape.name);
    const SortCase<TypeParam, std::uint64_t> random(
        shape, make_keys<Key>(KeyPattern::random_bits, shape.num_items));
    random.check({Order::ascending, false});
    const SortCase<TypeParam, std::uint64_t> few(
        shape, make_keys<Key>(KeyPattern::few_distinct, shape.num_items));
    few.check({Order::descending, true});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SegmentedSortTest, SortsEveryKeyPattern) {
  const SegmentShape shape = mixed_shape();
  for (const auto& [pattern, name] : key_patterns) {
    SCOPED_TRACE(name);
    const SortCase<TypeParam, std::uint64_t> sort_case(
        shape, make_keys<typename TypeParam::Key>(pattern, shape.num_items));
    for (const SegmentedSortOptions& options : all_options()) {
      SCOPED_TRACE(describe(options));
      sort_case.check(options);
      if (this->HasFatalFailure()) return;
    }
  }
}

template <class Key>
class NarrowSegmentedSortTest : public testing::Test {};

using NarrowKeys = testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t>;
TYPED_TEST_SUITE(NarrowSegmentedSortTest, NarrowKeys);

TYPED_TEST(NarrowSegmentedSortTest, SortsKeysAndPairs) {
  SegmentShape shape = mixed_shape();
  std::vector<TypeParam> keys(shape.num_items);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<TypeParam>(i * 0x9e3779b97f4a7c15 >> 40);
  const SortCase<Types<TypeParam, void>, std::uint32_t> alone(shape, keys);
  const SortCase<Types<TypeParam, double>, std::uint64_t> pairs(shape, keys);
  for (const Order order : {Order::ascending, Order::descending}) {
    alone.check({order, true});
    pairs.check({order, true});
    if constexpr (std::is_unsigned_v<TypeParam>) pairs.check({order, true, 2, 7});
  }
}

template <class Offset>
class SegmentOffsetTest : public testing::Test {};

using OffsetTypes = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(SegmentOffsetTest, OffsetTypes);

TYPED_TEST(SegmentOffsetTest, TakesOffsetsOfThisType) {
  const SegmentShape shape = mixed_shape();
  SortCase<Types<std::uint32_t, std::uint32_t>, TypeParam>(
      shape, make_keys<std::uint32_t>(KeyPattern::random_bits, shape.num_items))
      .check({});
}

// Signed and floating-point keys differ from unsigned ones only on the way in and out, so what
// takes long is tried with unsigned keys.
template <class T>
class UnsignedSegmentedSortTest : public testing::Test {};

using UnsignedTypes =
    testing::Types<Types<std::uint32_t, void>, Types<std::uint32_t, std::uint32_t>,
                   Types<std::uint32_t, LargeRecord>, Types<std::uint64_t, void>,
                   Types<std::uint64_t, SmallRecord>, Types<std::uint64_t, double>>;
TYPED_TEST_SUITE(UnsignedSegmentedSortTest, UnsignedTypes);

TYPED_TEST(UnsignedSegmentedSortTest, SortsEveryLengthUpTo5000) {
  const SegmentShape shape = in_a_row("each length", lengths_below(5001));
  SortCase<TypeParam, std::uint64_t>(
      shape, make_keys<typename TypeParam::Key>(KeyPattern::random_bits, shape.num_items))
      .check({Order::ascending, true});
}

template <class T>
void check_giant(std::uint64_t size, KeyPattern pattern) {
  SCOPED_TRACE("key pattern " + std::to_string(static_cast<int>(pattern)));
  const SegmentShape shape = in_a_row("giant", {size}, 2);
  SortCase<T, std::uint64_t>(shape, make_keys<typename T::Key>(pattern, shape.num_items))
      .check({Order::ascending, true});
}

TYPED_TEST(UnsignedSegmentedSortTest, SortsOneGiant) {
  for (const KeyPattern pattern :
       {KeyPattern::random_bits, KeyPattern::few_distinct, KeyPattern::last_or_random})
    check_giant<TypeParam>((std::uint64_t{1} << 20) + 5, pattern);
}

TYPED_TEST(UnsignedSegmentedSortTest, SortsOneLargerGiantOnAGpu) {
  if (backend() != Backend::cuda) GTEST_SKIP() << "more rounds of merging are a matter of GPUs";
  check_giant<TypeParam>((std::uint64_t{1} << 24) + 3, KeyPattern::random_bits);
}

TYPED_TEST(UnsignedSegmentedSortTest, ComparesOnlyTheBitsAskedFor) {
  using Key = typename TypeParam::Key;
  const int bits = key_bits(key_type_of<Key>());
  const SegmentShape shape = mixed_shape();
  const SortCase<TypeParam, std::uint64_t> random(
      shape, make_keys<Key>(KeyPattern::random_bits, shape.num_items));
  const SortCase<TypeParam, std::uint64_t> last(
      shape, make_keys<Key>(KeyPattern::last_or_random, shape.num_items));
  const std::pair<int, int> ranges[] = {{0, 8},           {5, 17},       {0, 1},
                                        {bits - 1, bits}, {7, 7},        {0, bits},
                                        {1, bits},        {0, bits - 1}, {bits, bits}};
  for (const auto& [begin_bit, end_bit] : ranges) {
    for (const SegmentedSortOptions& options : all_options(begin_bit, end_bit)) {
      SCOPED_TRACE(describe(options));
      random.check(options);
      last.check(options);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(UnsignedSegmentedSortTest, ComparesSomeBitsOfGiants) {
  const SegmentShape shape = in_a_row("giants", giants_among_dwarfs());
  SortCase<TypeParam, std::uint64_t>(
      shape, make_keys<typename TypeParam::Key>(KeyPattern::random_bits, shape.num_items))
      .check({Order::descending, true, 3, 21});
}

}  // namespace
}  // namespace sortie::test
