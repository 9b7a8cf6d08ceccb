// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_segments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/segsort/device_sort_case.hpp"

namespace sortie::test {
namespace {

template <class Offset>
class DeviceSegmentsTest : public testing::Test {};
using OffsetTypes = testing::Types<std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(DeviceSegmentsTest, OffsetTypes);

template <class Id, class Offset>
void check_offsets_of_ids() {
  Stream stream;
  for (const SegmentShape& shape : segment_shapes()) {
    if (shape.begins.empty() || shape.ends.back() != shape.num_items ||
        !std::is_sorted(shape.begins.begin(), shape.begins.end()))
      continue;
    SCOPED_TRACE(shape.name);
    std::vector<Id> ids;
    std::vector<Offset> expected;
    for (std::size_t s = 0; s < shape.begins.size(); ++s) {
      ids.insert(ids.end(), shape.ends[s] - shape.begins[s], static_cast<Id>(s));
      expected.push_back(static_cast<Offset>(shape.begins[s]));
    }
    expected.resize(shape.begins.size() + 4, static_cast<Offset>(shape.num_items));
    GuardedArray<Id> device_ids(ids, stream);
    GuardedArray<Offset> offsets(expected.size(), stream);
    ASSERT_EQ(offsets_of_ids(static_cast<const Id*>(device_ids.data()), std::ssize(ids),
                             std::ssize(expected) - 1, offsets.data(), stream),
              cudaSuccess);
    EXPECT_TRUE(offsets.holds(expected));
  }
}

TYPED_TEST(DeviceSegmentsTest, OffsetsOfIds) {
  check_offsets_of_ids<std::uint32_t, TypeParam>();
  check_offsets_of_ids<std::int64_t, TypeParam>();
}

TYPED_TEST(DeviceSegmentsTest, OffsetsOfLength) {
  Stream stream;
  const std::vector<TypeParam> expected{0, 30, 60, 90, 100, 100};
  GuardedArray<TypeParam> offsets(expected.size(), stream);
  ASSERT_EQ(offsets_of_length(30, 100, 5, offsets.data(), stream), cudaSuccess);
  EXPECT_TRUE(offsets.holds(expected));
  EXPECT_EQ(offsets_of_length(30, -1, 5, offsets.data(), stream), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace sortie::test
