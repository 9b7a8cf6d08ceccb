// SPDX-License-Identifier: Apache-2.0

// The radix sort of one device, with a cache so small that short arrays take every path.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "multisort/host/local_sort.hpp"
#include "tests/multisort/distributions.hpp"

namespace sortie::test {
namespace {

using multisort::LocalSort;

/// Sorts keys whose values are their places, and compares with a stable sort.
template <class Key>
void check(const std::vector<std::uint64_t>& bits, std::uint64_t cached_bytes, bool vectors) {
  SCOPED_TRACE(vectors ? "with vectors" : "without vectors");
  const std::uint64_t n = bits.size();
  std::vector<Key> keys(bits.begin(), bits.end());
  std::vector<Key> alone = keys;
  std::vector<std::uint32_t> values(n);
  std::iota(values.begin(), values.end(), 0U);
  std::vector<std::uint32_t> expected = values;
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return alone[a] < alone[b]; });
  std::vector<Key> key_scratch(n);
  std::vector<std::uint32_t> value_scratch(n);
  constexpr std::uint64_t pair_bytes = sizeof(Key) + sizeof(std::uint32_t);
  using PairSort = LocalSort<Key, std::uint32_t>;
  PairSort(cached_bytes / pair_bytes, vectors && PairSort::has_vectors())
      .sort({keys.data(), values.data()}, {key_scratch.data(), value_scratch.data()}, n);
  ASSERT_TRUE(values == expected);
  for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(keys[i], alone[expected[i]]);
  using KeySort = LocalSort<Key, NoValue>;
  KeySort(cached_bytes / sizeof(Key), vectors && KeySort::has_vectors())
      .sort({alone.data(), nullptr}, {key_scratch.data(), nullptr}, n);
  ASSERT_TRUE(alone == keys);
}

/// With each kind of sort that this processor has.
template <class Key>
void check(const std::vector<std::uint64_t>& bits, std::uint64_t cached_bytes) {
  check<Key>(bits, cached_bytes, false);
  const bool has_some =
      LocalSort<Key, NoValue>::has_vectors() || LocalSort<Key, std::uint32_t>::has_vectors();
  if (has_some) check<Key>(bits, cached_bytes, true);
}

template <class Key>
class LocalSortTest : public testing::Test {};
using Keys = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(LocalSortTest, Keys);

TYPED_TEST(LocalSortTest, EveryDistributionWithinAndBeyondTheCache) {
  constexpr int key_bits = 8 * sizeof(TypeParam);
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (const std::uint64_t n : {33, 511, 512, 2'000, 50'003}) {
      const auto bits = draw_bits(distribution, key_bits, n);
      check<TypeParam>(bits, std::size_t{1} << 20);
      check<TypeParam>(bits, 16384);
      check<TypeParam>(bits, 512);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(LocalSortTest, EveryLengthUpTo700) {
  for (std::uint64_t n = 0; n <= 700; ++n) {
    check<TypeParam>(draw_bits({"", Distribution::Kind::zipf, 0.7}, 8 * sizeof(TypeParam), n, n),
                     2048);
    if (this->HasFatalFailure()) return;
  }
}

// Upper bits that agree in runs of many lengths: passes over them leave those to be sorted.
TEST(LocalSort, ManyItemsWithEqualUpperBits) {
  Random random(6);
  std::vector<std::uint64_t> bits;
  for (std::uint64_t run = 0; run < 150; ++run) {
    const std::uint64_t upper = random() << 32;
    for (std::uint64_t i = 0; i < run; ++i) bits.push_back(upper | random() >> 40);
  }
  std::shuffle(bits.begin(), bits.end(), random);
  check<std::uint64_t>(bits, std::size_t{1} << 20);
  check<std::uint64_t>(bits, 1024);
}

}  // namespace
}  // namespace sortie::test
