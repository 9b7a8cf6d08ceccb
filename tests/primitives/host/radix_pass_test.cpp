// SPDX-License-Identifier: Apache-2.0
#include "primitives/host/radix_pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "core/random.hpp"

namespace sortie::test {
namespace {

TEST(Digit, HighestAndLowestOfDifferingBits) {
  EXPECT_EQ(Digit::highest(std::uint32_t{0x00FF0000}, 8), (Digit{16, 0xFF}));
  EXPECT_EQ(Digit::highest(std::uint32_t{0x1F}, 8), (Digit{0, 0x1F}));
  EXPECT_EQ(Digit::highest(std::uint64_t{1} << 63, 11), (Digit{53, 0x7FF}));
  EXPECT_EQ(Digit::highest(std::uint64_t{0x3FF}, 8, 6), (Digit{6, 0xF}));
  EXPECT_EQ(Digit::highest(static_cast<DoubleWord>(1) << 100, 8), (Digit{93, 0xFF}));
  EXPECT_EQ(Digit::lowest(std::uint32_t{0x00FF0000}, 8), (Digit{16, 0xFF}));
  EXPECT_EQ(Digit::lowest(std::uint8_t{0x80}, 8)(std::uint8_t{0xFF}), 1U);
  EXPECT_EQ(Digit::lowest(std::uint8_t{0x80}, 8).removed_from(std::uint8_t{0x81}), 1U);
  EXPECT_EQ((Digit{60, 0xFF}).removed_from(std::uint64_t{0xF00000000000000F}), 0xFU);
}

TEST(DifferingBits, OfKeysAndOfNone) {
  const std::vector<std::uint16_t> keys{0x1200, 0x1201, 0x1300};
  EXPECT_EQ(differing_bits(keys.data(), 3), 0x0101);
  EXPECT_EQ(differing_bits(keys.data(), 1), 0);
  EXPECT_EQ(differing_bits(keys.data(), 0), 0);
  EXPECT_EQ(differing_bits(keys.data(), 2, std::uint16_t{0}), 0x1201);
}

TEST(CountsToStarts, PartsFollowEachOtherWithinABucket) {
  std::vector<int> counts{1, 2, 0,   // of part 0
                          3, 0, 4};  // of part 1
  EXPECT_EQ(counts_to_starts(counts.data(), 3, 2), 10);
  EXPECT_EQ(counts, (std::vector<int>{0, 4, 6, 1, 6, 6}));
}

template <class K, class V>
struct Types {
  using Key = K;
  using Value = V;
};

template <class T>
class RadixPass : public testing::Test {
 protected:
  using Key = typename T::Key;
  using Value = typename T::Value;
  static constexpr bool pairs = has_values<Value>;

  void draw(std::uint64_t n, Key mask) {
    Random random(n);
    keys_.resize(n);
    for (Key& key : keys_) key = static_cast<Key>(static_cast<Key>(random()) & mask);
    if constexpr (pairs) {
      values_.resize(n);
      std::iota(values_.begin(), values_.end(), Value{0});
    }
    key_scratch_.resize(n);
    value_scratch_.resize(values_.size());
  }
  Items<Key, Value> items() { return {keys_.data(), values_.data()}; }
  Items<Key, Value> scratch() { return {key_scratch_.data(), value_scratch_.data()}; }

  /// Indices of the keys in the stable order of part(key).
  template <class Part>
  std::vector<std::size_t> expected_order(Part part) const {
    std::vector<std::size_t> order(keys_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return part(keys_[a]) < part(keys_[b]); });
    return order;
  }
  static void expect_order(Items<Key, Value> found, const std::vector<Key>& keys,
                           const std::vector<std::size_t>& order) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_TRUE(found.keys[i] == keys[order[i]]) << i;
      if constexpr (pairs) {
        ASSERT_EQ(found.values[i], static_cast<Value>(order[i])) << i;
      }
    }
  }

  std::vector<Key> keys_;
  std::vector<Value> values_;
  std::vector<Key> key_scratch_;
  std::vector<Value> value_scratch_;
};

using AllTypes = testing::Types<Types<std::uint8_t, NoValue>, Types<std::uint16_t, std::uint32_t>,
                                Types<std::uint32_t, NoValue>, Types<std::uint32_t, std::uint32_t>,
                                Types<std::uint64_t, NoValue>, Types<std::uint64_t, std::uint64_t>,
                                Types<DoubleWord, NoValue>>;
TYPED_TEST_SUITE(RadixPass, AllTypes);

TYPED_TEST(RadixPass, StableByADigit) {
  using Key = typename TypeParam::Key;
  for (const std::uint64_t n : {0, 1, 2, 100, 5000}) {
    this->draw(n, static_cast<Key>(~Key{0}));
    const Digit digit{3, 31};
    const auto order = this->expected_order(digit);
    std::vector<std::uint32_t> ends(digit.values(), 77);
    radix_pass(this->items(), n, digit, ends.data(), ends.size(), this->scratch());
    this->expect_order(this->scratch(), this->keys_, order);
    for (std::size_t value = 0; value < ends.size(); ++value) {
      ASSERT_EQ(ends[value], std::count_if(this->keys_.begin(), this->keys_.end(),
                                           [&](Key key) { return digit(key) <= value; }));
    }
  }
}

TYPED_TEST(RadixPass, LeastDigitsSortByDifferingBits) {
  using Key = typename TypeParam::Key;
  if constexpr (sizeof(Key) <= sizeof(std::uint64_t)) {
    const auto all = static_cast<Key>(~Key{0});
    for (const auto mask : {all, static_cast<Key>(0x81), static_cast<Key>(all << 5), Key{0}}) {
      for (const std::uint64_t n : {0, 1, 2, 300, 3000}) {
        this->draw(n, mask);
        const std::vector<Key> keys = this->keys_;
        const auto order = this->expected_order([](Key key) { return key; });
        const Key differing = differing_bits(keys.data(), n);
        const auto sorted = sort_by_least_digits(this->items(), this->scratch(), n, differing);
        this->expect_order(sorted, keys, order);
      }
    }
  }
}

}  // namespace
}  // namespace sortie::test
