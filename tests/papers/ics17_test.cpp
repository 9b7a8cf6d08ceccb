// SPDX-License-Identifier: Apache-2.0

// The paper's own design, papers::ics17, against the same reference as the tuned policy.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "papers/ics17/sort_ics17.hpp"
#include "tests/segsort/device_sort_case.hpp"

namespace sortie::test {
namespace {

DeviceSortOptions ics17(Order order, bool stable, int begin_bit = 0, int end_bit = -1) {
  return {order, stable, begin_bit, end_bit, nullptr, papers::ics17};
}

template <class Key>
class DeviceIcs17Test : public testing::Test {};
TYPED_TEST_SUITE(DeviceIcs17Test, AllKeys);

TYPED_TEST(DeviceIcs17Test, Shapes) {
  const SegmentShape shapes[] = {
      in_a_row("lengths 0 to 600", lengths_below(601)),
      in_a_row("about powers of two", lengths_about_powers_of_two(1U << 14)),
      in_a_row("power law", power_law_lengths(5'000, 1.5, 20'000, 51)),
      in_a_row("giants among dwarfs", giants_among_dwarfs()),
      scattered(mixed_shape(), 3, 52),
  };
  for (const SegmentShape& shape : shapes) {
    DeviceSortCase<TypeParam> sort_case(
        shape, make_keys<TypeParam>(KeyPattern::last_or_random, shape.num_items));
    sort_case.check(ics17(Order::ascending, false));
    sort_case.check(ics17(Order::descending, true));
    sort_case.check(ics17(Order::ascending, true), Storage::double_buffers);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceIcs17Test, KeyPatterns) {
  const SegmentShape shape = mixed_shape();
  for (const auto& [pattern, name] : key_patterns) {
    SCOPED_TRACE(name);
    DeviceSortCase<TypeParam> sort_case(shape, keys_of<TypeParam>(shape, pattern));
    sort_case.check(ics17(Order::ascending, true));
    sort_case.check(ics17(Order::descending, false), Storage::double_buffers);
    if (this->HasFatalFailure()) return;
  }
}

TEST(DeviceIcs17BitRangeTest, StableSortsComparePartsOfKeys) {
  const SegmentShape shape = mixed_shape();
  DeviceSortCase<std::uint64_t> sort_case(
      shape, make_keys<std::uint64_t>(KeyPattern::random_bits, shape.num_items));
  sort_case.check(ics17(Order::ascending, true, 0, 8));
  sort_case.check(ics17(Order::descending, true, 30, 41), Storage::double_buffers);
}

TEST(DeviceIcs17CountTest, NeedsTheNumberOfSegmentsOnTheHost) {
  const Stream stream;
  const DeviceBuffer<std::int64_t> count(1, stream);
  DeviceSortOptions options = ics17(Order::ascending, false);
  options.d_num_segments = count.data();
  std::size_t bytes = 0;
  const std::uint32_t* none = nullptr;
  EXPECT_EQ(
      DeviceSegmentedSort::SortKeys(nullptr, bytes, none, static_cast<std::uint32_t*>(nullptr), 10,
                                    2, none, none, options, stream),
      cudaErrorNotSupported);
}

}  // namespace
}  // namespace sortie::test
