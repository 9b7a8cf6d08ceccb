// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tests/bindings/keys.hpp"
#include "tests/bindings/place.hpp"

// The sorts of the C interface against std::stable_sort.
namespace sortie::test {
namespace {

using testing::HasSubstr;

/// A value of any size, made of its number.
std::vector<std::uint8_t> some_values(std::size_t size, std::size_t value_bytes) {
  std::vector<std::uint8_t> values(size * value_bytes);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::uint8_t>(i / value_bytes * 31 + i % value_bytes * 7);
  return values;
}

/// The positions of sorted keys, within each segment.
template <class Key>
std::vector<std::uint64_t> expected_positions(const std::vector<Key>& keys, const Offsets& offsets,
                                              bool descends) {
  std::vector<std::uint64_t> positions(keys.size());
  std::iota(positions.begin(), positions.end(), std::uint64_t{0});
  for (std::size_t s = 0; s < offsets.begins.size(); ++s) {
    std::stable_sort(positions.begin() + offsets.begins[s], positions.begin() + offsets.ends[s],
                     [&](std::uint64_t a, std::uint64_t b) {
                       return descends ? keys[a] > keys[b] : keys[a] < keys[b];
                     });
  }
  return positions;
}

template <class T>
std::vector<T> gathered(const std::vector<T>& from, const std::vector<std::uint64_t>& positions,
                        std::size_t count = 1) {
  std::vector<T> to;
  for (const std::uint64_t position : positions)
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(position * count),
              from.begin() + static_cast<std::ptrdiff_t>((position + 1) * count));
  return to;
}

template <class Key>
class CSort : public testing::Test {
 protected:
  /// Sorts keys and values at every place, in place and not, and compares.
  static void check(std::size_t size, std::size_t value_bytes, unsigned flags, bool segmented,
                    bool gaps = false) {
    const std::vector<Key> keys = some_keys<Key>(size);
    const std::vector<std::uint8_t> values = some_values(size, value_bytes);
    const auto items = static_cast<std::uint32_t>(size);
    const Offsets offsets = segmented ? some_segments(items, gaps) : Offsets{{0}, {items}};
    const auto positions = expected_positions(keys, offsets, (flags & SORTIE_DESCENDING) != 0);
    for (const Place& place : places()) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(testing::PrintToString(place) + (in_place ? " in place" : ""));
        const CContext context(place);
        PlacedArray<Key> in(place, keys);
        PlacedArray<std::uint8_t> values_in(place, values);
        PlacedArray<Key> out(place, size, Key{111});
        PlacedArray<std::uint8_t> values_out(place, values.size(), 0xee);
        PlacedArray<std::uint32_t> bounds(place, csr_or_pairs(offsets, gaps));
        const sortie_segments segments{offsets.begins.size(), SORTIE_U32, bounds.data(),
                                       bounds.data() + (gaps ? offsets.begins.size() : 1)};
        Key* const to = in_place ? in.data() : out.data();
        std::uint8_t* const values_to = in_place ? values_in.data() : values_out.data();
        const sortie_status status =
            segmented
                ? sortie_segmented_sort(context, place.memory, c_type<Key>, in.data(), to, size,
                                        values_in.data(), values_to, value_bytes, &segments, flags)
                : sortie_sort(context, place.memory, c_type<Key>, in.data(), to, size,
                              values_in.data(), values_to, value_bytes, flags);
        ASSERT_EQ(status, SORTIE_OK) << context.error();
        EXPECT_EQ((in_place ? in : out).items(), gathered(keys, positions));
        if (value_bytes != 0) {
          EXPECT_EQ((in_place ? values_in : values_out).items(),
                    gathered(values, positions, value_bytes));
        }
        if (!in_place) {
          EXPECT_EQ(in.items(), keys);
        }
      }
    }
  }

  /// Begins and ends, or the offsets of CSR.
  static std::vector<std::uint32_t> csr_or_pairs(const Offsets& offsets, bool gaps) {
    std::vector<std::uint32_t> bounds = offsets.begins;
    if (gaps) {
      bounds.insert(bounds.end(), offsets.ends.begin(), offsets.ends.end());
    } else {
      bounds.push_back(offsets.ends.empty() ? 0 : offsets.ends.back());
    }
    return bounds;
  }

  template <class Position>
  static void check_argsort(std::size_t size, sortie_type position_type, unsigned flags,
                            bool segmented) {
    const std::vector<Key> keys = some_keys<Key>(size);
    const auto items = static_cast<std::uint32_t>(size);
    const Offsets offsets = segmented ? some_segments(items, true) : Offsets{{0}, {items}};
    const auto expected = expected_positions(keys, offsets, (flags & SORTIE_DESCENDING) != 0);
    for (const Place& place : places()) {
      SCOPED_TRACE(testing::PrintToString(place));
      const CContext context(place);
      PlacedArray<Key> in(place, keys);
      PlacedArray<Position> positions(place, size, Position{77});
      PlacedArray<std::uint32_t> begins(place, offsets.begins);
      PlacedArray<std::uint32_t> ends(place, offsets.ends);
      const sortie_segments segments{offsets.begins.size(), SORTIE_U32, begins.data(), ends.data()};
      const sortie_status status =
          segmented ? sortie_segmented_argsort(context, place.memory, c_type<Key>, in.data(), size,
                                               &segments, position_type, positions.data(), flags)
                    : sortie_argsort(context, place.memory, c_type<Key>, in.data(), size,
                                     position_type, positions.data(), flags);
      ASSERT_EQ(status, SORTIE_OK) << context.error();
      const std::vector<Position> found = positions.items();
      EXPECT_TRUE(std::equal(
          found.begin(), found.end(), expected.begin(), expected.end(),
          [](Position a, std::uint64_t b) { return static_cast<std::uint64_t>(a) == b; }));
      EXPECT_EQ(in.items(), keys);
    }
  }
};

