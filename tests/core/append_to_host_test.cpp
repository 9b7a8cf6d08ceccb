// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie {
namespace {

constexpr std::size_t items_per_chunk = (std::size_t{4} << 20) / sizeof(std::uint32_t);

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
  append_to_host(device.data(), device.size(), host, nullptr);
  append_to_host(device.data(), device.size(), host, nullptr);
  std::vector<std::int32_t> expected{-1, -2};
  for (int time = 0; time < 2; ++time) expected.insert(expected.end(), items.begin(), items.end());
  EXPECT_EQ(host, expected);
}

TEST_P(AppendToHostTest, CopiesAgainThroughTheSameBuffers) {
  const std::vector<std::uint32_t> items = counted(GetParam());
  const DeviceBuffer<std::uint32_t> device(std::span<const std::uint32_t>(items), nullptr);
  ChunkCopier copier(device.bytes());
  for (const std::size_t count : {items.size(), items.size() / 2, items.size()}) {
    std::vector<std::uint32_t> host;
    copier.copy(device.data(), count * sizeof(std::uint32_t), nullptr,
                [&](std::span<const std::byte> chunk) {
                  const auto* const read = reinterpret_cast<const std::uint32_t*>(chunk.data());
                  host.insert(host.end(), read, read + chunk.size() / sizeof(std::uint32_t));
                });
    EXPECT_TRUE(std::equal(host.begin(), host.end(), items.begin(), items.begin() + count));
  }
}

// Around the size of a chunk, several chunks, and enough for several threads to touch.
INSTANTIATE_TEST_SUITE_P(Sizes, AppendToHostTest,
                         testing::Values(0, 1, items_per_chunk - 1, items_per_chunk,
                                         items_per_chunk + 1, 2 * items_per_chunk,
                                         3 * items_per_chunk + 5, 20 * items_per_chunk + 3));

TEST(CopyInPiecesTest, AnExceptionOfTheSinkGetsThrough) {
  const std::vector<std::uint32_t> items = counted(3 * items_per_chunk);
  const DeviceBuffer<std::uint32_t> device(std::span<const std::uint32_t>(items), nullptr);
  EXPECT_THROW(ChunkCopier(device.bytes())
                   .copy(device.data(), device.bytes(), nullptr,
                         [](std::span<const std::byte>) { throw std::length_error("full"); }),
               std::length_error);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

}  // namespace
}  // namespace sortie
