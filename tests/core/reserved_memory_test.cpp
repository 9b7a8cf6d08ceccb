// SPDX-License-Identifier: Apache-2.0
#include "core/reserved_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "core/host_memory.hpp"

namespace sortie {
namespace {

TEST(ReservedMemory, TakesMemoryOnlyWhereItIsWritten) {
  ReservedMemory memory(std::size_t{1} << 36);
  ASSERT_GE(memory.size(), std::size_t{1} << 20);
  const std::uint64_t before = peak_host_memory();
  char* const middle = memory.data() + memory.size() / 2;
  EXPECT_EQ(*middle, 0);
  *middle = 1;
  EXPECT_LE(peak_host_memory() - before, std::uint64_t{64} << 20);
}

TEST(ReservedMemory, ShrinksAndMoves) {
  ReservedMemory memory(10'000);
  EXPECT_EQ(memory.size(), 10'000U);
  memory.data()[0] = 'a';
  memory.data()[4999] = 'b';
  memory.shrink(5000);
  EXPECT_EQ(memory.size(), 5000U);
  ReservedMemory other = std::move(memory);
  EXPECT_EQ(other.data()[0], 'a');
  EXPECT_EQ(other.data()[4999], 'b');
  other.shrink(0);
  EXPECT_EQ(other.size(), 0U);
  EXPECT_EQ(other.data(), nullptr);
  other = ReservedMemory(1);
  EXPECT_EQ(other.size(), 1U);
  EXPECT_EQ(ReservedMemory(0).data(), nullptr);
}

}  // namespace
}  // namespace sortie
