// SPDX-License-Identifier: Apache-2.0

// The device entry points over every pattern of keys and every kind of bit range.

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/segsort/device_sort_case.hpp"

namespace sortie::test {
namespace {

/// Segments of every way of sorting, from two items to a giant.
SegmentShape shape_of_all_ways() {
  std::vector<std::uint64_t> lengths = border_lengths();
  for (std::uint64_t length = 2; length <= 40; ++length) lengths.insert(lengths.end(), 20, length);
  for (const std::uint64_t length : {600, 1500, 3000, 6000, 12'000, 24'000, 100'000})
    lengths.push_back(length);
  return shuffled(in_a_row("all ways", lengths), 41);
}

template <class Key>
class DeviceKeyPatternTest : public testing::Test {
 protected:
  static void check_all(KeyPlacement placement, const DeviceSortOptions& options, Storage storage) {
    const SegmentShape shape = shape_of_all_ways();
    for (const auto& [pattern, name] : key_patterns) {
      SCOPED_TRACE(name);
      DeviceSortCase<Key>(shape, keys_of<Key>(shape, pattern, placement)).check(options, storage);
      if (HasFatalFailure()) return;
    }
  }
};
TYPED_TEST_SUITE(DeviceKeyPatternTest, AllKeys);

TYPED_TEST(DeviceKeyPatternTest, Ascending) {
  this->check_all(KeyPlacement::whole, {Order::ascending, false}, Storage::arrays);
}

TYPED_TEST(DeviceKeyPatternTest, DescendingAndStable) {
  this->check_all(KeyPlacement::whole, {Order::descending, true}, Storage::double_buffers);
}

TYPED_TEST(DeviceKeyPatternTest, DescendingInTheHighHalfOfTheBits) {
  this->check_all(KeyPlacement::high_half, {Order::descending, false}, Storage::arrays);
}

TYPED_TEST(DeviceKeyPatternTest, InTheLowHalfOfTheBits) {
  this->check_all(KeyPlacement::low_half, {Order::ascending, true}, Storage::double_buffers);
}

template <class Key>
class DeviceBitRangeTest : public testing::Test {};
TYPED_TEST_SUITE(DeviceBitRangeTest, UnsignedKeys);

TYPED_TEST(DeviceBitRangeTest, KeysThatAgreeInTheRangeKeepTheirOrder) {
  constexpr int bits = key_bits(key_type_of<TypeParam>());
  const SegmentShape shape = scattered(shape_of_all_ways(), 1, 42);
  const std::pair<int, int> ranges[] = {
      {0, 0},  {0, 1},     {0, 8},   {0, 11},          {0, bits - 1},    {0, bits},
      {3, 4},  {5, 17},    {7, 7},   {8, 16},          {16, 32},         {1, bits},
      {9, 31}, {20, bits}, {24, 25}, {bits - 1, bits}, {bits / 2, bits}, {bits, bits}};
  for (const KeyPattern pattern : {KeyPattern::random_bits, KeyPattern::last_or_random}) {
    DeviceSortCase<TypeParam> sort_case(shape, keys_of<TypeParam>(shape, pattern));
    for (const auto& [begin_bit, end_bit] : ranges) {
      sort_case.check({Order::ascending, false, begin_bit, end_bit});
      sort_case.check({Order::descending, true, begin_bit, end_bit}, Storage::double_buffers);
      if (this->HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace sortie::test
