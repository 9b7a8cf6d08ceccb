// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie {
namespace {

using Words = std::array<std::uint32_t, 32>;

Words words_from(std::uint32_t first) {
  Words words{};
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = first + 3 * i;
  return words;
}

/// Words on the device. write_to() stands for a kernel that writes them to a mailbox.
struct Source {
  explicit Source(std::uint32_t first)
      : expected(words_from(first)), buffer(std::span<const std::uint32_t>(expected), nullptr) {}
  void write_to(PinnedMailbox<Words>& mailbox) {
    check_cuda(cudaMemcpyAsync(mailbox.on_device(), buffer.data(), sizeof(Words), cudaMemcpyDefault,
                               nullptr));
    mailbox.mark();
  }

  Words expected;
  DeviceBuffer<std::uint32_t> buffer;
};

TEST(PinnedMailbox, HoldsTheResultAfterWaiting) {
  Source source(7);
  PinnedMailbox<Words> mailbox(nullptr);
  source.write_to(mailbox);
  EXPECT_EQ(mailbox.wait(), source.expected);
}

TEST(PinnedMailbox, SeveralAtOnceDoNotShareMemory) {
  Source one(1);
  Source two(1000);
  PinnedMailbox<Words> first(nullptr);
  PinnedMailbox<Words> second(nullptr);
  one.write_to(first);
  two.write_to(second);
  EXPECT_EQ(second.wait(), two.expected);
  EXPECT_EQ(first.wait(), one.expected);
}

TEST(PinnedMailbox, MemoryIsReused) {
  Words* before = nullptr;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Source source(100 * i);
    PinnedMailbox<Words> mailbox(nullptr);
    if (before != nullptr) {
      EXPECT_EQ(mailbox.on_device(), before);
    }
    before = mailbox.on_device();
    source.write_to(mailbox);
    EXPECT_EQ(mailbox.wait(), source.expected);
  }
}

/// The case of an exception between launching the kernel and waiting for it.
TEST(PinnedMailbox, OneThatWasNotWaitedForIsNotWrittenLater) {
  Source late(5);
  Source source(50);
  std::optional<PinnedMailbox<Words>> forgotten(nullptr);
  late.write_to(*forgotten);
  forgotten.reset();
  PinnedMailbox<Words> mailbox(nullptr);
  source.write_to(mailbox);
  EXPECT_EQ(mailbox.wait(), source.expected);
}

TEST(PinnedMailbox, ThreadsUseSeparateMailboxes) {
  std::vector<std::thread> threads;
  std::array<bool, 4> are_right{};
  for (std::uint32_t t = 0; t < are_right.size(); ++t) {
    threads.emplace_back([t, &are_right] {
      bool is_right = true;
      for (std::uint32_t i = 0; i < 50; ++i) {
        Source source(1000 * t + i);
        PinnedMailbox<Words> mailbox(nullptr);
        source.write_to(mailbox);
        is_right = is_right && mailbox.wait() == source.expected;
      }
      are_right[t] = is_right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const bool is_right : are_right) EXPECT_TRUE(is_right);
}

}  // namespace
}  // namespace sortie
