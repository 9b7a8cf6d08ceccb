#include "sortie/core/cuda/posted_result.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie {
namespace {

using Words = std::array<std::uint32_t, 32>;

Words words_from(std::uint32_t first) {
  Words words{};
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = first + 3 * i;
  return words;
}

/// Words on the device, and what a kernel would do with them.
struct Source {
  explicit Source(std::uint32_t first)
      : expected(words_from(first)), buffer(std::span<const std::uint32_t>(expected), nullptr) {}
  void write_to(PostedResult<Words>& posted) {
    check_cuda(cudaMemcpyAsync(posted.on_device(), buffer.data(), sizeof(Words), cudaMemcpyDefault,
                               nullptr));
    posted.mark();
  }

  Words expected;
  DeviceBuffer<std::uint32_t> buffer;
};

TEST(PostedResult, IsThereAfterWaiting) {
  Source source(7);
  PostedResult<Words> posted(nullptr);
  source.write_to(posted);
  EXPECT_EQ(posted.wait(), source.expected);
}

TEST(PostedResult, SeveralAtOnceDoNotShareMemory) {
  Source one(1);
  Source two(1000);
  PostedResult<Words> first(nullptr);
  PostedResult<Words> second(nullptr);
  one.write_to(first);
  two.write_to(second);
  EXPECT_EQ(second.wait(), two.expected);
  EXPECT_EQ(first.wait(), one.expected);
}

TEST(PostedResult, MemoryIsUsedAgain) {
  Words* before = nullptr;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Source source(100 * i);
    PostedResult<Words> posted(nullptr);
    if (before != nullptr) {
      EXPECT_EQ(posted.on_device(), before);
    }
    before = posted.on_device();
    source.write_to(posted);
    EXPECT_EQ(posted.wait(), source.expected);
  }
}

/// As when something is thrown between launching the kernel and waiting for it.
TEST(PostedResult, OneThatNobodyWaitedForIsNotWrittenLater) {
  Source late(5);
  Source source(50);
  std::optional<PostedResult<Words>> forgotten(nullptr);
  late.write_to(*forgotten);
  forgotten.reset();
  PostedResult<Words> posted(nullptr);
  source.write_to(posted);
  EXPECT_EQ(posted.wait(), source.expected);
}

TEST(PostedResult, ThreadsHaveTheirOwn) {
  std::vector<std::thread> threads;
  std::array<bool, 4> are_right{};
  for (std::uint32_t t = 0; t < are_right.size(); ++t) {
    threads.emplace_back([t, &are_right] {
      bool is_right = true;
      for (std::uint32_t i = 0; i < 50; ++i) {
        Source source(1000 * t + i);
        PostedResult<Words> posted(nullptr);
        source.write_to(posted);
        is_right = is_right && posted.wait() == source.expected;
      }
      are_right[t] = is_right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const bool is_right : are_right) EXPECT_TRUE(is_right);
}

}  // namespace
}  // namespace sortie
