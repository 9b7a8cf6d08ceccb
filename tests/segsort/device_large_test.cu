// Sizes past 2^31 items, which only a GPU with much memory can hold: counts must be 64 bits wide.

#include <gtest/gtest.h>
#include <thrust/device_ptr.h>
#include <thrust/equal.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/tabulate.h>

#include <cstdint>
#include <vector>

#include "sortie/core/cuda/check.hpp"
#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie {
namespace {

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

TEST(DeviceLargeTest, OneSegmentOfMoreThanTwoToThe31Keys) {
  constexpr std::uint64_t count = (std::uint64_t{1} << 31) + 5;
  if (!enough_memory(4 * count * sizeof(std::uint32_t)))
    GTEST_SKIP() << "needs 34 GB of free GPU memory";
  DeviceBuffer<std::uint32_t> in(count, nullptr);
  DeviceBuffer<std::uint32_t> out(count, nullptr);
  thrust::tabulate(thrust::device, in.data(), in.data() + count, Descending{count});
  check_cuda(cudaMemset(out.data(), 0xee, out.bytes()));
  sort(in, out, {0, count});
  EXPECT_TRUE(thrust::equal(
      thrust::device, out.data(), out.data() + count,
      thrust::make_transform_iterator(thrust::counting_iterator<std::uint64_t>(0), Truncate{})));
}

TEST(DeviceLargeTest, AllKeysOf32BitsAsOneSegment) {
  constexpr std::uint64_t count = std::uint64_t{1} << 32;
  if (!enough_memory(4 * count * sizeof(std::uint32_t)))
    GTEST_SKIP() << "needs 69 GB of free GPU memory";
  DeviceBuffer<std::uint32_t> in(count, nullptr);
  DeviceBuffer<std::uint32_t> out(count, nullptr);
  thrust::tabulate(thrust::device, in.data(), in.data() + count, Scramble{});
  check_cuda(cudaMemset(out.data(), 0xee, out.bytes()));
  sort(in, out, {0, count});
  EXPECT_TRUE(thrust::equal(
      thrust::device, out.data(), out.data() + count,
      thrust::make_transform_iterator(thrust::counting_iterator<std::uint64_t>(0), Truncate{})))
      << "every 32-bit number stands once, so sorted key i is i";
}

TEST(DeviceLargeTest, EmptySegmentsByTheMillionAroundAGiant) {
  constexpr std::uint64_t count = (std::uint64_t{1} << 22) + 7;
  constexpr std::uint64_t empty = std::uint64_t{1} << 25;
  if (!enough_memory(3 * empty * sizeof(std::uint64_t)))
    GTEST_SKIP() << "needs 1 GB of free GPU memory";
  DeviceBuffer<std::uint32_t> in(count, nullptr);
  DeviceBuffer<std::uint32_t> out(count, nullptr);
  thrust::tabulate(thrust::device, in.data(), in.data() + count, Descending{count});
  check_cuda(cudaMemset(out.data(), 0xee, out.bytes()));
  std::vector<std::uint64_t> offsets(empty, 0);
  offsets.resize(2 * empty, count);
  sort(in, out, offsets);
  EXPECT_TRUE(thrust::equal(
      thrust::device, out.data(), out.data() + count,
      thrust::make_transform_iterator(thrust::counting_iterator<std::uint64_t>(0), Truncate{})));
}

}  // namespace
}  // namespace sortie
