// SPDX-License-Identifier: Apache-2.0

// The radix sort over logical devices with digits of every width: those of many items are wider.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "multisort/backends.hpp"
#include "multisort/host/radix_sort.hpp"
#include "sortie/context.hpp"
#include "tests/multisort/distributions.hpp"

namespace sortie::test {
namespace {

template <class Key>
class RadixSortTest : public testing::Test {};
using Keys = testing::Types<std::uint8_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(RadixSortTest, Keys);

TYPED_TEST(RadixSortTest, DigitsOfEveryWidth) {
  using Sort = multisort::RadixSort<TypeParam, NoValue>;
  Context context;
  context.backend = Backend::host;
  static_cast<void>(multisort::start_devices(context, 0));
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys_in = draw_keys<TypeParam>(distribution, 6'007);
    std::vector<TypeParam> expected = keys_in;
    std::sort(expected.begin(), expected.end());
    for (int digit_bits = 1; digit_bits <= Sort::widest_digit; digit_bits += 3) {
      for (const std::size_t devices : {1, 2, 7}) {
        std::vector<TypeParam> keys = keys_in;
        Sort(context, {keys.data(), nullptr}, keys.size(), {}, devices, digit_bits).run();
        ASSERT_TRUE(keys == expected) << digit_bits << " bits, " << devices << " devices";
      }
    }
  }
}

template <class K, class V>
struct Types {
  using Key = K;
  using Value = V;
};

template <class T>
class RadixSortItemsTest : public testing::Test {};
using ItemTypes =
    testing::Types<Types<std::uint8_t, std::uint32_t>, Types<std::uint16_t, std::uint64_t>,
                   Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>,
                   Types<std::uint64_t, std::uint32_t>, Types<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(RadixSortItemsTest, ItemTypes);

// Values are places, so that the one stable order is the only right answer: the same bytes for any
// number of devices. Skewed keys fill buckets that all devices divide again, and buckets of a
// single value that are copied in pieces.
TYPED_TEST(RadixSortItemsTest, TheStableOrderOnEveryNumberOfDevices) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  using Sort = multisort::RadixSort<Key, Value>;
  Context context;
  context.backend = Backend::host;
  static_cast<void>(multisort::start_devices(context, 0));
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto keys_in = draw_keys<Key>(distribution, 70'001);
    std::vector<Value> expected(keys_in.size());
    std::iota(expected.begin(), expected.end(), Value{0});
    std::stable_sort(expected.begin(), expected.end(),
                     [&](Value a, Value b) { return keys_in[a] < keys_in[b]; });
    for (const std::size_t devices : {1, 2, 3, 8}) {
      std::vector<Key> keys = keys_in;
      std::vector<Value> values(keys.size());
      std::iota(values.begin(), values.end(), Value{0});
      Sort(context, {keys.data(), values.data()}, keys.size(), {}, devices, 8).run();
      ASSERT_TRUE(values == expected) << devices << " devices";
      for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(keys[i], keys_in[expected[i]]);
    }
  }
}

// The sample that the digit is guessed by sees none of the keys that differ.
TEST(RadixSort, KeysThatTheSampleDoesNotSee) {
  using Sort = multisort::RadixSort<std::uint32_t, NoValue>;
  Context context;
  context.backend = Backend::host;
  static_cast<void>(multisort::start_devices(context, 0));
  constexpr std::uint64_t n = 400'000;
  for (const std::uint32_t common : {0U, 1U}) {
    std::vector<std::uint32_t> keys(n);
    for (std::uint64_t i = 0; i < n; ++i) keys[i] = common * static_cast<std::uint32_t>(i % 300);
    keys[n / 2 + 7] = 0xffff0000;
    keys[n - 1] = 0x0000ffff;
    std::vector<std::uint32_t> expected = keys;
    std::sort(expected.begin(), expected.end());
    for (const std::size_t devices : {1, 2, 5}) {
      std::vector<std::uint32_t> sorted = keys;
      Sort(context, {sorted.data(), nullptr}, n, {}, devices, 9).run();
      ASSERT_TRUE(sorted == expected) << devices << " devices";
    }
  }
}

TEST(RadixSort, FewItemsTakeFewDevices) {
  using Sort = multisort::RadixSort<std::uint32_t, NoValue>;
  EXPECT_EQ(Sort::usual_devices(0, 8), 1);
  EXPECT_EQ(Sort::usual_devices(1'000, 8), 1);
  EXPECT_EQ(Sort::usual_devices(100'000, 8), 3);
  EXPECT_EQ(Sort::usual_devices(std::uint64_t{1} << 40, 8), 8);
}

TEST(RadixSort, DigitsAreWiderForMoreItems) {
  using Sort = multisort::RadixSort<std::uint32_t, NoValue>;
  EXPECT_EQ(Sort::usual_digit_bits(0), 8);
  EXPECT_EQ(Sort::usual_digit_bits(1'000'000), 8);
  EXPECT_EQ(Sort::usual_digit_bits(std::uint64_t{1} << 25), 9);
  EXPECT_EQ(Sort::usual_digit_bits(std::uint64_t{1} << 26), 10);
  EXPECT_EQ(Sort::usual_digit_bits(std::uint64_t{1} << 40), 10);
}

}  // namespace
}  // namespace sortie::test
