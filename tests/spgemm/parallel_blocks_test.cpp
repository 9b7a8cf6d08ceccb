// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "apps/spgemm/host/parallel_blocks.hpp"
#include "core/host_runtime.hpp"

namespace sortie::test {
namespace {

using spgemm::host::for_each_block;
using spgemm::host::for_each_row;

// Whatever the numbers of workers and blocks, also where there are more workers than threads.
TEST(ParallelBlocks, EveryBlockOnce) {
  start_host_runtime(0);
  for (const int workers : {0, 1, 2, 3, 8}) {
    for (const std::int64_t blocks : {0, 1, 2, 3, 7, 8, 9, 1000}) {
      SCOPED_TRACE(testing::Message() << workers << " workers, " << blocks << " blocks");
      constexpr std::int64_t first = 5;
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(first + blocks));
      std::atomic<bool> within = true;
      for_each_block(workers, first, first + blocks, [&](int worker, std::int64_t block) {
        if (worker < 0 || worker >= std::max(1, workers)) within = false;
        ++calls[static_cast<std::size_t>(block)];
      });
      EXPECT_TRUE(within);
      for (std::int64_t block = 0; block < first + blocks; ++block)
        ASSERT_EQ(calls[static_cast<std::size_t>(block)], block < first ? 0 : 1) << block;
    }
  }
}

// A worker's blocks are its own while it runs: no two calls with one number are under way at once.
TEST(ParallelBlocks, WorkSpaceOfAWorkerIsItsOwn) {
  start_host_runtime(0);
  constexpr int workers = 4;
  std::vector<std::atomic<int>> under_way(workers);
  std::atomic<bool> alone = true;
  for_each_block(workers, 0, 20'000, [&](int worker, std::int64_t) {
    if (++under_way[static_cast<std::size_t>(worker)] != 1) alone = false;
    --under_way[static_cast<std::size_t>(worker)];
  });
  EXPECT_TRUE(alone);
}

// Blocks of very unequal length: those left over are done by whoever has time.
TEST(ParallelBlocks, RowsOfUnequalBlocks) {
  start_host_runtime(0);
  std::vector<std::int64_t> cuts{0};
  for (std::int64_t block = 0; block < 3000; ++block) cuts.push_back(cuts.back() + block % 17);
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(cuts.back()));
  std::uint64_t told = 0;
  Context context;
  context.progress = [&](std::string_view phase, std::uint64_t done, std::uint64_t all) {
    EXPECT_EQ(phase, "rows");
    EXPECT_EQ(all, static_cast<std::uint64_t>(cuts.back()));
    EXPECT_GE(done, told);
    told = done;
  };
  for_each_row(context, "rows", 3, cuts,
               [&](int, std::int64_t row) { ++calls[static_cast<std::size_t>(row)]; });
  EXPECT_EQ(told, static_cast<std::uint64_t>(cuts.back()));
  for (const auto& called : calls) ASSERT_EQ(called, 1);
}

}  // namespace
}  // namespace sortie::test
