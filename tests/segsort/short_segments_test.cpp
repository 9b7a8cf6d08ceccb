// SPDX-License-Identifier: Apache-2.0

// Sixteen short segments at once on one thread of the host, by all vector units that this processor
// has, and what finds such segments: the scan of offsets, the batch.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "segsort/host/offset_scan.hpp"
#include "segsort/host/short/segment_batch.hpp"
#include "segsort/host/short/short_segments.hpp"
#include "tests/reference/segmented_sort.hpp"

namespace sortie::segsort {
namespace {

template <class K, class V>
struct Types {
  using Key = K;
  using Value = V;
};

std::vector<VectorUnit> vector_units() {
  std::vector<VectorUnit> units;
  for (const VectorUnit unit : {VectorUnit::baseline, VectorUnit::avx2, VectorUnit::avx512})
    if (unit <= vector_unit()) units.push_back(unit);
  return units;
}

enum class Keys { any, few, equal, ascending, descending, ends, near_sign, twins };

/// Raw keys: all bit patterns, so that floating-point ones hold NaNs, zeros of both signs, ...
template <class UKey>
std::vector<UKey> make_raw_keys(Keys kind, std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<UKey> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    switch (kind) {
      case Keys::any:
        keys[i] = static_cast<UKey>(random());
        break;
      case Keys::few:
        keys[i] = static_cast<UKey>(random.below(3));
        break;
      case Keys::equal:
        keys[i] = 7;
        break;
      case Keys::ascending:
        keys[i] = static_cast<UKey>(i);
        break;
      case Keys::descending:
        keys[i] = static_cast<UKey>(n - i);
        break;
      case Keys::ends:  // 0, the greatest, and both neighbours of the sign bit
        keys[i] = static_cast<UKey>(std::numeric_limits<UKey>::max() * random.below(2)) ^
                  static_cast<UKey>(static_cast<UKey>(random.below(2)) << (8 * sizeof(UKey) - 1));
        break;
      case Keys::near_sign:  // differ in all bits, but in the upper ones few do
        keys[i] = static_cast<UKey>((UKey{1} << (8 * sizeof(UKey) - 1)) + random.below(300) - 150);
        break;
      case Keys::twins:  // neighbours differ in the lowest bit alone, the greater before the less
        keys[i] = i % 2 == 0 ? static_cast<UKey>(random() | 1) : static_cast<UKey>(keys[i - 1] - 1);
        break;
    }
  }
  return keys;
}

/// Sorts segments that begin and have lengths as given, in ascending order of length, of so many
/// items, and compares with std::stable_sort by encoded key.
template <class UKey, class Value>
void check_at(const std::vector<std::uint64_t>& begins, const std::vector<std::uint32_t>& lengths,
              std::uint64_t items, Keys kind, const KeyCodec<UKey>& codec, VectorUnit unit) {
  const std::vector<UKey> keys_in = make_raw_keys<UKey>(kind, items, lengths.size());
  std::vector<UKey> keys = keys_in;
  std::vector<Value> values(items);
  if constexpr (has_values<Value>)
    for (std::size_t i = 0; i < items; ++i) values[i].word = static_cast<std::uint32_t>(i);
  const auto tile = std::make_unique<detail::SegmentTile<UKey, Value>>();
  sort_short_segments(Items<UKey, Value>{keys.data(), values.data()}, codec,
                      {begins.data(), lengths.data(), lengths.size()}, unit, *tile);

  std::vector<std::size_t> expected(items);
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const auto first = expected.begin() + static_cast<std::ptrdiff_t>(begins[s]);
    std::stable_sort(first, first + lengths[s], [&](std::size_t a, std::size_t b) {
      return codec.encoded(keys_in[a]) < codec.encoded(keys_in[b]);
    });
  }
  for (std::size_t i = 0; i < items; ++i) {
    ASSERT_EQ(keys[i], keys_in[expected[i]]) << "item " << i;
    if constexpr (has_values<Value>) {
      ASSERT_EQ(std::size_t{values[i].word}, expected[i]) << "item " << i;
    }
  }
}