TYPED_TEST_SUITE(CSort, CKeys);

TYPED_TEST(CSort, KeysAndValuesOfEverySize) {
  for (const std::size_t value_bytes : {0, 1, 3, 4, 8, 12, 16, 24})
    this->check(3000, value_bytes, SORTIE_STABLE, false);
}

TYPED_TEST(CSort, EverySize) {
  for (const std::size_t size : {0, 1, 2, 17, 1000, 70'000})
    this->check(size, 4, SORTIE_STABLE, false);
}

TYPED_TEST(CSort, Descending) {
  this->check(3000, 0, SORTIE_DESCENDING, false);
  this->check(3000, 5, SORTIE_DESCENDING | SORTIE_STABLE, false);
  this->check(3000, 8, SORTIE_DESCENDING | SORTIE_STABLE, true, true);
}

TYPED_TEST(CSort, Segments) {
  for (const bool gaps : {false, true}) {
    for (const std::size_t value_bytes : {0, 4, 8, 7}) {
      this->check(5000, value_bytes, SORTIE_STABLE, true, gaps);
    }
    this->check(0, 4, SORTIE_STABLE, true, gaps);
  }
}

TYPED_TEST(CSort, Positions) {
  for (const bool segmented : {false, true}) {
    for (const unsigned flags : {0u, unsigned{SORTIE_DESCENDING}}) {
      this->template check_argsort<std::uint32_t>(3000, SORTIE_U32, flags, segmented);
      this->template check_argsort<std::int64_t>(3000, SORTIE_I64, flags, segmented);
    }
    this->template check_argsort<std::int32_t>(1, SORTIE_I32, 0, segmented);
    this->template check_argsort<std::uint64_t>(0, SORTIE_U64, 0, segmented);
  }
}

TEST(CSortErrors, NameTheArgument) {
  const CContext context;
  std::vector<std::uint32_t> keys{3, 1, 2};
  std::vector<std::uint32_t> out(3);
  const auto sort = [&](sortie_memory memory, sortie_type type, const void* from, void* to,
                        const void* values, void* values_to, std::size_t value_bytes,
                        unsigned flags) {
    return sortie_sort(context, memory, type, from, to, keys.size(), values, values_to, value_bytes,
                       flags);
  };
  EXPECT_EQ(sort(static_cast<sortie_memory>(7), SORTIE_U32, keys.data(), out.data(), nullptr,
                 nullptr, 0, 0),
            SORTIE_USAGE);
  EXPECT_EQ(context.error(), "memory: found 7, expected 0 (host) or 1 (device)");
  EXPECT_EQ(sort(SORTIE_HOST_MEMORY, SORTIE_C128, keys.data(), out.data(), nullptr, nullptr, 0, 0),
            SORTIE_USAGE);
  EXPECT_EQ(context.error(), "type: found c128, expected a type of keys, u8 to f64, f16 or bf16");
  EXPECT_EQ(sort(SORTIE_HOST_MEMORY, SORTIE_U32, nullptr, out.data(), nullptr, nullptr, 0, 0),
            SORTIE_USAGE);
  EXPECT_EQ(context.error(), "keys: found a null pointer, expected 3 elements");
  EXPECT_EQ(sort(SORTIE_HOST_MEMORY, SORTIE_U32, keys.data(), out.data(), nullptr, nullptr, 4, 0),
            SORTIE_USAGE);
  EXPECT_EQ(context.error(), "values: found a null pointer, expected 3 elements");
  EXPECT_EQ(sort(SORTIE_HOST_MEMORY, SORTIE_U32, keys.data(), out.data(), nullptr, nullptr, 0, 64),
            SORTIE_USAGE);
  EXPECT_THAT(context.error(), HasSubstr("flags: found 0x40"));
  EXPECT_EQ(
      sort(SORTIE_HOST_MEMORY, SORTIE_U32, keys.data(), keys.data(), out.data(), keys.data(), 4, 0),
      SORTIE_USAGE);
  EXPECT_THAT(context.error(), HasSubstr("in place"));
  EXPECT_EQ(out, std::vector<std::uint32_t>(3));
}

TEST(CSortErrors, SegmentsOutsideOfTheArrayChangeNothing) {
  const CContext context;
  const std::vector<float> keys{3, 1, 2, 0};
  struct Case {
    std::array<std::int64_t, 2> begins;
    std::array<std::int64_t, 2> ends;
    const char* message;
  };
  const std::vector<Case> cases{
      {{0, 2},
       {2, 5},
       "segmented_sort: segment 1: found offsets [2, 5), expected a range within [0, 4)"},
      {{0, 3},
       {2, 2},
       "segmented_sort: segment 1: found offsets [3, 2), expected a range within [0, 4)"},
      {{-1, 2}, {2, 4}, "segments: segment 0: found begin -1, expected 0 or more"},
      {{0, 2}, {2, -4}, "segments: segment 1: found end -4, expected 0 or more"}};
  for (const Case& one : cases) {
    std::vector<float> out = keys;
    const sortie_segments segments{2, SORTIE_I64, one.begins.data(), one.ends.data()};
    EXPECT_EQ(sortie_segmented_sort(context, SORTIE_HOST_MEMORY, SORTIE_F32, out.data(), out.data(),
                                    out.size(), nullptr, nullptr, 0, &segments, 0),
              SORTIE_INPUT);
    EXPECT_EQ(context.error(), one.message);
    EXPECT_EQ(out, keys);
  }
  const sortie_segments wrong{1, SORTIE_F32, keys.data(), keys.data()};
  std::vector<float> out = keys;
  EXPECT_EQ(sortie_segmented_sort(context, SORTIE_HOST_MEMORY, SORTIE_F32, out.data(), out.data(),
                                  out.size(), nullptr, nullptr, 0, &wrong, 0),
            SORTIE_USAGE);
  EXPECT_THAT(context.error(), HasSubstr("segments.offset_type: found f32"));
  EXPECT_EQ(sortie_segmented_sort(context, SORTIE_HOST_MEMORY, SORTIE_F32, out.data(), out.data(),
                                  out.size(), nullptr, nullptr, 0, nullptr, 0),
            SORTIE_USAGE);
}

/// Keys whose bits are given, of type F16 or BF16, sorted by the order of their numbers.
TEST(CHalfKeys, SortsAndPositions) {
  // In ascending order: -NaN, -infinity, -2, -0.0, 0.0, the least number, 1, infinity, NaN.
  const std::vector<std::uint16_t> f16{0xfe00, 0xfc00, 0xc000, 0x8000, 0x0000,
                                       0x0001, 0x3c00, 0x7c00, 0x7e00};
  const std::vector<std::uint16_t> bf16{0xffc0, 0xff80, 0xc000, 0x8000, 0x0000,
                                        0x0001, 0x3f80, 0x7f80, 0x7fc0};
  const std::vector<std::uint32_t> order{4, 7, 0, 8, 2, 5, 1, 6, 3};
  for (const auto& [type, sorted] : {std::pair(SORTIE_F16, f16), std::pair(SORTIE_BF16, bf16)}) {
    EXPECT_EQ(sortie_type_bytes(type), 2u);
    std::vector<std::uint16_t> keys(sorted.size());
    for (std::size_t i = 0; i < order.size(); ++i) keys[order[i]] = sorted[i];
    for (const Place& place : places()) {
      SCOPED_TRACE(testing::PrintToString(place));
      const CContext context(place);
      PlacedArray<std::uint16_t> in(place, keys);
      PlacedArray<std::uint16_t> out(place, keys.size(), 111);
      PlacedArray<std::uint32_t> positions(place, keys.size(), 77);
      ASSERT_EQ(sortie_sort(context, place.memory, type, in.data(), out.data(), keys.size(),
                            nullptr, nullptr, 0, 0),
                SORTIE_OK)
          << context.error();
      EXPECT_EQ(out.items(), sorted);
      ASSERT_EQ(sortie_argsort(context, place.memory, type, in.data(), keys.size(), SORTIE_U32,
                               positions.data(), 0),
                SORTIE_OK)
          << context.error();
      EXPECT_EQ(positions.items(), order);
    }
  }
}

TEST(CSortErrors, SizesBeyondTheAddressSpaceAreRefused) {
  const CContext context;
  std::uint64_t item = 1;
  for (const std::uint64_t size : {std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    EXPECT_EQ(sortie_sort(context, SORTIE_HOST_MEMORY, SORTIE_U64, &item, &item, size, nullptr,
                          nullptr, 0, 0),
              SORTIE_USAGE);
    EXPECT_THAT(context.error(), HasSubstr("expected fewer than 2^56 bytes"));
    EXPECT_EQ(
        sortie_argsort(context, SORTIE_HOST_MEMORY, SORTIE_U64, &item, size, SORTIE_U64, &item, 0),
        SORTIE_USAGE);
    sortie_array* result = nullptr;
    EXPECT_EQ(
        sortie_inverse_suffix_array(context, SORTIE_HOST_MEMORY, SORTIE_U32, &item, size, &result),
        SORTIE_USAGE);
  }
  EXPECT_EQ(sortie_sort(context, SORTIE_HOST_MEMORY, SORTIE_U8, &item, &item, 1, &item, &item,
                        std::size_t{1} << 60, 0),
            SORTIE_USAGE);
  // 32-bit positions of so many keys would not fit.
  EXPECT_EQ(sortie_argsort(context, SORTIE_HOST_MEMORY, SORTIE_U8, &item, std::uint64_t{1} << 32,
                           SORTIE_U32, &item, 0),
            SORTIE_INPUT);
  EXPECT_EQ(sortie_argsort(context, SORTIE_HOST_MEMORY, SORTIE_U8, &item,
                           (std::uint64_t{1} << 31) + 1, SORTIE_I32, &item, 0),
            SORTIE_INPUT);
  EXPECT_EQ(item, 1u);
}

TEST(CSortErrors, NothingToSortNeedsNoPointers) {
  const CContext context;
  std::uint64_t item = 1;
  EXPECT_EQ(sortie_sort(context, SORTIE_HOST_MEMORY, SORTIE_U64, &item, nullptr, 0, nullptr,
                        nullptr, 4, 0),
            SORTIE_OK);
  EXPECT_EQ(sortie_sort(context, SORTIE_HOST_MEMORY, SORTIE_U64, nullptr, nullptr, 0, &item,
                        nullptr, 4, 0),
            SORTIE_OK);
}

TEST(CSortErrors, PositionsMustBeIntegers) {
  const CContext context;
  std::vector<float> keys{3, 1, 2, 0};
  EXPECT_EQ(sortie_argsort(context, SORTIE_HOST_MEMORY, SORTIE_F32, keys.data(), keys.size(),
                           SORTIE_F64, keys.data(), 0),
            SORTIE_USAGE);
  EXPECT_EQ(context.error(), "position_type: found f64, expected u32, i32, u64 or i64");
}

}  // namespace
}  // namespace sortie::test
