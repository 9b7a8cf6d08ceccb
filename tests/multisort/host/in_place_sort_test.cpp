// SPDX-License-Identifier: Apache-2.0

// The sort that makes no copy of the array: results are in order and complete, and the same for any
// number of devices.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "multisort/backends.hpp"
#include "multisort/host/in_place_sort.hpp"
#include "sortie/sort.hpp"
#include "tests/multisort/distributions.hpp"
#include "tests/reference/sort.hpp"

namespace sortie::test {
namespace {

using multisort::InPlaceSort;

Context host_context() {
  Context context;
  context.backend = Backend::host;
  static_cast<void>(multisort::start_devices(context, 0));
  return context;
}

template <class K, class V>
struct Types {
  using Key = K;
  using Value = V;
};

/// Pairs whose values are places are in the order of a stable sort, with any number of devices.
template <class Key>
void check_by_value(const std::vector<Key>& keys_in) {
  const Context context = host_context();
  for (const std::size_t devices : {1, 3}) {
    SCOPED_TRACE(testing::Message() << keys_in.size() << " items, " << devices << " devices");
    std::vector<Key> keys = keys_in;
    std::vector<Opaque<std::uint32_t>> values(keys.size());
    for (std::uint32_t i = 0; i < keys.size(); ++i) values[i].word = i;
    InPlaceSort<Key, Opaque<std::uint32_t>>(context, {keys.data(), values.data()}, keys.size(), {},
                                            devices, multisort::EqualKeys::by_value)
        .run();
    // Pairs of key and place ascend strictly, so that every place is there once.
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_LT(values[i].word, keys.size()) << "item " << i;
      ASSERT_EQ(keys[i], keys_in[values[i].word]) << "item " << i;
      if (i == 0) continue;
      ASSERT_TRUE(keys[i - 1] < keys[i] ||
                  (keys[i - 1] == keys[i] && values[i - 1].word < values[i].word))
          << "item " << i;
    }
  }
}

TEST(InPlaceSortByValue, IsStable) {
  if (!has_fast_word_sort()) GTEST_SKIP() << "this processor has no AVX-512";
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (const std::uint64_t n : {2, 700, 300'007, 1'200'003}) {
      check_by_value(draw_keys<std::uint32_t>(distribution, n));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class T>
class InPlaceSortTest : public testing::Test {};
// Every width of keys, alone and with values, and both widths of values.
using AllWidths =
    testing::Types<Types<std::uint8_t, std::uint32_t>, Types<std::uint16_t, std::uint64_t>,
                   Types<std::uint32_t, std::uint32_t>, Types<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(InPlaceSortTest, AllWidths);

/// Values are places.
template <class Key, class Value>
void check(const std::vector<Key>& keys_in) {
  const Context context = host_context();
  std::vector<Key> expected = keys_in;
  std::sort(expected.begin(), expected.end());
  std::vector<Value> first_values;
  for (const std::size_t devices : {1, 2, 3, 8}) {
    SCOPED_TRACE(testing::Message() << keys_in.size() << " items, " << devices << " devices");
    std::vector<Key> keys = keys_in;
    InPlaceSort<Key, NoValue>(context, {keys.data(), nullptr}, keys.size(), {}, devices).run();
    ASSERT_TRUE(keys == expected);
    keys = keys_in;
    std::vector<Value> values(keys.size());
    std::iota(values.begin(), values.end(), Value{0});
    InPlaceSort<Key, Value>(context, {keys.data(), values.data()}, keys.size(), {}, devices).run();
    ASSERT_TRUE(keys == expected) << "with values";
    if (!first_values.empty()) {
      ASSERT_TRUE(values == first_values) << "depends on the number of devices";
      continue;
    }
    std::vector<bool> seen(keys.size(), false);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_FALSE(seen[values[i]]) << "item " << i;
      seen[values[i]] = true;
      ASSERT_EQ(keys[i], keys_in[values[i]]) << "item " << i;
    }
    first_values = values;
  }
}

// Some more items than are sorted in the cache at a time, which wide keys fill with half as many.
TYPED_TEST(InPlaceSortTest, EveryDistribution) {
  constexpr std::uint64_t n = sizeof(typename TypeParam::Key) == 8 ? 150'007 : 300'007;
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    check<typename TypeParam::Key, typename TypeParam::Value>(
        draw_keys<typename TypeParam::Key>(distribution, n));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(InPlaceSortTest, FewItems) {
  for (const std::uint64_t n : {0, 1, 2, 33, 700}) {
    check<typename TypeParam::Key, typename TypeParam::Value>(
        draw_keys<typename TypeParam::Key>({"", Distribution::Kind::zipf, 1}, n));
    if (this->HasFatalFailure()) return;
  }
}

// More items than one device divides, also in the largest bucket of the zipf keys of 32 and 64
// bits.
TYPED_TEST(InPlaceSortTest, ManyItems) {
  using Kind = Distribution::Kind;
  for (const Distribution& distribution :
       {Distribution{"uniform", Kind::uniform}, Distribution{"zipf", Kind::zipf, 1},
        Distribution{"entropy", Kind::entropy, 2}, Distribution{"equal", Kind::equal}}) {
    SCOPED_TRACE(distribution.name);
    check<typename TypeParam::Key, typename TypeParam::Value>(
        draw_keys<typename TypeParam::Key>(distribution, 1'900'003));
    if (this->HasFatalFailure()) return;
  }
}

/// Whether the public sort brings keys in ascending and in descending order with 1 and 3 devices.
template <class Key>
bool is_sorted_in_both_orders(const std::vector<Key>& keys) {
  std::vector<Key> expected = keys;
  multisort::reference::sort(std::span<Key>(expected), Order::ascending);
  for (const Order order : {Order::ascending, Order::descending}) {
    for (const int devices : {1, 3}) {
      std::vector<Key> sorted = keys;
      sort(host_context(), std::span<Key>(sorted), {order, true, SortAlgorithm::radix, devices});
      if (images_of(sorted) != images_of(expected)) return false;
    }
    std::reverse(expected.begin(), expected.end());  // keys of one image cannot be told apart
  }
  return true;
}

// Keys that are counted, of every type and in both directions: they are written anew.
TEST(InPlaceSort, KeysThatDifferInFewBits) {
  const auto check_type = [](auto first, int bits) {
    using Key = decltype(first);
    std::vector<Key> keys = draw_keys<Key>({"", Distribution::Kind::entropy, double(bits)},
                                           (std::uint64_t{9} << 20) / sizeof(Key));
    for (Key& key : keys)
      key = std::bit_cast<Key>(static_cast<BitsOf<Key>>(std::bit_cast<BitsOf<Key>>(key) ^
                                                        std::bit_cast<BitsOf<Key>>(first)));
    EXPECT_TRUE(is_sorted_in_both_orders(keys)) << sizeof(Key) << " bytes, " << bits;
  };
  check_type(std::uint8_t{0}, 8);
  check_type(std::int8_t{-77}, 8);
  check_type(std::int16_t{-1234}, 16);
  check_type(std::int32_t{-100'000}, 11);
  check_type(-2.5F, 16);
  check_type(std::uint64_t{1} << 40, 1);
  check_type(1e100, 17);
}

// Whether keys differ in their highest bit is asked of some of them, and of all if these do not:
// then keys are encoded at different times.
TEST(InPlaceSort, KeysThatDifferInTheHighestBitOrOnlyOneThatDoes) {
  const auto check_type = [](auto narrow) {
    using Key = decltype(narrow);
    const std::uint64_t n = (std::uint64_t{1} << 20) + 12'345;
    std::vector<Key> uniform = draw_keys<Key>({"", Distribution::Kind::uniform}, n);
    std::vector<Key> one_apart = uniform;
    const auto low = static_cast<BitsOf<Key>>((BitsOf<Key>{1} << 20) - 1);
    for (Key& key : one_apart) {
      key = std::bit_cast<Key>(static_cast<BitsOf<Key>>((std::bit_cast<BitsOf<Key>>(key) & low) |
                                                        std::bit_cast<BitsOf<Key>>(narrow)));
    }
    one_apart[777'777] = std::bit_cast<Key>(
        static_cast<BitsOf<Key>>(~std::bit_cast<BitsOf<Key>>(one_apart[777'777])));
    EXPECT_TRUE(is_sorted_in_both_orders(uniform)) << sizeof(Key) << " bytes, uniform";
    EXPECT_TRUE(is_sorted_in_both_orders(one_apart)) << sizeof(Key) << " bytes, one apart";
  };
  check_type(std::uint32_t{0});
  check_type(std::int32_t{-1 << 24});
  check_type(2.5F);
  check_type(std::int64_t{1} << 40);
  check_type(-1e100);
}

/// Sorts by the public API, within half of what a copy takes.
template <class Key>
void check_within_half(Order order, int devices = 2) {
  const std::uint64_t n = (std::uint64_t{24} << 20) / sizeof(Key);
  Context context = host_context();
  context.memory_budget = n * sizeof(Key) / 2;
  std::vector<Key> keys = draw_keys<Key>({"", Distribution::Kind::uniform}, n);
  std::vector<Key> expected = keys;
  multisort::reference::sort(std::span<Key>(expected), order);
  sort(context, std::span<Key>(keys), {order, true, SortAlgorithm::automatic, devices});
  EXPECT_TRUE(images_of(keys) == images_of(expected));
}

TEST(InPlaceSort, TakenWhereThereIsNoRoomForACopy) {
  check_within_half<std::int32_t>(Order::ascending);
  check_within_half<float>(Order::descending);
  check_within_half<double>(Order::ascending);
}

// Each device takes some MiB, 64 of them more than the keys.
TEST(InPlaceSort, TakenWithTheDevicesThatTheBudgetHasRoomFor) {
  check_within_half<std::uint32_t>(Order::ascending, 64);
  check_within_half<std::int64_t>(Order::descending, 64);
}

// There is room for a copy: pairs are sorted in place all the same, unless they are to be stable.
TEST(InPlaceSort, TakenForPairsThatNeedNotBeStable) {
  const std::uint64_t n = std::uint64_t{3} << 20;
  const std::vector<std::uint32_t> keys_in =
      draw_keys<std::uint32_t>({"", Distribution::Kind::zipf, 1}, n);
  for (const bool stable : {false, true}) {
    std::vector<std::uint32_t> keys = keys_in;
    std::vector<std::uint32_t> values(n);
    std::iota(values.begin(), values.end(), 0U);
    sort(host_context(), std::span<std::uint32_t>(keys), std::span<std::uint32_t>(values),
         {Order::ascending, stable, SortAlgorithm::automatic, 2});
    for (std::uint64_t i = 0; i < n; ++i) {
      ASSERT_EQ(keys[i], keys_in[values[i]]) << "item " << i;
      if (i == 0) continue;
      ASSERT_LE(keys[i - 1], keys[i]) << "item " << i;
      if (stable) {
        ASSERT_TRUE(keys[i - 1] < keys[i] || values[i - 1] < values[i]) << "item " << i;
      }
    }
  }
}

TEST(InPlaceSort, NotTakenWhereItWouldNotBeStable) {
  const std::uint64_t n = std::uint64_t{3} << 20;
  Context context = host_context();
  context.memory_budget = 4 * n;
  std::vector<std::uint32_t> keys = draw_keys<std::uint32_t>({"", Distribution::Kind::uniform}, n);
  std::vector<std::uint32_t> values = keys;
  const auto sort_them = [&](bool stable) {
    sort(context, std::span<std::uint32_t>(keys), std::span<std::uint32_t>(values),
         {Order::ascending, stable, SortAlgorithm::radix, 2});
  };
  EXPECT_THROW(sort_them(true), Error);
  sort_them(false);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(keys, values);
}

}  // namespace
}  // namespace sortie::test
