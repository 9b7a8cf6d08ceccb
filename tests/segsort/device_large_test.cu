// SPDX-License-Identifier: Apache-2.0

// Sizes past 2^31 items and 2^26 segments, which only a GPU with much memory can hold: counts must
// be 64 bits wide. Made and checked on the device.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/cuda/check.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_segmented_sort.hpp"

namespace sortie {
namespace {

constexpr unsigned block_threads = 256;
constexpr unsigned blocks = 4096;

// The threads of the grid go over all items, each a grid apart.
__device__ std::uint64_t first_item() {
  return std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
}
constexpr std::uint64_t grid_threads = std::uint64_t{blocks} * block_threads;

template <class Item, class Function>
__global__ void __launch_bounds__(block_threads)
    fill_kernel(Item* items, std::uint64_t count, Function function) {
  for (std::uint64_t i = first_item(); i < count; i += grid_threads) items[i] = function(i);
}

template <class Holds>
__global__ void __launch_bounds__(block_threads)
    count_faults_kernel(std::uint64_t count, Holds holds, unsigned long long* faults) {
  for (std::uint64_t i = first_item(); i < count; i += grid_threads)
    if (!holds(i)) atomicAdd(faults, 1ULL);
}

/// items[i] = function(i)
template <class Item, class Function>
void fill(DeviceBuffer<Item>& items, Function function) {
  fill_kernel<<<blocks, block_threads>>>(items.data(), items.size(), function);
  check_cuda(cudaGetLastError());
}

/// For how many of the numbers below `count` it does not hold.
template <class Holds>
std::uint64_t count_faults(std::uint64_t count, Holds holds) {
  DeviceBuffer<unsigned long long> faults(std::vector<unsigned long long>{0}, nullptr);
  count_faults_kernel<<<blocks, block_threads>>>(count, holds, faults.data());
  check_cuda(cudaGetLastError());
  unsigned long long found = 0;
  check_cuda(cudaMemcpy(&found, faults.data(), sizeof found, cudaMemcpyDeviceToHost));
  return found;
}

/// Bijection of 0 .. 2^32-1 that leaves no order: the keys are its values, all distinct.
struct Scramble {
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return static_cast<std::uint32_t>(i) * 2654435761u;
  }
};

/// key of item i of a descending run of `count` items
struct Descending {
  std::uint64_t count;
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return static_cast<std::uint32_t>(count - 1 - i);
  }
};

struct Truncate {
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return static_cast<std::uint32_t>(i);
  }
};

struct Itself {
  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const { return i; }
};

/// A thousand keys, each of them many times and everywhere.
struct Thousand {
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return Scramble{}(i) % 1000u;
  }
};

/// Whether item i of the result of sorting pairs (key_of(j), j) may stand where it does. When all
/// may, the result is the stable one: (key, j) ascends strictly, so no j stands twice.
template <class KeyOf>
struct IsInStableOrder {
  const std::uint32_t* keys;
  const std::uint32_t* values;
  std::uint64_t count;
  KeyOf key_of;

  __device__ bool operator()(std::uint64_t i) const {
    if (values[i] >= count || keys[i] != key_of(values[i])) return false;
    if (i == 0) return true;
    return keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && values[i - 1] < values[i]);
  }
};

/// Many empty segments, and three with items: the first offsets and ends of all of them.
struct FewItems {
  static constexpr std::uint64_t segments = (std::uint64_t{1} << 26) + 3;
  static constexpr std::uint32_t items = 7 + 300 + 5000;

  /// begin of segment `i`, and end of segment i - 1
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return (i > 5 ? 7 : 0) + (i > segments / 2 ? 300 : 0) + (i > segments - 2 ? 5000 : 0);
  }

  /// where item `i` comes from when each segment of `Descending` keys is sorted
  __host__ __device__ static std::uint32_t origin(std::uint64_t i) {
    const std::uint32_t first = i < 7 ? 0 : i < 307 ? 7 : 307;
    const std::uint32_t last = i < 7 ? 7 : i < 307 ? 307 : items;
    return first + last - 1 - static_cast<std::uint32_t>(i);
  }
};

struct FewItemsOrigin {
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return FewItems::origin(i);
  }
};

struct FewItemsKey {
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return Descending{FewItems::items}(FewItems::origin(i));
  }
};

