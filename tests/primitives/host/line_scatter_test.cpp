// SPDX-License-Identifier: Apache-2.0

// Scattering by whole lines: every item in its bucket, in order, and nothing beside them touched.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "primitives/host/radix_pass.hpp"

namespace sortie::test {
namespace {

template <class K, class V>
struct Types {
  using Key = K;
  using Value = V;
};

template <class T>
class LineScatterTest : public testing::Test {};

using AllTypes =
    testing::Types<Types<std::uint8_t, NoValue>, Types<std::uint8_t, std::uint64_t>,
                   Types<std::uint16_t, std::uint32_t>, Types<std::uint32_t, NoValue>,
                   Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>,
                   Types<std::uint64_t, NoValue>, Types<std::uint64_t, std::uint32_t>>;
TYPED_TEST_SUITE(LineScatterTest, AllTypes);

/// Scatters `n` items to places that begin `lead` items into aligned arrays, values `skew` further.
template <class Key, class Value, bool OnHeap>
void check(std::uint64_t n, std::size_t buckets, std::size_t lead, std::size_t skew) {
  constexpr std::size_t guard = 130;
  const auto bucket_of = [&](Key key) { return static_cast<std::size_t>(key % buckets); };
  Random random(n + buckets);
  std::vector<Key> keys(n);
  std::vector<Value> values(n);
  std::vector<std::uint64_t> starts(buckets, 0);
  for (std::uint64_t i = 0; i < n; ++i) {
    keys[i] = static_cast<Key>(random());
    if constexpr (has_values<Value>) values[i] = static_cast<Value>(i);
    ++starts[bucket_of(keys[i])];
  }
  EXPECT_EQ(counts_to_starts(starts.data(), buckets), n);
  std::vector<std::uint64_t> expected_starts = starts;
  const ItemStorage<Key, Value> storage({}, lead + skew + n + guard, "a test");
  const std::uint64_t size = lead + skew + n + guard;
  std::fill_n(storage.items().keys, size, Key{77});
  if constexpr (has_values<Value>) std::fill_n(storage.items().values, size, Value{78});
  Items<Key, Value> to = storage.items().from(lead);
  if constexpr (has_values<Value>) to.values += skew;

  LineScatter<Key, Value, 1024, OnHeap> scatter;
  scatter({keys.data(), values.data()}, n, starts.data(), bucket_of, to, buckets);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t place = expected_starts[bucket_of(keys[i])]++;
    ASSERT_EQ(to.keys[place], keys[i]) << "item " << i;
    if constexpr (has_values<Value>) {
      ASSERT_EQ(to.values[place], values[i]);
    }
  }
  ASSERT_EQ(starts, expected_starts);
  for (std::size_t i = 0; i < lead; ++i) ASSERT_EQ(storage.items().keys[i], Key{77});
  for (std::size_t i = lead + n; i < size; ++i) ASSERT_EQ(storage.items().keys[i], Key{77});
  if constexpr (has_values<Value>) {
    for (std::size_t i = 0; i < lead + skew; ++i) ASSERT_EQ(storage.items().values[i], Value{78});
    for (std::size_t i = lead + skew + n; i < size; ++i)
      ASSERT_EQ(storage.items().values[i], Value{78});
  }
}

TYPED_TEST(LineScatterTest, AnyNumberOfBucketsAtAnyPlace) {
  for (const std::size_t buckets : {1, 2, 7, 256, 1024}) {
    for (const std::uint64_t n : {0, 1, 15, 64, 1'000, 40'003}) {
      for (const std::size_t lead : {0, 1, 13, 64}) {
        check<typename TypeParam::Key, typename TypeParam::Value, true>(n, buckets, lead, 0);
        check<typename TypeParam::Key, typename TypeParam::Value, false>(n, buckets, lead, 1);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace sortie::test
