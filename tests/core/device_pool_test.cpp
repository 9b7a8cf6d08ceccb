// SPDX-License-Identifier: Apache-2.0

// Sortie allocates from pools of its own: the process's default pools stay as they are.

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/devices.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::test {
namespace {

cudaMemPool_t default_pool() {
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, 0));
  return pool;
}

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  check_cuda(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

TEST(DevicePool, ASortLeavesTheDefaultPoolAsItWas) {
  const std::uint64_t threshold = attribute(default_pool(), cudaMemPoolAttrReleaseThreshold);
  const std::uint64_t reserved = attribute(default_pool(), cudaMemPoolAttrReservedMemHigh);
  std::vector<std::uint32_t> keys(1 << 20);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<std::uint32_t>(i * 2654435761);
  const std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(keys.size())};
  Context context;
  context.backend = Backend::cuda;
  segmented_sort(context, std::span(keys), std::span(offsets).first(1), std::span(offsets).last(1));

  EXPECT_EQ(attribute(default_pool(), cudaMemPoolAttrReleaseThreshold), threshold);
  EXPECT_EQ(attribute(default_pool(), cudaMemPoolAttrReservedMemHigh), reserved);
  EXPECT_GT(peak_device_memory(0), keys.size() * sizeof(std::uint32_t));
}

TEST(DevicePool, IsMadeOncePerDeviceAndCountsWhatIsHandedOut) {
  const cudaMemPool_t pool = device_pool(0);
  EXPECT_EQ(device_pool(0), pool);
  EXPECT_EQ(existing_device_pool(0), pool);
  EXPECT_NE(pool, default_pool());
  check_cuda(cudaDeviceSynchronize());
  const std::uint64_t before = device_memory_in_use();
  {
    const DeviceBuffer<std::byte> buffer(std::size_t{1} << 20, nullptr);
    EXPECT_EQ(device_memory_in_use(), before + (std::uint64_t{1} << 20));
  }
  check_cuda(cudaDeviceSynchronize());
  EXPECT_EQ(device_memory_in_use(), before);
}

TEST(DevicePool, IsNotMadeByAQuestion) {
  EXPECT_EQ(existing_device_pool(1000), nullptr);
  EXPECT_EQ(peak_device_memory(1000), 0u);
}

}  // namespace
}  // namespace sortie::test
