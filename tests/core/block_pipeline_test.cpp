// SPDX-License-Identifier: Apache-2.0
#include "core/files/block_pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sortie::test {
namespace {

using testing::ElementsAreArray;

/// Parameter: workers.
class BlockPipeline : public testing::TestWithParam<int> {
 protected:
  static constexpr std::uint64_t blocks = 100;

  /// The blocks 0 to `blocks` - 1, and steps that do nothing.
  static BlockSteps counted() {
    return {.take = [](int, std::uint64_t block) { return block < blocks; },
            .work = {},
            .pass = {},
            .finish = {}};
  }

  static std::vector<std::uint64_t> first(std::uint64_t count) {
    std::vector<std::uint64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
};

INSTANTIATE_TEST_SUITE_P(Workers, BlockPipeline, testing::Values(1, 2, 3, 8),
                         [](const auto& instance) { return std::to_string(instance.param); });

TEST_P(BlockPipeline, TakesAndPassesInOrder) {
  std::vector<std::uint64_t> taken;
  std::vector<std::uint64_t> passed;
  BlockSteps steps = counted();
  steps.take = [&](int, std::uint64_t block) {
    taken.push_back(block);
    return block < blocks;
  };
  // Later blocks are done sooner.
  steps.work = [](int, std::uint64_t block) {
    std::this_thread::sleep_for(std::chrono::microseconds(block % 4 == 0 ? 300 : 1));
  };
  steps.pass = [&](int, std::uint64_t block) { passed.push_back(block); };
  run_blocks(GetParam(), steps);
  EXPECT_THAT(taken, ElementsAreArray(first(blocks + 1)));
  EXPECT_THAT(passed, ElementsAreArray(first(blocks)));
}

TEST_P(BlockPipeline, EveryStepOfABlockIsDoneByItsWorker) {
  std::vector<std::vector<int>> workers(blocks);
  std::vector<std::uint64_t> held(GetParam(), blocks);  // block of each worker
  BlockSteps steps = counted();
  steps.take = [&](int worker, std::uint64_t block) {
    if (block == blocks) return false;
    held[worker] = block;
    workers[block].push_back(worker);
    return true;
  };
  const auto note = [&](int worker, std::uint64_t block) {
    EXPECT_EQ(held[worker], block);
    workers[block].push_back(worker);
  };
  steps.work = steps.pass = steps.finish = note;
  run_blocks(GetParam(), steps);
  for (const std::vector<int>& done_by : workers) {
    ASSERT_EQ(done_by.size(), 4U);
    EXPECT_TRUE(std::all_of(done_by.begin(), done_by.end(), [&](int worker) {
      return worker == done_by[0] && worker >= 0 && worker < GetParam();
    }));
  }
}

// Other threads may pass the block of a worker that waits, but not one of the caller's.
TEST_P(BlockPipeline, TheCallerPassesTheBlocksOfWorker0) {
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::uint64_t> passed;
  BlockSteps steps = counted();
  steps.work = [](int, std::uint64_t block) {
    if (block % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
  };
  steps.pass = [&](int worker, std::uint64_t block) {
    if (worker == 0) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
    }
    passed.push_back(block);
  };
  run_blocks(GetParam(), steps);
  EXPECT_THAT(passed, ElementsAreArray(first(blocks)));
}

TEST_P(BlockPipeline, NoBlocks) {
  BlockSteps steps;
  steps.take = [](int, std::uint64_t) { return false; };
  steps.work = steps.pass = steps.finish = [](int, std::uint64_t) { FAIL(); };
  run_blocks(GetParam(), steps);
}

TEST_P(BlockPipeline, TheFirstFaultIsReportedAndAllBlocksBeforeItAreDone) {
  for (const int step : {0, 1, 2, 3}) {
    SCOPED_TRACE(step);
    // Blocks 40, 41, ... fail, the later ones sooner.
    const auto fail = [](int, std::uint64_t block) {
      if (block < 40) return;
      if (block == 40) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      throw std::runtime_error(std::to_string(block));
    };
    std::atomic<std::uint64_t> finished = 0;
    BlockSteps steps = counted();
    if (step == 0) {
      steps.take = [&](int worker, std::uint64_t block) {
        fail(worker, block);
        return block < blocks;
      };
    }
    if (step == 1) steps.work = fail;
    if (step == 2) steps.pass = fail;
    steps.finish = [&](int worker, std::uint64_t block) {
      if (step == 3) fail(worker, block);
      finished += block < 40 ? 1 : 0;
    };
    std::string found;
    try {
      run_blocks(GetParam(), steps);
    } catch (const std::runtime_error& error) {
      found = error.what();
    }
    EXPECT_EQ(found, "40");
    EXPECT_EQ(finished, 40U);
  }
}

TEST(BlockPipelineThreads, WorkOfDifferentBlocksRunsAtTheSameTime) {
  // Each block waits for the other one.
  std::atomic<int> started = 0;
  BlockSteps steps;
  steps.take = [](int, std::uint64_t block) { return block < 2; };
  steps.work = [&](int, std::uint64_t) {
    ++started;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (started < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  };
  run_blocks(2, steps);
  EXPECT_EQ(started, 2);
}

}  // namespace
}  // namespace sortie::test
