// SPDX-License-Identifier: Apache-2.0

// The partition in place: every item in its bucket, none lost, for any number of stripes and
// shares.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "multisort/host/block_partition.hpp"
#include "tests/multisort/distributions.hpp"

namespace sortie::test {
namespace {

using multisort::BlockPartition;

template <class K, class V>
struct Types {
  using Key = K;
  using Value = V;
};

template <class T>
class BlockPartitionTest : public testing::Test {};
using AllTypes =
    testing::Types<Types<std::uint8_t, std::uint32_t>, Types<std::uint16_t, std::uint64_t>,
                   Types<std::uint32_t, std::uint32_t>, Types<std::uint64_t, std::uint32_t>>;
TYPED_TEST_SUITE(BlockPartitionTest, AllTypes);

/// Values are places.
template <class Key, class Value>
void check(const std::vector<Key>& keys_in, Digit digit, std::size_t stripes,
           std::uint64_t share_blocks) {
  const std::uint64_t n = keys_in.size();
  std::vector<Key> keys = keys_in;
  std::vector<Value> values(n);
  std::iota(values.begin(), values.end(), Value{0});
  BlockPartition<Key, Value> partition(n, stripes, share_blocks);
  std::array<std::uint64_t, multisort::block_buckets> ends;
  partition.begin({keys.data(), values.data()}, n, digit);
  for (std::size_t stripe = 0; stripe < stripes; ++stripe) partition.collect(stripe);
  partition.place(ends);
  // Shares are independent of each other, so their order must not matter.
  for (std::size_t share = partition.shares(); share-- > 0;) partition.exchange(share);
  partition.finish(ends);

  std::array<std::uint64_t, multisort::block_buckets> counts{};
  for (const Key key : keys_in) ++counts[digit(key)];
  std::vector<bool> seen(n, false);
  std::uint64_t i = 0;
  for (std::size_t bucket = 0; bucket < ends.size(); ++bucket) {
    ASSERT_EQ(ends[bucket] - i, counts[bucket]) << "bucket " << bucket;
    for (; i < ends[bucket]; ++i) {
      ASSERT_EQ(digit(keys[i]), bucket) << "item " << i;
      ASSERT_FALSE(seen[values[i]]) << "item " << i;
      seen[values[i]] = true;
      ASSERT_EQ(keys[i], keys_in[values[i]]) << "item " << i;
    }
  }
  ASSERT_EQ(i, n);
}

TYPED_TEST(BlockPartitionTest, EveryDistributionForAnyNumberOfStripesAndShares) {
  using Key = typename TypeParam::Key;
  constexpr int key_bits = 8 * sizeof(Key);
  const auto block = static_cast<std::uint64_t>(multisort::block_items<Key>);
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, block - 1, block, block + 1,
                                  3 * block, 40 * block + 5, 200 * block - 1}) {
      const auto keys = draw_keys<Key>(distribution, n, n);
      const Key differing =
          n == 0 ? Key{1} : static_cast<Key>(differing_bits(keys.data(), n, keys[0]) | Key{1});
      for (const std::size_t stripes : {1, 2, 8}) {
        for (const std::uint64_t share_blocks : {1, 16, 1000}) {
          SCOPED_TRACE(testing::Message() << n << " items, " << stripes << " stripes, shares of "
                                          << share_blocks << " blocks");
          const auto check_digit = [&](Digit digit) {
            check<Key, typename TypeParam::Value>(keys, digit, stripes, share_blocks);
          };
          check_digit(Digit::highest(differing, multisort::block_digit_bits));
          check_digit(Digit{key_bits - 3, 7});
          check_digit(Digit{0, 255});
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sortie::test