/// The same with a gap of so many items before each segment.
template <class UKey, class Value>
void check(const std::vector<std::uint32_t>& lengths, std::uint64_t gap, Keys kind,
           const KeyCodec<UKey>& codec, VectorUnit unit) {
  std::vector<std::uint64_t> begins;
  std::uint64_t items = 0;
  for (const std::uint32_t length : lengths) {
    begins.push_back(items + gap);
    items += length + gap;
  }
  check_at<UKey, Value>(begins, lengths, items, kind, codec, unit);
}

template <class T>
class ShortSegmentsTest : public testing::Test {
 protected:
  using UKey = typename T::Key;
  using Value = typename T::Value;

  static std::vector<KeyCodec<UKey>> codecs() {
    std::vector<KeyCodec<UKey>> result;
    for (const KeyType type : sizeof(UKey) == 4
                                  ? std::vector{KeyType::u32, KeyType::i32, KeyType::f32}
                                  : std::vector{KeyType::u64, KeyType::i64, KeyType::f64}) {
      result.emplace_back(kind_of(type), Order::ascending);
      result.emplace_back(kind_of(type), Order::descending);
    }
    return result;
  }

  static void check_all(const std::vector<std::uint32_t>& lengths, std::uint64_t gap, Keys kind) {
    for (const VectorUnit unit : vector_units()) {
      SCOPED_TRACE("vector unit " + std::to_string(static_cast<int>(unit)));
      std::vector<std::uint32_t> taken;
      for (const std::uint32_t length : lengths)
        if (length <= longest_short_segment<UKey, Value>(unit)) taken.push_back(length);
      if (taken.empty()) continue;
      for (const KeyCodec<UKey>& codec : codecs()) {
        check<UKey, Value>(taken, gap, kind, codec, unit);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
};

using Value32 = Opaque<std::uint32_t>;
using Value64 = Opaque<std::uint64_t>;
using AllTypes = testing::Types<Types<std::uint32_t, NoValue>, Types<std::uint32_t, Value32>,
                                Types<std::uint32_t, Value64>, Types<std::uint64_t, NoValue>,
                                Types<std::uint64_t, Value32>, Types<std::uint64_t, Value64>>;
TYPED_TEST_SUITE(ShortSegmentsTest, AllTypes);

TYPED_TEST(ShortSegmentsTest, SortsSegmentsOfOneLength) {
  for (std::uint32_t length = 2; length <= 256; length += length < 36 ? 1 : 17) {
    SCOPED_TRACE("length " + std::to_string(length));
    for (const std::size_t count : {1, 7, 16, 35}) {
      const std::vector<std::uint32_t> lengths(count, length);
      this->check_all(lengths, 0, Keys::any);
      this->check_all(lengths, 1, Keys::few);
      if (this->HasFatalFailure()) return;
    }
  }
}

// Side by side, and so few that their items are compared as they lie.
TYPED_TEST(ShortSegmentsTest, SortsSegmentsOfTwoToFourItemsStably) {
  for (const std::uint32_t length : {2, 3, 4}) {
    SCOPED_TRACE("length " + std::to_string(length));
    for (const std::size_t count : {8, 9, 40, 61}) {
      const std::vector<std::uint32_t> lengths(count, length);
      for (const Keys kind : {Keys::few, Keys::ends, Keys::twins})
        this->check_all(lengths, 0, kind);
      if (this->HasFatalFailure()) return;
    }
  }
}

// Segments that begin as those of four items side by side do, but some of them are shorter.
TYPED_TEST(ShortSegmentsTest, SortsNoItemBehindASegment) {
  using Key = typename TypeParam::Key;
  for (const std::uint32_t shorter : {2, 3}) {
    for (const std::size_t shorter_count : {1, 5, 8, 9}) {
      std::vector<std::uint64_t> begins;
      std::vector<std::uint32_t> lengths;
      for (std::size_t i = 0; i < 40; ++i) {
        begins.push_back(4 * i);
        lengths.push_back(i < shorter_count ? shorter : 4);
      }
      for (const VectorUnit unit : vector_units())
        check_at<Key, typename TypeParam::Value>(begins, lengths, 160, Keys::any, {}, unit);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(ShortSegmentsTest, SortsEveryLength) {
  std::vector<std::uint32_t> lengths(255);
  std::iota(lengths.begin(), lengths.end(), 2U);
  for (const Keys kind : {Keys::any, Keys::few, Keys::equal, Keys::ascending, Keys::descending,
                          Keys::ends, Keys::near_sign, Keys::twins}) {
    SCOPED_TRACE("keys " + std::to_string(static_cast<int>(kind)));
    this->check_all(lengths, 0, kind);
    this->check_all(lengths, 3, kind);
    if (this->HasFatalFailure()) return;
  }
}

// Keys of 64 bits do not fit beside the numbers of their items.
TYPED_TEST(ShortSegmentsTest, SortsKeysThatAgreeInTheirUpperBits) {
  for (const std::uint32_t length : {79, 80, 100, 128, 129, 255, 256}) {
    SCOPED_TRACE("length " + std::to_string(length));
    for (const std::size_t count : {16, 31}) {
      const std::vector<std::uint32_t> lengths(count, length);
      for (const Keys kind : {Keys::near_sign, Keys::twins}) {
        this->check_all(lengths, 0, kind);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// So many that tiles follow of which that is not expected.
TYPED_TEST(ShortSegmentsTest, SortsManyTilesAfterOneWhoseKeysAgree) {
  const std::vector<std::uint32_t> lengths(40 * 16, 80);
  this->check_all(lengths, 0, Keys::twins);
}

// Segments that registers hold, which leave out the lowest bits of long keys; and what comes after
// some whose keys agree in all others.
TYPED_TEST(ShortSegmentsTest, SortsSegmentsOfFewItemsWhoseKeysAgreeInTheirUpperBits) {
  for (const std::uint32_t longest : {4, 8, 9, 16, 17, 32, 33}) {
    SCOPED_TRACE("longest " + std::to_string(longest));
    for (const std::size_t count : {3, 8, 13, 300, 700}) {
      std::vector<std::uint32_t> lengths;
      for (std::size_t i = 0; i < count; ++i)
        lengths.push_back(static_cast<std::uint32_t>(2 + i * (longest - 1) / count));
      for (const Keys kind : {Keys::near_sign, Keys::twins, Keys::ends}) {
        this->check_all(lengths, 0, kind);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(ShortSegmentsTest, SortsOneLongSegmentBesideShortOnes) {
  for (std::size_t twos = 0; twos < 20; ++twos) {
    std::vector<std::uint32_t> lengths(twos, 2);
    lengths.push_back(3);
    lengths.push_back(16);
    lengths.push_back(255);
    lengths.push_back(256);
    this->check_all(lengths, 1, Keys::few);
    if (this->HasFatalFailure()) return;
  }
}

template <class Offset>
class OffsetScanTest : public testing::Test {};

using OffsetTypes = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(OffsetScanTest, OffsetTypes);

TYPED_TEST(OffsetScanTest, SumsUpAndFindsEveryFault) {
  constexpr TypeParam items = 5000;
  for (const VectorUnit unit : vector_units()) {
    for (const std::size_t count : {1, 2, 15, 63, 64, 65, 1000}) {
      std::vector<TypeParam> begins;
      std::vector<TypeParam> ends;
      for (std::size_t i = 0; i < count; ++i) {
        begins.push_back(static_cast<TypeParam>(3 * i));
        ends.push_back(static_cast<TypeParam>(3 * i + 1 + i % 3));
      }
      const auto scan = [&] {
        return summarise_offsets(begins.data(), ends.data(), count, items, unit);
      };
      const OffsetSummary summary = scan();
      EXPECT_TRUE(summary.valid);
      EXPECT_EQ(summary.items, 2 * count - (count % 3 == 1 ? 1 : count % 3 == 2 ? 1 : 0));
      EXPECT_EQ(summary.shortest, 1U);
      EXPECT_EQ(summary.longest, std::min<std::size_t>(count, 3));
      const auto greatest = std::numeric_limits<TypeParam>::max();
      for (std::size_t at = 0; at < count; ++at) {
        const TypeParam begin = begins[at];
        const TypeParam end = ends[at];
        for (const auto& [bad_begin, bad_end] : {std::pair<TypeParam, TypeParam>{begin, items + 1},
                                                 {end, static_cast<TypeParam>(end - 1)},
                                                 {greatest, greatest},
                                                 {greatest, 5},
                                                 {5, greatest},
                                                 {items + 1, items + 1}}) {
          begins[at] = bad_begin;
          ends[at] = bad_end;
          ASSERT_FALSE(scan().valid) << at << ": " << bad_begin << ", " << bad_end;
        }
        begins[at] = items;  // the end of the array is no fault
        ends[at] = items;
        ASSERT_TRUE(scan().valid);
        begins[at] = begin;
        ends[at] = end;
      }
    }
  }
}

TEST(PagePrefetch, AsksForEveryLineOfTheNextPagesOnce) {
  constexpr std::uintptr_t group = detail::pages_at_once * detail::prefetch_page_bytes;
  constexpr std::uintptr_t begin = 5 * group;
  std::vector<std::uintptr_t> asked;
  for (std::uintptr_t at = begin + 24; at < begin + group; at += detail::prefetch_line_bytes)
    asked.push_back(detail::line_pages_ahead(at));
  for (std::size_t i = 1; i < detail::pages_at_once; ++i)
    EXPECT_EQ(asked[i] - asked[i - 1], detail::prefetch_page_bytes);
  std::sort(asked.begin(), asked.end());
  std::vector<std::uintptr_t> expected;
  for (std::uintptr_t at = begin + group; at < begin + 2 * group; at += detail::prefetch_line_bytes)
    expected.push_back(at);
  EXPECT_EQ(asked, expected);
}

/// The segments that a batch hands out, as (begin, length).
using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

void take_all(const SegmentBatch& batch, Pairs& short_ones, Pairs& long_ones) {
  batch.sort(
      [&](const ShortSegments& segments) {
        for (std::size_t i = 0; i < segments.count; ++i)
          short_ones.emplace_back(segments.begins[i], segments.lengths[i]);
      },
      [&](std::uint64_t begin, std::uint64_t length) { long_ones.emplace_back(begin, length); });
}

TEST(SegmentBatch, BinsShortSegmentsAndLeavesOutWhatIsNotWanted) {
  Random random(3);
  for (const std::size_t longest_short : {16, 64, 256}) {
    const auto batch = std::make_unique<SegmentBatch>(longest_short);
    for (int round = 0; round < 50; ++round) {
      const std::size_t count = round == 0 ? SegmentBatch::capacity : 1 + random.below(1000);
      const std::uint64_t bound = 1 + random.below(round % 2 == 0 ? 400 : 3);
      std::vector<std::uint32_t> begins;
      std::vector<std::uint32_t> ends;
      Pairs expected_short;
      Pairs expected_long;
      for (std::size_t i = 0; i < count; ++i) {
        begins.push_back(static_cast<std::uint32_t>(500 * i));
        const std::uint64_t length = random.below(bound + 1);
        ends.push_back(static_cast<std::uint32_t>(begins[i] + length));
        if (length < 2 || length == 7) continue;
        (length <= longest_short ? expected_short : expected_long).emplace_back(begins[i], length);
      }
      std::stable_sort(expected_short.begin(), expected_short.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
      batch->assign(begins.data(), ends.data(), count,
                    [](std::uint64_t, std::uint64_t length) { return length != 7; });
      Pairs short_ones;
      Pairs long_ones;
      take_all(*batch, short_ones, long_ones);
      // Of one length, the order does not matter.
      std::sort(short_ones.begin(), short_ones.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second, a.first) < std::pair(b.second, b.first);
      });
      EXPECT_EQ(short_ones, expected_short);
      std::sort(long_ones.begin(), long_ones.end());
      EXPECT_EQ(long_ones, expected_long);
    }
  }
}

TEST(SegmentBatch, TakesSegmentsOfOneLength) {
  const std::vector<std::uint64_t> begins{40, 10, 70};
  for (const std::uint64_t length : {5, 16, 17, 5000}) {
    SegmentBatch batch(16);
    batch.assign_equal(begins.data(), begins.size(), length);
    Pairs short_ones;
    Pairs long_ones;
    take_all(batch, short_ones, long_ones);
    const Pairs expected{{40, length}, {10, length}, {70, length}};
    EXPECT_EQ(length <= 16 ? short_ones : long_ones, expected);
    EXPECT_TRUE((length <= 16 ? long_ones : short_ones).empty());
  }
}

}  // namespace
}  // namespace sortie::segsort