/// Offsets of segments of which all but the last three, of a thousand items each, are empty.
struct ThreeAtTheEnd {
  std::uint64_t segments;
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return i + 3 <= segments ? 0 : static_cast<std::uint32_t>(i + 3 - segments) * 1000;
  }
};

struct ThreeAtTheEndOrigin {
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    const auto item = static_cast<std::uint32_t>(i);
    return item / 1000 * 1000 + 999 - item % 1000;
  }
};

bool enough_memory(std::uint64_t bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  return free > bytes;
}

void sort(const DeviceBuffer<std::uint32_t>& in, DeviceBuffer<std::uint32_t>& out,
          const std::vector<std::uint64_t>& offsets) {
  const DeviceBuffer<std::uint64_t> device_offsets(offsets, nullptr);
  const auto segments = static_cast<std::int64_t>(offsets.size() - 1);
  const auto items = static_cast<std::int64_t>(in.size());
  std::size_t bytes = 0;
  check_cuda(DeviceSegmentedSort::SortKeys(nullptr, bytes, in.data(), out.data(), items, segments,
                                           device_offsets.data(), device_offsets.data() + 1));
  DeviceBuffer<char> temporary(bytes, nullptr);
  check_cuda(DeviceSegmentedSort::SortKeys(temporary.data(), bytes, in.data(), out.data(), items,
                                           segments, device_offsets.data(),
                                           device_offsets.data() + 1));
  check_cuda(cudaStreamSynchronize(nullptr));
}

/// Keys and values 0, 1, 2, ..., and room for their sorted copies.
struct Pairs {
  DeviceBuffer<std::uint32_t> keys_in, keys_out, values_in, values_out;

  template <class KeyOf>
  Pairs(std::uint64_t count, KeyOf key_of)
      : keys_in(count, nullptr),
        keys_out(count, nullptr),
        values_in(count, nullptr),
        values_out(count, nullptr) {
    fill(keys_in, key_of);
    fill(values_in, Truncate{});
    check_cuda(cudaMemset(keys_out.data(), 0xee, keys_out.bytes()));
    check_cuda(cudaMemset(values_out.data(), 0xee, values_out.bytes()));
  }

  /// Segment i ends where segment i + 1 begins.
  template <class Offset>
  void sort(const DeviceBuffer<Offset>& offsets) {
    const auto call = [&](void* temporary, std::size_t& bytes) {
      return DeviceSegmentedSort::SortPairs(
          temporary, bytes, keys_in.data(), keys_out.data(), values_in.data(), values_out.data(),
          static_cast<std::int64_t>(keys_in.size()), static_cast<std::int64_t>(offsets.size() - 1),
          offsets.data(), offsets.data() + 1);
    };
    std::size_t bytes = 0;
    check_cuda(call(nullptr, bytes));
    DeviceBuffer<char> temporary(bytes, nullptr);
    check_cuda(call(temporary.data(), bytes));
    check_cuda(cudaStreamSynchronize(nullptr));
  }
};

template <class Expected>
struct IsExpected {
  const std::uint32_t* found;
  Expected expected;
  __device__ bool operator()(std::uint64_t i) const { return found[i] == expected(i); }
};

/// Where found[i] is not expected(i).
template <class Expected>
std::uint64_t count_faults_of(const DeviceBuffer<std::uint32_t>& found, Expected expected) {
  return count_faults(found.size(), IsExpected<Expected>{found.data(), expected});
}

TEST(DeviceLargeTest, OneSegmentOfMoreThanTwoToThe31Keys) {
  constexpr std::uint64_t count = (std::uint64_t{1} << 31) + 5;
  if (!enough_memory(4 * count * sizeof(std::uint32_t)))
    GTEST_SKIP() << "needs 34 GB of free GPU memory";
  DeviceBuffer<std::uint32_t> in(count, nullptr);
  DeviceBuffer<std::uint32_t> out(count, nullptr);
  fill(in, Descending{count});
  check_cuda(cudaMemset(out.data(), 0xee, out.bytes()));
  sort(in, out, {0, count});
  EXPECT_EQ(count_faults_of(out, Truncate{}), 0U);
}

