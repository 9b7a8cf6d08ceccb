// SPDX-License-Identifier: Apache-2.0

// Keys of 16 bits that are floating-point numbers: array sort and segmented sort through the public
// API, on the backend of this run.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/segmented_sort.hpp"
#include "sortie/sort.hpp"
#include "tests/support/backend.hpp"

namespace sortie::test {
namespace {

template <class Key>
class HalfKeys : public testing::Test {
 protected:
  /// Keys of any bits: zeros of both signs, infinities and NaNs among them, many of them equal.
  static std::vector<Key> some_keys(std::size_t size) {
    Random random(size);
    std::vector<Key> keys(size);
    for (Key& key : keys) key.bits = static_cast<std::uint16_t>(random.next() % 5000 * 0x9e37);
    return keys;
  }
  static std::vector<std::uint16_t> bits_of(const std::vector<Key>& keys) {
    std::vector<std::uint16_t> bits;
    for (const Key key : keys) bits.push_back(key.bits);
    return bits;
  }
  /// Positions of the sorted keys of a range.
  static std::vector<std::uint32_t> positions(const std::vector<Key>& keys, std::size_t begin,
                                              std::size_t end, Order order) {
    std::vector<std::uint32_t> result(end - begin);
    std::iota(result.begin(), result.end(), static_cast<std::uint32_t>(begin));
    const KeyCodec<std::uint16_t> codec(KeyKind::floating_point, order);
    std::stable_sort(result.begin(), result.end(), [&](std::uint32_t a, std::uint32_t b) {
      return codec.encoded(keys[a].bits) < codec.encoded(keys[b].bits);
    });
    return result;
  }
  static std::vector<std::uint16_t> gathered(const std::vector<Key>& keys,
                                             const std::vector<std::uint32_t>& positions) {
    std::vector<std::uint16_t> bits;
    for (const std::uint32_t position : positions) bits.push_back(keys[position].bits);
    return bits;
  }
};

using Halves = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(HalfKeys, Halves);

TYPED_TEST(HalfKeys, Arrays) {
  for (const std::size_t size : {0, 1, 100, 70'001}) {
    for (const Order order : {Order::ascending, Order::descending}) {
      SCOPED_TRACE(size);
      const std::vector<TypeParam> keys = this->some_keys(size);
      const auto expected = this->positions(keys, 0, size, order);
      SortOptions options;
      options.order = order;
      std::vector<TypeParam> alone = keys;
      sort(context(), std::span<TypeParam>(alone), options);
      EXPECT_EQ(this->bits_of(alone), this->gathered(keys, expected));
      options.stable = true;
      std::vector<TypeParam> paired = keys;
      std::vector<std::uint32_t> values(size);
      std::iota(values.begin(), values.end(), 0u);
      sort(context(), std::span<TypeParam>(paired), std::span<std::uint32_t>(values), options);
      EXPECT_EQ(this->bits_of(paired), this->gathered(keys, expected));
      EXPECT_EQ(values, expected);
    }
  }
}

TYPED_TEST(HalfKeys, Segments) {
  const std::vector<std::uint32_t> begins{0, 5, 5, 70, 3'000};
  const std::vector<std::uint32_t> ends{5, 5, 70, 3'000, 20'000};
  for (const Order order : {Order::ascending, Order::descending}) {
    const std::vector<TypeParam> keys = this->some_keys(ends.back());
    std::vector<std::uint32_t> expected;
    for (std::size_t s = 0; s < begins.size(); ++s) {
      const auto of_segment = this->positions(keys, begins[s], ends[s], order);
      expected.insert(expected.end(), of_segment.begin(), of_segment.end());
    }
    SegmentedSortOptions options;
    options.order = order;
    options.stable = true;
    std::vector<TypeParam> sorted = keys;
    std::vector<std::uint32_t> values(keys.size());
    std::iota(values.begin(), values.end(), 0u);
    segmented_sort(context(), std::span<TypeParam>(sorted), std::span<std::uint32_t>(values),
                   std::span<const std::uint32_t>(begins), std::span<const std::uint32_t>(ends),
                   options);
    EXPECT_EQ(this->bits_of(sorted), this->gathered(keys, expected));
    EXPECT_EQ(values, expected);
    std::vector<TypeParam> alone = keys;
    segmented_sort(context(), std::span<TypeParam>(alone), std::span<const std::uint32_t>(begins),
                   std::span<const std::uint32_t>(ends), options);
    EXPECT_EQ(this->bits_of(alone), this->gathered(keys, expected));
  }
}

}  // namespace
}  // namespace sortie::test
