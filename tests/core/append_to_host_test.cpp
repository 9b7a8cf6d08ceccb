// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "core/cuda/block_copy.hpp"
#include "core/cuda/transfer_blocks.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie {
namespace {

constexpr std::size_t items_per_block = TransferBlock::bytes / sizeof(std::uint32_t);

std::vector<std::uint32_t> counted(std::size_t size) {
  std::vector<std::uint32_t> items(size);
  std::iota(items.begin(), items.end(), 7u);
  return items;
}

class AppendToHostTest : public testing::TestWithParam<std::size_t> {};

TEST_P(AppendToHostTest, BringsEveryItemBehindWhatWasThere) {
  const std::vector<std::uint32_t> items = counted(GetParam());
  const DeviceBuffer<std::uint32_t> device(std::span<const std::uint32_t>(items), nullptr);
  std::vector<std::int32_t> host{-1, -2};
  append_to_host(device.data(), device.size(), host, nullptr, 3);
  append_to_host(device.data(), device.size(), host, nullptr, 3);
  std::vector<std::int32_t> expected{-1, -2};
  for (int time = 0; time < 2; ++time) expected.insert(expected.end(), items.begin(), items.end());
  EXPECT_EQ(host, expected);
}

// Around the border between plain copies and blocks, and more blocks than threads.
INSTANTIATE_TEST_SUITE_P(Sizes, AppendToHostTest,
                         testing::Values(0, 1, items_per_block - 1, items_per_block,
                                         items_per_block + 1, 2 * items_per_block,
                                         3 * items_per_block + 5, 20 * items_per_block + 3));

}  // namespace
}  // namespace sortie
