// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/block_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/cuda/transfer_blocks.hpp"

namespace sortie {
namespace {

constexpr std::size_t items_per_block = TransferBlock::bytes / sizeof(std::uint32_t);
constexpr std::uint32_t poison = 0xdeadbeef;

std::vector<std::uint32_t> counted(std::size_t size) {
  std::vector<std::uint32_t> items(size);
  std::iota(items.begin(), items.end(), 7u);
  return items;
}

std::vector<std::uint32_t> to_host(const DeviceBuffer<std::uint32_t>& device, int threads) {
  std::vector<std::uint32_t> host(device.size(), poison);
  copy_to_host_in_blocks(std::as_writable_bytes(std::span(host)), device.data(), device.stream(),
                         threads);
  return host;
}

/// Items, and threads that may copy.
class BlockCopyTest : public testing::TestWithParam<std::tuple<std::size_t, int>> {};

TEST_P(BlockCopyTest, ThereAndBack) {
  const auto [size, threads] = GetParam();
  const std::vector<std::uint32_t> items = counted(size);
  const auto device = copied_to_device(std::span<const std::uint32_t>(items), nullptr, threads);
  EXPECT_EQ(to_host(device, threads), items);
}

// Around the border between plain copies and blocks, and more blocks than threads.
INSTANTIATE_TEST_SUITE_P(
    Sizes, BlockCopyTest,
    testing::Combine(testing::Values(0, 1, 2 * items_per_block - 1, 2 * items_per_block,
                                     2 * items_per_block + 1, 21 * items_per_block + 5),
                     testing::Values(1, 4)));

TEST(BlockCopy, ComesBetweenEarlierAndLaterWorkOfTheStream) {
  const std::vector<std::uint32_t> items = counted(8 * items_per_block);
  const CudaStream stream = make_stream();
  for (int round = 0; round < 20; ++round) {
    DeviceBuffer<std::uint32_t> device(items.size(), stream.get());
    check_cuda(cudaMemsetAsync(device.data(), round, device.bytes(), stream.get()));
    copy_to_device_in_blocks(device.data(), std::as_bytes(std::span(items)), stream.get(), 4);
    ASSERT_EQ(to_host(device, 4), items);
    check_cuda(cudaMemsetAsync(device.data(), round, device.bytes(), stream.get()));
    const std::uint32_t set = 0x01010101u * static_cast<std::uint32_t>(round);
    ASSERT_EQ(to_host(device, 4), std::vector<std::uint32_t>(items.size(), set));
  }
}

TEST(BlockCopy, TakesPageLockedMemory) {
  const std::vector<std::uint32_t> items = counted(3 * items_per_block);
  PinnedBuffer<std::uint32_t> locked(items.size());
  std::copy(items.begin(), items.end(), locked.data());
  const auto device = copied_to_device(std::span<const std::uint32_t>(locked.span()), nullptr, 4);
  std::fill_n(locked.data(), locked.size(), poison);
  copy_to_host_in_blocks(std::as_writable_bytes(locked.span()), device.data(), nullptr, 4);
  EXPECT_EQ(std::vector<std::uint32_t>(locked.data(), locked.data() + locked.size()), items);
}

}  // namespace
}  // namespace sortie
