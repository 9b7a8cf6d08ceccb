// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <string>
#include <thread>

#include "sortie/cluster.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {
namespace {

TEST(ProcessRanks, FewerThanOneRankIsRefused) {
  EXPECT_THROW(run_in_process(0, true, [](Ranks&) {}), Error);
}

TEST(ProcessRanks, HostWorkRunsOnTheCallingThread) {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> calls = 0;
  run_in_process(4, true, [&](Ranks& ranks) {
    ranks.together("test", [&] {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      ++calls;
    });
  });
  EXPECT_EQ(calls, 4);
  run_in_process(4, false, [&](Ranks& ranks) {
    ranks.together("test", [&] { EXPECT_NE(std::this_thread::get_id(), caller); });
  });
}

TEST(ProcessRanks, WorkOfDevicesRunsAtTheSameTime) {
  for (const bool host_work : {false, true}) {
    std::barrier<> all_work(5);
    run_in_process(5, host_work, [&](Ranks& ranks) {
      EXPECT_TRUE(ranks.share_memory());
      ranks.on_devices("test", [&] { all_work.arrive_and_wait(); });
    });
  }
}

/// The others are in a collective call, or come to it later.
TEST(ProcessRanks, ARankThatEndsAloneEndsTheJob) {
  for (int failing = 0; failing < 5; ++failing) {
    try {
      run_in_process(5, true, [&](Ranks& ranks) {
        static_cast<void>(ranks.sum(1));
        if (ranks.rank() == failing) throw Error(ErrorKind::input, "alone");
        static_cast<void>(ranks.sum(1));
        static_cast<void>(ranks.sum(1));
      });
      FAIL() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), "alone");
    }
  }
}

TEST(ProcessRanks, TheErrorThatAllAgreedOnIsThrown) {
  try {
    run_in_process(3, true, [&](Ranks& ranks) {
      ranks.together("test", [&] {
        if (ranks.rank() == 2) throw Error(ErrorKind::input, "bad");
      });
    });
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "rank 2: bad");
  }
}

}  // namespace
}  // namespace sortie::cluster
