// SPDX-License-Identifier: Apache-2.0
#include "primitives/host/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/host_runtime.hpp"

namespace sortie::test {
namespace {

constexpr std::uint64_t sizes[] = {0, 1, 2, 3, 100, 16383, 16384, 16385, 100000};

// Before the runtime is started, and after: the first test of the program is the only one that
// meets the former.
class Parallel : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) start_host_runtime(0);
  }
};

/// Counts the calls for each index.
class Calls {
 public:
  explicit Calls(std::uint64_t size) : calls_(size) {}
  void add(std::uint64_t i) { ++calls_.at(i); }
  void expect_one_each(std::uint64_t begin) const {
    for (std::uint64_t i = 0; i < calls_.size(); ++i) ASSERT_EQ(calls_[i], i < begin ? 0 : 1) << i;
  }

 private:
  std::vector<std::atomic<int>> calls_;
};

TEST_P(Parallel, EachTaskOnce) {
  for (const std::uint64_t size : sizes) {
    Calls calls(size);
    for_each_task(size, [&](std::uint64_t task) { calls.add(task); });
    calls.expect_one_each(0);
  }
}

TEST_P(Parallel, RangesOfAnyLength) {
  for (const std::int64_t size : {0, 1, 9, 10, 11, 1000}) {
    for (const std::int64_t length : {1, 3, 10, 2000}) {
      Calls calls(static_cast<std::uint64_t>(size));
      for_each_range(size, length, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_LE(end - begin, length);
        for (std::int64_t i = begin; i < end; ++i) calls.add(static_cast<std::uint64_t>(i));
      });
      calls.expect_one_each(0);
    }
  }
}

TEST_P(Parallel, SharesOfThreads) {
  for (const std::uint64_t size : sizes) {
    const EqualShares shares = thread_shares(size);
    EXPECT_LE(shares.count, worker_threads());
    Calls calls(size);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      EXPECT_EQ(begin, shares.begin(share));
      for (std::uint64_t i = begin; i < end; ++i) calls.add(i);
    });
    calls.expect_one_each(0);
  }
}

TEST_P(Parallel, EachIndexOnceFromABegin) {
  for (const std::uint64_t size : sizes) {
    for (const std::uint64_t begin : {0, 1, 2, 5000}) {
      Calls calls(size);
      for_each_index(begin, size, [&](std::uint64_t i) { calls.add(i); });
      calls.expect_one_each(begin);
    }
  }
}

TEST_P(Parallel, FirstIndexOfSeveral) {
  constexpr std::uint64_t size = 100000;
  for (const std::uint64_t first : {0, 1, 49999, 50000, 99999}) {
    EXPECT_EQ(
        first_index(0, size, [=](std::uint64_t i) { return i >= first && i % 2 == first % 2; }),
        first);
  }
  EXPECT_EQ(first_index(5, size, [](std::uint64_t) { return true; }), 5U);
  EXPECT_EQ(first_index(0, size, [](std::uint64_t) { return false; }), no_index);
  EXPECT_EQ(first_index(7, 7, [](std::uint64_t) { return true; }), no_index);
  EXPECT_EQ(first_index(8, 7, [](std::uint64_t) { return true; }), no_index);
}

TEST_P(Parallel, TheExceptionOfTheFirstTask) {
  try {
    for_each_task(100, [](std::uint64_t task) {
      if (task >= 40) throw std::runtime_error(std::to_string(task));
    });
    FAIL() << "expected an exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "40");
  }
}

INSTANTIATE_TEST_SUITE_P(Runtime, Parallel, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "running" : "not_started"; });

TEST(OwnThreads, RunLoopsOfSeveralThreadsAtTheSameTime) {
  for (const int own : {1, 3}) {
    std::vector<Calls> calls;
    for (int thread = 0; thread < 3; ++thread) calls.emplace_back(1000);
    run_on_threads(3, [&](std::size_t thread) {
      const OwnThreads threads(own);
      for_each_task(1000, [&](std::uint64_t task) { calls[thread].add(task); });
    });
    for (const Calls& of_thread : calls) of_thread.expect_one_each(0);
  }
}

TEST(OwnThreads, RunManyLoopsAndLoopsWithinLoops) {
  const OwnThreads threads(4);
  Calls calls(1000 * 16);
  for (std::uint64_t loop = 0; loop < 1000; ++loop)
    for_each_task(16, [&](std::uint64_t task) { calls.add(16 * loop + task); });
  calls.expect_one_each(0);
  Calls inner(8 * 8);
  for_each_task(8, [&](std::uint64_t outer) {
    for_each_task(8, [&](std::uint64_t task) { inner.add(8 * outer + task); });
  });
  inner.expect_one_each(0);
}

TEST(OwnThreads, RethrowTheExceptionOfTheLowestTask) {
  const OwnThreads threads(4);
  try {
    for_each_task(100, [](std::uint64_t task) {
      if (task % 7 == 3) throw std::runtime_error(std::to_string(task));
    });
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "3");
  }
}

}  // namespace
}  // namespace sortie::test
