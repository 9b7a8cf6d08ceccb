// SPDX-License-Identifier: Apache-2.0

// The sort of one segment on one thread, which host applications call inside their own loops.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/host_runtime.hpp"
#include "core/random.hpp"
#include "segsort/host/segment_sorter.hpp"
#include "segsort/host/sort_segment.hpp"
#include "tests/segsort/key_patterns.hpp"

namespace sortie::segsort {
namespace {

/// Larger than a key: such values stay behind while keys and indices are merged.
struct Record {
  std::uint64_t item;
  double weight;
};

template <class Key, class Value>
struct Pair {
  using K = Key;
  using V = Value;
};

template <class T>
class SortSegmentTest : public testing::Test {};

using PairTypes = testing::Types<Pair<std::uint32_t, std::uint32_t>, Pair<std::uint32_t, double>,
                                 Pair<std::uint32_t, Record>, Pair<std::uint64_t, std::uint32_t>,
                                 Pair<std::uint64_t, double>, Pair<std::uint64_t, Record>>;
TYPED_TEST_SUITE(SortSegmentTest, PairTypes);

template <class Value>
Value make_value(std::uint64_t item) {
  if constexpr (std::is_same_v<Value, Record>)
    return {item, 0.25};
  else
    return static_cast<Value>(item);
}

template <class Value>
std::uint64_t item_of(const Value& value) {
  if constexpr (std::is_same_v<Value, Record>)
    return value.item;
  else
    return static_cast<std::uint64_t>(value);
}

/// Sorts keys with values and alone, in arrays of exactly that size, and checks order, stability
/// and that nothing is lost: with items numbered, (key, item) must ascend strictly.
template <class Key, class Value>
void check(const std::vector<Key>& keys_in) {
  const std::size_t n = keys_in.size();
  std::vector<Key> keys = keys_in;
  std::vector<Key> key_scratch(n);
  std::vector<Value> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(make_value<Value>(i));
  std::vector<Value> value_scratch(values);
  sort_segment(Items{keys.data(), values.data()}, n,
               Items{key_scratch.data(), value_scratch.data()});
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t item = item_of(values[i]);
    ASSERT_LT(item, n);
    ASSERT_EQ(keys[i], keys_in[item]) << "item " << i << " of " << n;
    if (i == 0) continue;
    ASSERT_LE(keys[i - 1], keys[i]) << "item " << i << " of " << n;
    ASSERT_TRUE(keys[i - 1] < keys[i] || item_of(values[i - 1]) < item) << i << " of " << n;
  }
  std::vector<Key> alone = keys_in;
  sort_segment(alone.data(), n, key_scratch.data());
  ASSERT_EQ(alone, keys);
}

/// Keys drawn from `mask`; every fourth is the largest, which the sort uses as a filler.
template <class Key>
std::vector<Key> draw_keys(std::size_t n, Key mask, std::uint64_t seed) {
  Random random(seed);
  std::vector<Key> keys(n);
  for (Key& key : keys)
    key =
        random.below(4) == 0 ? std::numeric_limits<Key>::max() : static_cast<Key>(random()) & mask;
  return keys;
}

TYPED_TEST(SortSegmentTest, SortsEveryLength) {
  using Key = typename TypeParam::K;
  using Value = typename TypeParam::V;
  for (std::size_t n = 0; n <= 1300; ++n) {
    check<Key, Value>(draw_keys<Key>(n, ~Key{0}, n));
    check<Key, Value>(draw_keys<Key>(n, Key{3}, n));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SortSegmentTest, SortsKeysWithConstantBits) {
  using Key = typename TypeParam::K;
  using Value = typename TypeParam::V;
  const Key top = Key{1} << (8 * sizeof(Key) - 1);
  for (const Key mask : {Key{0}, Key{1}, top, static_cast<Key>(top | 1), Key{0xff00},
                         static_cast<Key>(0x00f0'0f00), static_cast<Key>(~top)}) {
    check<Key, Value>(draw_keys<Key>(5000, mask, 1));
    std::vector<Key> keys = draw_keys<Key>(5000, mask, 2);
    for (Key& key : keys) key &= mask;  // no fillers
    check<Key, Value>(keys);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SortSegmentTest, SortsSegmentsBeyondTheCache) {
  using Key = typename TypeParam::K;
  using Value = typename TypeParam::V;
  const std::size_t n = detail::cached_items + 12'345;
  check<Key, Value>(draw_keys<Key>(n, ~Key{0}, 3));
  check<Key, Value>(draw_keys<Key>(n, Key{0x3ff}, 4));
}

template <class T>
class DivideSegmentTest : public testing::Test {};
using DividedKeys = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DivideSegmentTest, DividedKeys);

/// Divides keys to parts of a few, and sorts those.
TYPED_TEST(DivideSegmentTest, UntilPartsAreShort) {
  if (!has_vector_sort<TypeParam>()) GTEST_SKIP() << "no vector sort on this processor";
  start_host_runtime(0);
  for (const test::NamedKeyPattern& named : test::key_patterns) {
    SCOPED_TRACE(named.name);
    std::vector<TypeParam> keys = test::make_keys<TypeParam>(named.pattern, 150'001);
    std::vector<TypeParam> expected = keys;
    std::sort(expected.begin(), expected.end());
    const SegmentParts parts = divide_segment(keys.data(), keys.size(), 2'000);
    ASSERT_EQ(parts.begins.size(), parts.ends.size());
    for (std::size_t i = 0; i < parts.ends.size(); ++i) {
      ASSERT_LE(parts.ends[i] - parts.begins[i], 2'000U);
      std::sort(keys.data() + parts.begins[i], keys.data() + parts.ends[i]);
    }
    ASSERT_TRUE(keys == expected);
  }
}

}  // namespace
}  // namespace sortie::segsort
