// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "core/cuda/arriving_copy.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie {
namespace {

constexpr int most_threads = 4;
constexpr std::size_t items_per_block = TransferBlock::bytes / sizeof(std::uint32_t);

std::vector<std::uint32_t> counted(std::size_t size) {
  std::vector<std::uint32_t> items(size);
  std::iota(items.begin(), items.end(), 7u);
  return items;
}

DeviceBuffer<std::uint32_t> on_device(const std::vector<std::uint32_t>& items) {
  return {std::span<const std::uint32_t>(items), nullptr};
}

/// Items, and threads that may copy.
class ArrivingCopyTest : public testing::TestWithParam<std::tuple<std::size_t, int>> {};

TEST_P(ArrivingCopyTest, EveryPrefixIsThereOnceAwaited) {
  const std::vector<std::uint32_t> items = counted(std::get<0>(GetParam()));
  const ArrivingArray<std::int32_t> array =
      arriving<std::int32_t>(on_device(items), std::get<1>(GetParam()));
  ASSERT_EQ(array.size(), items.size());
  for (std::uint64_t end = 0; end < items.size(); end = 3 * end + 1) {
    array.await(end);
    EXPECT_TRUE(std::equal(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(end),
                           array.items().begin(), [](std::uint32_t sent, std::int32_t found) {
                             return sent == static_cast<std::uint32_t>(found);
                           }));
  }
  array.await(items.size());
  EXPECT_TRUE(std::ranges::equal(items, array.items(), [](auto sent, auto found) {
    return sent == static_cast<std::uint32_t>(found);
  }));
}

// Around the size of a block, and more blocks than threads.
INSTANTIATE_TEST_SUITE_P(Sizes, ArrivingCopyTest,
                         testing::Combine(testing::Values(0, 1, items_per_block - 1,
                                                          items_per_block, items_per_block + 1,
                                                          3 * items_per_block,
                                                          21 * items_per_block + 5),
                                          testing::Values(1, 4)));

TEST(ArrivingCopy, ComesAfterTheWorkOfTheStream) {
  constexpr std::size_t size = 4 * items_per_block;
  const CudaStream stream = make_stream();
  for (int round = 1; round <= 20; ++round) {
    DeviceBuffer<std::uint32_t> buffer(size, stream.get());
    check_cuda(cudaMemsetAsync(buffer.data(), round, buffer.bytes(), stream.get()));
    const auto array = arriving<std::uint32_t>(std::move(buffer), most_threads);
    array.await(size);
    const auto expected = static_cast<std::uint32_t>(round) * 0x01010101u;
    EXPECT_EQ(std::ranges::count(array.items(), expected), std::ptrdiff_t{size});
  }
}

TEST(ArrivingCopy, TheDeviceMemoryIsFreeOnceAllHasArrived) {
  const std::vector<std::uint32_t> items = counted(5 * items_per_block);
  const std::uint64_t before = device_memory_in_use();
  const auto array = arriving<std::uint32_t>(on_device(items), most_threads);
  array.await(array.size());
  check_cuda(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(device_memory_in_use(), before);
}

TEST(ArrivingCopy, SeveralAtTheSameTimeWhichNobodyAwaits) {
  const std::vector<std::uint32_t> items = counted(9 * items_per_block + 1);
  std::vector<ArrivingArray<std::uint32_t>> arrays;
  for (int i = 0; i < 6; ++i)
    arrays.push_back(arriving<std::uint32_t>(on_device(items), most_threads));
  arrays.erase(arrays.begin(), arrays.begin() + 3);
  for (const auto& array : arrays) {
    array.await(array.size());
    EXPECT_TRUE(std::ranges::equal(array.items(), items));
  }
}

}  // namespace
}  // namespace sortie
