// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

#include "core/background_task.hpp"

namespace sortie::test {
namespace {

TEST(BackgroundTask, WorksBesideTheCaller) {
  std::promise<void> asked;
  std::thread::id worker;
  BackgroundTask task([&] {
    asked.get_future().wait();
    worker = std::this_thread::get_id();
  });
  asked.set_value();
  task.wait();
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(BackgroundTask, RethrowsWhereTheCallerWaits) {
  BackgroundTask task([] { throw std::runtime_error("broken"); });
  EXPECT_THROW(task.wait(), std::runtime_error);
}

TEST(BackgroundTask, HasEndedWhenItIsDestroyed) {
  std::atomic<bool> done = false;
  try {
    const BackgroundTask task([&] {
      std::this_thread::yield();
      done = true;
      throw std::runtime_error("discarded");
    });
    throw std::logic_error("the caller fails first");
  } catch (const std::logic_error&) {
    EXPECT_TRUE(done);
  }
}

}  // namespace
}  // namespace sortie::test
