// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/bindings/keys.hpp"
#include "tests/bindings/place.hpp"

// The selections of the C interface against std::stable_sort.
namespace sortie::test {
namespace {

using testing::HasSubstr;

/// The places of the results of all segments: positions, -1 where there are none.
template <class Key>
std::vector<std::int64_t> expected_places(const std::vector<Key>& keys, const Offsets& offsets,
                                          std::uint64_t k, bool descends) {
  std::vector<std::int64_t> places;
  for (std::size_t s = 0; s < offsets.begins.size(); ++s) {
    std::vector<std::int64_t> positions(offsets.ends[s] - offsets.begins[s]);
    std::iota(positions.begin(), positions.end(), offsets.begins[s]);
    const auto key = [&](std::int64_t i) { return keys[static_cast<std::size_t>(i)]; };
    std::stable_sort(positions.begin(), positions.end(), [&](std::int64_t a, std::int64_t b) {
      return descends ? key(a) > key(b) : key(a) < key(b);
    });
    positions.resize(k, -1);
    places.insert(places.end(), positions.begin(), positions.end());
  }
  return places;
}

template <class Key>
class CTopK : public testing::Test {
 protected:
  /// Selects at every place, and compares.
  template <class Position>
  static void check(std::size_t size, std::uint64_t k, sortie_type position_type, unsigned flags,
                    bool segmented, bool has_keys = true) {
    const std::vector<Key> keys = some_keys<Key>(size);
    const auto items = static_cast<std::uint32_t>(size);
    const Offsets offsets = segmented ? some_segments(items, true) : Offsets{{0}, {items}};
    std::vector<std::int64_t> expected =
        expected_places(keys, offsets, k, (flags & SORTIE_DESCENDING) != 0);
    for (const Place& place : places()) {
      SCOPED_TRACE(testing::PrintToString(place));
      const CContext context(place);
      PlacedArray<Key> in(place, keys);
      PlacedArray<Key> out(place, has_keys ? expected.size() : 0, Key{111});
      PlacedArray<Position> found(place, expected.size(), Position{77});
      PlacedArray<std::uint32_t> begins(place, offsets.begins);
      PlacedArray<std::uint32_t> ends(place, offsets.ends);
      const sortie_segments segments{offsets.begins.size(), SORTIE_U32, begins.data(), ends.data()};
      Key* const to = has_keys ? out.data() : nullptr;
      const sortie_status status =
          segmented ? sortie_segmented_top_k(context, place.memory, c_type<Key>, in.data(), size,
                                             &segments, k, to, position_type, found.data(), flags)
                    : sortie_top_k(context, place.memory, c_type<Key>, in.data(), size, k, to,
                                   position_type, found.data(), flags);
      ASSERT_EQ(status, SORTIE_OK) << context.error();
      std::vector<Position> positions = found.items();
      std::vector<Key> top = out.items();
      if (has_keys) {
        for (std::size_t i = 0; i < top.size(); ++i) {
          const bool is_none = positions[i] == static_cast<Position>(-1);
          ASSERT_EQ(top[i], is_none ? Key{0} : keys[static_cast<std::size_t>(positions[i])]) << i;
        }
      }
      std::vector<Position> wanted(expected.begin(), expected.end());
      if ((flags & SORTIE_UNSORTED) != 0) {
        for (std::uint64_t i = 0; i < wanted.size(); i += k) {
          const auto row = static_cast<std::ptrdiff_t>(i);
          const auto end = static_cast<std::ptrdiff_t>(i + k);
          std::sort(wanted.begin() + row, wanted.begin() + end);
          std::sort(positions.begin() + row, positions.begin() + end);
        }
      }
      EXPECT_EQ(positions, wanted);
      EXPECT_EQ(in.items(), keys);
    }
  }
};
TYPED_TEST_SUITE(CTopK, CKeys);

TYPED_TEST(CTopK, OneArray) {
  for (const unsigned flags : {0u, unsigned{SORTIE_DESCENDING},
                               unsigned{SORTIE_UNSORTED | SORTIE_DESCENDING | SORTIE_STABLE}}) {
    this->template check<std::int64_t>(3000, 17, SORTIE_I64, flags, false);
    this->template check<std::uint32_t>(3000, 700, SORTIE_U32, flags, false);
  }
  this->template check<std::int32_t>(70'000, 3000, SORTIE_I32, SORTIE_DESCENDING, false);
  this->template check<std::uint64_t>(5, 9, SORTIE_U64, 0, false);
  this->template check<std::uint64_t>(0, 3, SORTIE_U64, 0, false);
  this->template check<std::uint64_t>(3, 0, SORTIE_U64, 0, false);
}

TYPED_TEST(CTopK, Segments) {
  for (const std::uint64_t k : {1, 8, 40, 100}) {
    for (const unsigned flags : {0u, unsigned{SORTIE_DESCENDING}, unsigned{SORTIE_UNSORTED}})
      this->template check<std::int32_t>(5000, k, SORTIE_I32, flags, true);
    this->template check<std::uint64_t>(5000, k, SORTIE_U64, SORTIE_DESCENDING, true, false);
  }
  this->template check<std::int64_t>(0, 3, SORTIE_I64, 0, true);
}

TEST(CTopKResults, KeysAlone) {
  for (const Place& place : places()) {
    SCOPED_TRACE(testing::PrintToString(place));
    const CContext context(place);
    PlacedArray<float> in(place, std::vector<float>{3, -1, 4, -1, 5});
    PlacedArray<float> out(place, 3, 111.0F);
    // The type of positions that are not wanted has no meaning.
    ASSERT_EQ(sortie_top_k(context, place.memory, SORTIE_F32, in.data(), 5, 3, out.data(),
                           SORTIE_F64, nullptr, SORTIE_DESCENDING),
              SORTIE_OK)
        << context.error();
    EXPECT_EQ(out.items(), (std::vector<float>{5, 4, 3}));
  }
}

/// By the numbers that the bits are: NaN is the greatest key, and the lowest of two equal positions
/// comes first.
TEST(CTopKResults, HalfKeys) {
  const std::vector<std::uint16_t> f16{0x3c00, 0xfc00, 0x7e00, 0x3c00, 0x8000, 0x0000};
  const std::vector<std::uint16_t> bf16{0x3f80, 0xff80, 0x7fc0, 0x3f80, 0x8000, 0x0000};
  for (const auto& [type, keys] : {std::pair(SORTIE_F16, f16), std::pair(SORTIE_BF16, bf16)}) {
    for (const Place& place : places()) {
      SCOPED_TRACE(testing::PrintToString(place));
      const CContext context(place);
      PlacedArray<std::uint16_t> in(place, keys);
      PlacedArray<std::uint32_t> positions(place, 4, 77);
      ASSERT_EQ(sortie_top_k(context, place.memory, type, in.data(), keys.size(), 4, nullptr,
                             SORTIE_U32, positions.data(), SORTIE_DESCENDING),
                SORTIE_OK)
          << context.error();
      EXPECT_EQ(positions.items(), (std::vector<std::uint32_t>{2, 0, 3, 5}));
      ASSERT_EQ(sortie_top_k(context, place.memory, type, in.data(), keys.size(), 4, nullptr,
                             SORTIE_U32, positions.data(), 0),
                SORTIE_OK);
      EXPECT_EQ(positions.items(), (std::vector<std::uint32_t>{1, 4, 5, 0}));
    }
  }
}

TEST(CTopKErrors, NameTheArgument) {
  const CContext context;
  const std::vector<float> keys{3, 1, 2, 0};
  std::array<float, 2> top{};
  std::array<std::uint32_t, 2> positions{};
  const auto select = [&](std::uint64_t k, void* to, sortie_type position_type, void* places,
                          unsigned flags, std::uint64_t size = 4) {
    return sortie_top_k(context, SORTIE_HOST_MEMORY, SORTIE_F32, keys.data(), size, k, to,
                        position_type, places, flags);
  };
  EXPECT_EQ(select(2, nullptr, SORTIE_U32, nullptr, 0), SORTIE_USAGE);
  EXPECT_EQ(context.error(),
            "top_k: found no array for the results, expected one for keys or for positions");
  EXPECT_EQ(select(0, nullptr, SORTIE_U32, nullptr, 0), SORTIE_OK);
  EXPECT_EQ(select(2, top.data(), SORTIE_F32, positions.data(), 0), SORTIE_USAGE);
  EXPECT_EQ(context.error(), "position_type: found f32, expected u32, i32, u64 or i64");
  EXPECT_EQ(select(2, top.data(), SORTIE_U32, positions.data(), 8), SORTIE_USAGE);
  EXPECT_THAT(context.error(), HasSubstr("flags: found 0x8"));
  EXPECT_EQ(select(2, top.data(), SORTIE_I32, positions.data(), 0, (std::uint64_t{1} << 31) + 1),
            SORTIE_INPUT);
  EXPECT_EQ(select(std::uint64_t{1} << 53, top.data(), SORTIE_U32, positions.data(), 0),
            SORTIE_USAGE);
  EXPECT_EQ(context.error(),
            "k: found 9007199254740992 for 1 segments, expected fewer than 2^53"
            " results");
  // The flag of selections is none of the sorts.
  EXPECT_EQ(sortie_sort(context, SORTIE_HOST_MEMORY, SORTIE_F32, keys.data(), top.data(), 2,
                        nullptr, nullptr, 0, SORTIE_UNSORTED),
            SORTIE_USAGE);
}

TEST(CTopKErrors, SegmentsOutsideOfTheArrayChangeNothing) {
  const CContext context;
  const std::vector<float> keys{3, 1, 2, 0};
  const auto select = [&](std::array<std::int64_t, 2> begins, std::array<std::int64_t, 2> ends) {
    std::array<std::int64_t, 4> positions{77, 77, 77, 77};
    const sortie_segments segments{2, SORTIE_I64, begins.data(), ends.data()};
    EXPECT_EQ(sortie_segmented_top_k(context, SORTIE_HOST_MEMORY, SORTIE_F32, keys.data(), 4,
                                     &segments, 2, nullptr, SORTIE_I64, positions.data(), 0),
              SORTIE_INPUT);
    EXPECT_EQ(positions, (std::array<std::int64_t, 4>{77, 77, 77, 77}));
    return context.error();
  };
  EXPECT_EQ(select({0, 2}, {2, 5}),
            "segmented_top_k: segment 1: found offsets [2, 5), expected a range within [0, 4)");
  EXPECT_EQ(select({0, -2}, {2, 4}), "segments: segment 1: found begin -2, expected 0 or more");
  EXPECT_EQ(sortie_segmented_top_k(context, SORTIE_HOST_MEMORY, SORTIE_F32, keys.data(), 4, nullptr,
                                   2, nullptr, SORTIE_I64, nullptr, 0),
            SORTIE_USAGE);
}

}  // namespace
}  // namespace sortie::test