TEST(DeviceLargeTest, AllKeysOf32BitsAsOneSegment) {
  constexpr std::uint64_t count = std::uint64_t{1} << 32;
  if (!enough_memory(4 * count * sizeof(std::uint32_t)))
    GTEST_SKIP() << "needs 69 GB of free GPU memory";
  DeviceBuffer<std::uint32_t> in(count, nullptr);
  DeviceBuffer<std::uint32_t> out(count, nullptr);
  fill(in, Scramble{});
  check_cuda(cudaMemset(out.data(), 0xee, out.bytes()));
  sort(in, out, {0, count});
  EXPECT_EQ(count_faults_of(out, Truncate{}), 0U)
      << "every 32-bit number stands once, so sorted key i is i";
}

TEST(DeviceLargeTest, EmptySegmentsByTheMillionAroundAGiant) {
  constexpr std::uint64_t count = (std::uint64_t{1} << 22) + 7;
  constexpr std::uint64_t empty = std::uint64_t{1} << 25;
  if (!enough_memory(3 * empty * sizeof(std::uint64_t)))
    GTEST_SKIP() << "needs 1 GB of free GPU memory";
  DeviceBuffer<std::uint32_t> in(count, nullptr);
  DeviceBuffer<std::uint32_t> out(count, nullptr);
  fill(in, Descending{count});
  check_cuda(cudaMemset(out.data(), 0xee, out.bytes()));
  std::vector<std::uint64_t> offsets(empty, 0);
  offsets.resize(2 * empty, count);
  sort(in, out, offsets);
  EXPECT_EQ(count_faults_of(out, Truncate{}), 0U);
}

TEST(DeviceLargeTest, PairsOfOneSegmentOfMoreThanTwoToThe31KeepTheirOrder) {
  constexpr std::uint64_t count = (std::uint64_t{1} << 31) + 5;
  if (!enough_memory(7 * count * sizeof(std::uint32_t)))
    GTEST_SKIP() << "needs 60 GB of free GPU memory";
  Pairs pairs(count, Thousand{});
  pairs.sort(DeviceBuffer<std::uint64_t>(std::vector<std::uint64_t>{0, count}, nullptr));
  EXPECT_EQ(count_faults(count,
                         IsInStableOrder<Thousand>{
                             pairs.keys_out.data(), pairs.values_out.data(), count, {}}),
            0U);
}

TEST(DeviceLargeTest, TwoToThe26EmptySegmentsAndAFewItems) {
  if (!enough_memory(FewItems::segments * 24)) GTEST_SKIP() << "needs 1.6 GB of free GPU memory";
  Pairs pairs(FewItems::items, Descending{FewItems::items});
  DeviceBuffer<std::uint32_t> offsets(FewItems::segments + 1, nullptr);
  fill(offsets, FewItems{});
  pairs.sort(offsets);
  EXPECT_EQ(count_faults_of(pairs.keys_out, FewItemsKey{}), 0U);
  EXPECT_EQ(count_faults_of(pairs.values_out, FewItemsOrigin{}), 0U);
}

TEST(DeviceLargeTest, TwoToThe27SegmentsOfOneItem) {
  constexpr std::uint64_t count = std::uint64_t{1} << 27;
  if (!enough_memory(count * 48)) GTEST_SKIP() << "needs 6.5 GB of free GPU memory";
  Pairs pairs(count, Scramble{});
  DeviceBuffer<std::uint64_t> offsets(count + 1, nullptr);
  fill(offsets, Itself{});
  pairs.sort(offsets);
  EXPECT_EQ(count_faults_of(pairs.keys_out, Scramble{}), 0U);
  EXPECT_EQ(count_faults_of(pairs.values_out, Truncate{}), 0U);
}

TEST(DeviceLargeTest, MoreThanTwoToThe32SegmentsOfWhichAFewHaveItems) {
  // Empty up to the last three segments: ids of 32 bits would come round to the first ones.
  constexpr std::uint64_t segments = (std::uint64_t{1} << 32) + 3;
  constexpr std::uint32_t items = 3 * 1000;
  if (!enough_memory(segments * 21)) GTEST_SKIP() << "needs 91 GB of free GPU memory";
  Pairs pairs(items, Descending{items});
  DeviceBuffer<std::uint32_t> offsets(segments + 1, nullptr);
  fill(offsets, ThreeAtTheEnd{segments});
  pairs.sort(offsets);
  EXPECT_EQ(count_faults_of(pairs.values_out, ThreeAtTheEndOrigin{}), 0U);
}

}  // namespace
}  // namespace sortie
