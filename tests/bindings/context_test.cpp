// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/bindings/place.hpp"

// Contexts, errors, cancellation and threads of the C interface.
namespace sortie::test {
namespace {

using testing::HasSubstr;

std::vector<std::uint64_t> random_keys(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> keys(size);
  for (auto& key : keys) key = random();
  return keys;
}

sortie_status sort_keys(sortie_context* context, std::vector<std::uint64_t>& keys) {
  return sortie_sort(context, SORTIE_HOST_MEMORY, SORTIE_U64, keys.data(), keys.data(), keys.size(),
                     nullptr, nullptr, 0, 0);
}

TEST(CInterface, SaysWhatItIs) {
  EXPECT_EQ(sortie_interface_version(), SORTIE_INTERFACE_VERSION);
  EXPECT_THAT(sortie_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_NE(std::string(sortie_commit()), "");
  if (sortie_device_count() == 0) {
    EXPECT_NE(std::string(sortie_why_no_device()), "");
  } else {
    const CContext context;
    sortie_device_info info;
    ASSERT_EQ(sortie_get_device(context, 0, &info), SORTIE_OK);
    EXPECT_EQ(info.ordinal, 0);
    EXPECT_NE(std::string(info.name), "");
    EXPECT_GT(info.memory_total, 0u);
  }
}

TEST(CInterface, TypesHaveSizes) {
  EXPECT_EQ(sortie_type_bytes(SORTIE_I8), 1u);
  EXPECT_EQ(sortie_type_bytes(SORTIE_U16), 2u);
  EXPECT_EQ(sortie_type_bytes(SORTIE_F32), 4u);
  EXPECT_EQ(sortie_type_bytes(SORTIE_I64), 8u);
  EXPECT_EQ(sortie_type_bytes(SORTIE_C128), 16u);
  EXPECT_EQ(sortie_type_bytes(static_cast<sortie_type>(99)), 0u);
}

// Programs in other languages declare these by hand.
TEST(CInterface, StructsHaveTheirRecordedSizes) {
  EXPECT_EQ(sizeof(sortie_device_info), 160u);
  EXPECT_EQ(sizeof(sortie_segments), 32u);
  EXPECT_EQ(sizeof(sortie_array_view), 32u);
  EXPECT_EQ(sizeof(sortie_csr_view), 64u);
  EXPECT_EQ(sizeof(sortie_text), 40u);
  EXPECT_EQ(sizeof(sortie_patterns), 24u);
  EXPECT_EQ(sizeof(sortie_matrix_header), 40u);
}

TEST(CInterface, ErrorsHaveTheirStatusAndMessage) {
  const CContext context;
  EXPECT_EQ(context.error(), "");
  EXPECT_EQ(sortie_set_threads(context, -1), SORTIE_USAGE);
  EXPECT_EQ(context.error(), "threads: found -1, expected 0 or more");
  EXPECT_EQ(sortie_set_device(context, -2), SORTIE_USAGE);
  EXPECT_EQ(sortie_set_backend(context, static_cast<sortie_backend>(3)), SORTIE_USAGE);
  EXPECT_EQ(context.error(), "backend: found 3, expected 0, 1 or 2");
  sortie_device_info info;
  EXPECT_EQ(sortie_get_device(context, 1000, &info), SORTIE_UNAVAILABLE);
  EXPECT_THAT(context.error(), HasSubstr("device: found 1000, expected one of"));
  EXPECT_EQ(sortie_set_threads(nullptr, 1), SORTIE_USAGE);
  EXPECT_THAT(sortie_last_error(nullptr), HasSubstr("null pointer"));
  sortie_context_destroy(nullptr);
  sortie_array_destroy(nullptr);
  sortie_csr_destroy(nullptr);
  sortie_plan_destroy(nullptr);
  sortie_sequences_destroy(nullptr);
}

TEST(CInterface, DeviceMemoryWithoutDeviceIsUnavailable) {
  if (sortie_device_count() > 0) GTEST_SKIP() << "there is a device";
  const CContext context;
  std::uint32_t key = 1;
  EXPECT_EQ(
      sortie_sort(context, SORTIE_DEVICE_MEMORY, SORTIE_U32, &key, &key, 1, nullptr, nullptr, 0, 0),
      SORTIE_UNAVAILABLE);
  EXPECT_THAT(context.error(), HasSubstr("CUDA"));
}

// The OpenMP runtime would end the process.
TEST(CInterface, ThreadsBeyondAnyMachineAreRefused) {
  const CContext context(Place{});
  ASSERT_EQ(sortie_set_threads(context, 2'147'483'647), SORTIE_OK);
  std::vector<std::uint64_t> keys{2, 1};
  EXPECT_EQ(sort_keys(context, keys), SORTIE_USAGE);
  EXPECT_THAT(context.error(), HasSubstr("expected at most 4096"));
}

TEST(CInterface, BudgetIsHonoured) {
  const CContext context;
  ASSERT_EQ(sortie_set_memory_budget(context, 1), SORTIE_OK);
  const std::vector<std::uint64_t> keys = random_keys(1000, 1);
  std::vector<std::uint32_t> positions(keys.size());
  EXPECT_EQ(sortie_argsort(context, SORTIE_HOST_MEMORY, SORTIE_U64, keys.data(), keys.size(),
                           SORTIE_U32, positions.data(), 0),
            SORTIE_OUT_OF_MEMORY);
  EXPECT_THAT(context.error(), testing::ContainsRegex("needs .*bytes.*, .*bytes.* are free"));
}

struct Progress {
  int calls = 0;
  int allowed = 0;
  bool ended = false;

  static int call(void* user, const char* phase, std::uint64_t done, std::uint64_t total) {
    auto& self = *static_cast<Progress*>(user);
    EXPECT_NE(std::string(phase), "");
    self.ended = done == total;
    return ++self.calls > self.allowed ? 1 : 0;
  }
};

TEST(CInterface, ProgressEndsWithItsTotal) {
  const CContext context;
  Progress progress{.allowed = 1'000'000};
  ASSERT_EQ(sortie_set_progress(context, Progress::call, &progress), SORTIE_OK);
  auto keys = random_keys(100'000, 2);
  ASSERT_EQ(sort_keys(context, keys), SORTIE_OK);
  EXPECT_GT(progress.calls, 1);
  EXPECT_TRUE(progress.ended);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

// Wherever a call is cancelled, the library is as it was, and the next call is right.
TEST(CInterface, ProgressCancelsEverywhere) {
  const CContext context;
  std::vector<std::uint8_t> text(50'000);
  std::mt19937 random(3);
  for (auto& symbol : text) symbol = "ACGT"[random() % 4];
  const sortie_text view{text.data(), text.size(), nullptr, 0, SORTIE_HOST_MEMORY};
  int cancelled = 0;
  for (int allowed = 0; allowed < 200; ++allowed) {
    Progress progress{.allowed = allowed};
    ASSERT_EQ(sortie_set_progress(context, Progress::call, &progress), SORTIE_OK);
    sortie_array* suffixes = nullptr;
    const sortie_status status = sortie_suffix_array(context, &view, SORTIE_U32, &suffixes);
    if (status == SORTIE_OK) {
      sortie_array_destroy(suffixes);
      break;
    }
    ASSERT_EQ(status, SORTIE_CANCELLED);
    EXPECT_EQ(context.error(), "cancelled by the progress function");
    EXPECT_EQ(suffixes, nullptr);
    ++cancelled;
  }
  EXPECT_GT(cancelled, 0);
  ASSERT_EQ(sortie_set_progress(context, nullptr, nullptr), SORTIE_OK);
  sortie_array* suffixes = nullptr;
  ASSERT_EQ(sortie_suffix_array(context, &view, SORTIE_U32, &suffixes), SORTIE_OK);
  EXPECT_EQ(sortie_check_suffix_array(context, &view, SORTIE_U32, sortie_array_get(suffixes).data),
            SORTIE_OK);
  sortie_array_destroy(suffixes);
}

TEST(CInterface, SeveralThreadsWithAContextEach) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      const CContext context;
      for (unsigned round = 0; round < 5; ++round) {
        auto keys = random_keys(20'000, 10 * i + round);
        EXPECT_EQ(sort_keys(context, keys), SORTIE_OK) << context.error();
        EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sortie::test
