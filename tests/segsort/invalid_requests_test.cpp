// SPDX-License-Identifier: Apache-2.0

// Requests that segmented sort refuses; nothing may have been sorted then.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sortie/error.hpp"
#include "sortie/segmented_sort.hpp"
#include "tests/support/backend.hpp"

namespace sortie::test {
namespace {

template <class Offset, class Key = std::uint32_t>
void expect_refused(const std::vector<Offset>& begins, const std::vector<Offset>& ends,
                    const SegmentedSortOptions& options, ErrorKind kind, const char* message) {
  std::vector<Key> keys(10);
  std::iota(keys.rbegin(), keys.rend(), Key{0});
  const std::vector<Key> before = keys;
  try {
    segmented_sort(context(), std::span<Key>(keys), std::span<const Offset>(begins),
                   std::span<const Offset>(ends), options);
    ADD_FAILURE() << "not refused; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_STREQ(error.what(), message);
  }
  EXPECT_EQ(keys, before);
}

TEST(InvalidSegmentedSort, EndBeforeBegin) {
  expect_refused<std::uint32_t>({0, 5, 6}, {2, 4, 8}, {}, ErrorKind::input,
                                "segmented_sort: segment 1: found offsets [5, 4), expected a range "
                                "within [0, 10)");
}

TEST(InvalidSegmentedSort, OffsetsBeyondTheItems) {
  const char* message =
      "segmented_sort: segment 1: found offsets [5, 11), expected a range within [0, 10)";
  expect_refused<std::uint32_t>({0, 5}, {2, 11}, {}, ErrorKind::input, message);
  expect_refused<std::int64_t>({0, 5}, {2, 11}, {}, ErrorKind::input, message);
}

TEST(InvalidSegmentedSort, EmptySegmentBeyondTheItems) {
  expect_refused<std::uint64_t>({12}, {12}, {}, ErrorKind::input,
                                "segmented_sort: segment 0: found offsets [12, 12), expected a "
                                "range within [0, 10)");
}

TEST(InvalidSegmentedSort, NegativeOffset) {
  const std::vector<std::int32_t> begins{-1};
  const std::vector<std::int32_t> ends{3};
  std::vector<float> keys(10);
  EXPECT_THROW(
      segmented_sort(context(), std::span<float>(keys), std::span<const std::int32_t>(begins),
                     std::span<const std::int32_t>(ends)),
      Error);
}

// By the function for types that are known at run time only.
TEST(InvalidSegmentedSort, WidthsThatAreNotSorted) {
  std::vector<std::uint16_t> keys = {3, 1, 2};
  std::vector<std::uint8_t> values = {0, 1, 2};
  const std::vector<std::uint32_t> begins{0};
  const std::vector<std::uint32_t> ends{3};
  segsort::Request request;
  request.num_items = keys.size();
  request.keys = keys.data();
  request.begin_offsets = {begins.data(), 4, begins.size()};
  request.end_offsets = {ends.data(), 4, ends.size()};
  const auto expect_message = [&](const char* message) {
    try {
      segsort::sort(context(), request);
      ADD_FAILURE() << "not refused; expected: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_STREQ(error.what(), message);
    }
    EXPECT_EQ(keys, (std::vector<std::uint16_t>{3, 1, 2}));
  };
  request.key_type = KeyType::i16;
  request.options.end_bit = 9;
  expect_message(
      "segmented_sort: found bits [0, 9) of a signed or floating-point key, expected all bits of "
      "it, "
      "or unsigned keys");
  request.key_type = KeyType::u16;
  request.options.end_bit = 17;
  expect_message("segmented_sort: found bits [0, 17), expected a range within [0, 16)");
  request.options.end_bit = -1;
  request.values = values.data();
  request.value_bytes = 1;
  expect_message("segmented_sort: found values of 1 bytes, expected 0, 4 or 8");
  request.value_bytes = 0;
  request.end_offsets.bytes = 2;
  expect_message("segmented_sort: found offsets of 2 bytes, expected 4 or 8");
}

TEST(InvalidSegmentedSort, OffsetsOfDifferentSizes) {
  expect_refused<std::uint32_t>({0, 5}, {5}, {}, ErrorKind::usage,
                                "segmented_sort: found 2 begin offsets and 1 end offsets, expected "
                                "the same number of each");
}

TEST(InvalidSegmentedSort, ValuesOfAnotherSize) {
  std::vector<std::uint32_t> keys(10);
  std::vector<double> values(9);
  const std::vector<std::uint32_t> begins{0};
  const std::vector<std::uint32_t> ends{9};
  try {
    segmented_sort(context(), std::span<std::uint32_t>(keys), std::span<double>(values),
                   std::span<const std::uint32_t>(begins), std::span<const std::uint32_t>(ends));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(),
                 "segmented_sort: found a number of values other than the number of keys, expected "
                 "one value per key");
  }
}

TEST(InvalidSegmentedSort, BitRangeBeyondTheKey) {
  expect_refused<std::uint32_t>({0}, {5}, {Order::ascending, false, 0, 33}, ErrorKind::usage,
                                "segmented_sort: found bits [0, 33), expected a range within "
                                "[0, 32)");
  expect_refused<std::uint32_t>({0}, {5}, {Order::ascending, false, 9, 8}, ErrorKind::usage,
                                "segmented_sort: found bits [9, 8), expected a range within "
                                "[0, 32)");
  expect_refused<std::uint32_t>({0}, {5}, {Order::ascending, false, -1, 8}, ErrorKind::usage,
                                "segmented_sort: found bits [-1, 8), expected a range within "
                                "[0, 32)");
}

TEST(InvalidSegmentedSort, BitRangeOfSignedOrFloatingPointKeys) {
  const SegmentedSortOptions options{Order::ascending, false, 0, 8};
  const char* message =
      "segmented_sort: found bits [0, 8) of a signed or floating-point key, expected all bits of "
      "it, or unsigned keys";
  expect_refused<std::uint32_t, std::int32_t>({0}, {5}, options, ErrorKind::usage, message);
  expect_refused<std::uint32_t, float>({0}, {5}, options, ErrorKind::usage, message);
  expect_refused<std::uint32_t, double>({0}, {5}, options, ErrorKind::usage, message);
}

TEST(InvalidSegmentedSort, TooSmallAMemoryBudget) {
  if (backend() != Backend::host) GTEST_SKIP() << "the budget of the host";
  Context small = context();
  small.memory_budget = 1000;
  std::vector<std::uint64_t> keys(10'000);
  const std::vector<std::uint32_t> begins{0};
  const std::vector<std::uint32_t> ends{10'000};
  try {
    segmented_sort(small, std::span<std::uint64_t>(keys), std::span<const std::uint32_t>(begins),
                   std::span<const std::uint32_t>(ends));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    EXPECT_THAT(error.what(), testing::HasSubstr("scratch of segmented sort"));
  }
}

}  // namespace
}  // namespace sortie::test
