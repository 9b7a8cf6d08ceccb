// SPDX-License-Identifier: Apache-2.0

// Offsets that an iterator gives.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cuda/check.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_segmented_sort.hpp"
#include "sortie/device_segments.hpp"

namespace sortie {
namespace {

/// As a transforming iterator over a counting one: offset i is 3 i.
struct ThreesIterator {
  __device__ std::int64_t operator[](std::int64_t i) const { return 3 * i; }
};

TEST(DeviceSegmentsOfIterator, SortsTriples) {
  constexpr std::int64_t segments = 70'000;
  std::vector<std::uint16_t> keys(3 * segments);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint16_t>(i * 40'503);
  DeviceBuffer<std::uint16_t> in(std::span<const std::uint16_t>(keys), nullptr);
  DeviceBuffer<std::uint16_t> out(keys.size(), nullptr);
  DeviceBuffer<std::uint32_t> offsets(segments + 1, nullptr);
  ASSERT_EQ(offsets_of_iterator(ThreesIterator{}, segments + 1, offsets.data()), cudaSuccess);
  std::size_t bytes = 0;
  const auto sort = [&](void* storage) {
    return DeviceSegmentedSort::SortKeys(storage, bytes,
                                         static_cast<const std::uint16_t*>(in.data()), out.data(),
                                         static_cast<std::int64_t>(keys.size()), segments,
                                         static_cast<const std::uint32_t*>(offsets.data()),
                                         static_cast<const std::uint32_t*>(offsets.data()) + 1);
  };
  ASSERT_EQ(sort(nullptr), cudaSuccess);
  DeviceBuffer<std::byte> storage(bytes, nullptr);
  ASSERT_EQ(sort(storage.data()), cudaSuccess);
  std::vector<std::uint16_t> sorted(keys.size());
  out.copy_to(sorted);
  check_cuda(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < keys.size(); i += 3)
    std::sort(keys.begin() + static_cast<std::ptrdiff_t>(i),
              keys.begin() + static_cast<std::ptrdiff_t>(i + 3));
  EXPECT_EQ(sorted, keys);
  // The same by iterators.
  DeviceBuffer<std::uint16_t> other(keys.size(), nullptr);
  const auto sort_by_iterators = [&](void* place) {
    return DeviceSegmentedSort::SortKeys(place, bytes, static_cast<const std::uint16_t*>(in.data()),
                                         other.data(), static_cast<std::int64_t>(keys.size()),
                                         segments, ThreesIterator{}, offsets.data() + 1);
  };
  ASSERT_EQ(sort_by_iterators(nullptr), cudaSuccess);
  DeviceBuffer<std::byte> more_storage(bytes, nullptr);
  std::size_t all = bytes;
  bytes = all - 1;
  EXPECT_EQ(sort_by_iterators(more_storage.data()), cudaErrorInvalidValue);
  bytes = all;
  ASSERT_EQ(sort_by_iterators(more_storage.data()), cudaSuccess);
  std::vector<std::uint16_t> sorted_by_iterators(keys.size());
  other.copy_to(sorted_by_iterators);
  check_cuda(cudaDeviceSynchronize());
  EXPECT_EQ(sorted_by_iterators, keys);
  EXPECT_EQ(offsets_of_iterator(ThreesIterator{}, 0, offsets.data()), cudaSuccess);
  EXPECT_EQ(offsets_of_iterator(ThreesIterator{}, -1, offsets.data()), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace sortie
