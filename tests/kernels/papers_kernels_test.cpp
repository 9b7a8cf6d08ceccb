// SPDX-License-Identifier: Apache-2.0

// Kernels of the papers on the host: smem-merge of full and uneven chunks of every length; the pivot
// of two sorted arrays through mapped memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "papers/ics17/shared_merge.cuh"
#include "papers/tanasic/mapped_pivot.cuh"

namespace sortie::segsort::ics17 {
namespace {

template <class T>
class SharedMerge : public testing::Test {};

template <class TraitsType, Division How>
struct Case {
  using Traits = TraitsType;
  static constexpr Division division = How;
};
using Pairs = Traits<std::uint32_t, std::uint32_t, false>;
using StableKeys = Traits<std::uint64_t, std::uint32_t, true>;
using Cases = testing::Types<Case<Pairs, Division::full>, Case<Pairs, Division::uneven>,
                             Case<StableKeys, Division::full>, Case<StableKeys, Division::uneven>>;
TYPED_TEST_SUITE(SharedMerge, Cases);

TYPED_TEST(SharedMerge, SortsEveryLength) {
  constexpr int threads = 128;
  constexpr int items = 4;
  using T = typename TypeParam::Traits;
  using Word = typename T::Word;
  std::mt19937_64 random(5);
  for (int length = 0; length <= threads * items; length += length < 140 ? 1 : 13) {
    SCOPED_TRACE(length);
    std::vector<Word> keys(length);
    std::vector<std::uint32_t> values(length);
    for (int i = 0; i < length; ++i) {
      // Few keys, the greatest among them: padding must not come before it.
      keys[i] = random() % 4 == 0 ? ~Word{0} : static_cast<Word>(random() % 50);
      values[i] = static_cast<std::uint32_t>(i);
    }
    Arguments<Word> arguments{};
    arguments.keys_in = keys.data();
    arguments.values_in = values.data();
    arguments.codec = BitRangeCodec<Word>::make(sizeof(Word) == 4 ? KeyType::u32 : KeyType::u64,
                                                Order::ascending, 0, 8 * sizeof(Word));
    SharedTile<T, threads, items> tile;
    cuda_on_host::run_block(threads, [&] {
      sort_tile<T, threads, items, TypeParam::division>(tile, arguments, 0, length);
    });
    std::vector<Word> expected = keys;
    std::sort(expected.begin(), expected.end());
    std::vector<bool> seen(length);
    for (int i = 0; i < length; ++i) {
      const auto item = tile.get(i);
      ASSERT_EQ(item.key, expected[i]) << "item " << i;
      ASSERT_LT(item.payload, static_cast<std::uint32_t>(length)) << "item " << i;
      ASSERT_EQ(keys[item.payload], item.key) << "item " << i;
      ASSERT_FALSE(seen[item.payload]) << "item " << i;
      seen[item.payload] = true;
      if (T::stable && i > 0 && tile.get(i - 1).key == item.key) {
        ASSERT_LT(tile.get(i - 1).payload, item.payload) << "item " << i;
      }
    }
  }
}

TEST(SharesOfABlock, DifferByOneItemAtMost) {
  for (const int length : {0, 1, 63, 64, 65, 200, 255, 256}) {
    const Shares<Division::uneven, 64, 4> shares(length);
    EXPECT_EQ(shares.begin(0), 0);
    EXPECT_EQ(shares.begin(64), length);
    for (int t = 0; t < 64; ++t) {
      const int size = shares.begin(t + 1) - shares.begin(t);
      EXPECT_EQ(size, length / 64 + (t < length % 64 ? 1 : 0)) << length << ", thread " << t;
    }
    const Shares<Division::full, 64, 4> full(length);
    EXPECT_EQ(full.begin(64), length);
    EXPECT_EQ(full.begin(1), std::min(4, length));
  }
}

}  // namespace
}  // namespace sortie::segsort::ics17

namespace sortie::multisort::merge {
namespace {

/// The pivot of arrays of which each is divided into chunks of so many items.
std::uint64_t mapped_pivot(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                           std::uint64_t chunk) {
  MappedSearch<std::uint32_t> search{};
  search.high = std::min(a.size(), b.size());
  const int rounds = mapped_rounds(search.high);
  for (int round = 0; round < rounds; ++round) {
    for (const bool is_left : {true, false}) {
      const std::vector<std::uint32_t>& keys = is_left ? a : b;
      for (std::uint64_t begin = 0; begin < keys.size(); begin += chunk) {
        const std::uint64_t n = std::min<std::uint64_t>(chunk, keys.size() - begin);
        cuda_on_host::run_block(mapped_probes, [&] {
          publish_probes_kernel(keys.data() + begin, begin, n, is_left, a.size(), &search);
        });
      }
    }
    cuda_on_host::run_block(mapped_probes, [&] {
      narrow_kernel(&search, [](std::uint32_t x, std::uint32_t y) { return x < y; });
    });
  }
  EXPECT_EQ(search.low, search.high);
  return search.low;
}

TEST(MappedPivot, IsTheNumberOfItemsToExchange) {
  std::mt19937_64 random(3);
  const auto sorted = [&](std::size_t n, std::uint32_t keys, std::uint32_t shift) {
    std::vector<std::uint32_t> drawn(n);
    for (std::uint32_t& key : drawn) key = shift + static_cast<std::uint32_t>(random() % keys);
    std::sort(drawn.begin(), drawn.end());
    return drawn;
  };
  for (const std::size_t n : {0, 1, 2, 255, 256, 257, 1000, 70'000}) {
    for (const std::uint32_t keys : {1U, 5U, 1'000'000U}) {
      // All, none and some of the items are in the wrong array.
      for (const auto& [of_a, of_b] :
           {std::pair(0U, 500'000U), {500'000U, 0U}, {2'000'000U, 0U}, {0U, 0U}}) {
        const std::vector<std::uint32_t> a = sorted(n, keys, of_a);
        const std::vector<std::uint32_t> b = sorted(n + n / 3, keys, of_b);
        std::uint64_t expected = 0;
        while (expected < n && b[expected] < a[n - 1 - expected]) ++expected;
        EXPECT_EQ(mapped_pivot(a, b, n / 3 + 1), expected) << n << ", " << keys << ", " << of_a;
      }
    }
  }
}

}  // namespace
}  // namespace sortie::multisort::merge
