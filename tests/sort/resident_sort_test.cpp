// SPDX-License-Identifier: Apache-2.0

// Records that stay on the GPU between their reading and their writing, against a stable sort of
// the same bytes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "apps/sort/record_generator.hpp"
#include "apps/sort/resident_sort.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/cuda/transfer_blocks.hpp"
#include "sortie/run_report.hpp"
#include "tests/sort/records.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using sorting::FileSortRequest;
using sorting::SortResult;

std::optional<SortResult> sort_on_device(const Context& context, const std::string& input,
                                         const FileSortRequest& job) {
  const auto source = sorting::open_record_file(input, job.format);
  return sorting::sort_on_device(context, *source, job);
}

FileSortRequest request_of(const std::string& key, const std::string& value,
                           const std::string& output) {
  FileSortRequest job;
  job.format = sorting::parse_record_format(key, value);
  job.output = output;
  job.options.devices = 1;  // several devices are not its work
  return job;
}

template <class Key>
class ResidentSort : public testing::Test {};
using Keys = testing::Types<std::uint8_t, std::int16_t, std::uint32_t, float, std::int64_t, double>;
TYPED_TEST_SUITE(ResidentSort, Keys);

TYPED_TEST(ResidentSort, EqualsTheReference) {
  const TemporaryFolder folder;
  for (const char* value : {"", "u32", "f64"}) {
    FileSortRequest job =
        request_of(std::string(name(key_type_of<TypeParam>())), value, folder.path("out"));
    const std::uint64_t record_bytes = job.format.record_bytes();
    const std::uint64_t block = TransferBlock::bytes / record_bytes / 8 * 8;
    for (const std::uint64_t n : {std::uint64_t{1}, block - 1, block, 3 * block + 5}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(std::to_string(n) + " records, values " + value);
        const std::string bytes = random_records(n, record_bytes, sizeof(TypeParam), 5'000);
        job.options.order = order;
        job.verify = order == Order::ascending;
        Context limited = context();
        limited.threads = order == Order::ascending ? 3 : 0;
        const auto result = sort_on_device(limited, folder.write("in", bytes), job);
        ASSERT_TRUE(result.has_value());
        EXPECT_EQ(result->records, n);
        EXPECT_EQ(result->runs, 1u);
        EXPECT_TRUE(content_of(job.output) == in_order<TypeParam>(bytes, record_bytes, order))
            << "the output differs from the reference's";
      }
    }
  }
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(ResidentSortOfFiles, RepeatsAndReportsItsPhases) {
  const TemporaryFolder folder;
  const std::string bytes = random_records(300'000, 12, 4, 1'000);
  FileSortRequest job = request_of("u32", "u64", folder.path("out"));
  job.repeat = 3;
  RunReport report;
  Context reported = context();
  reported.report = &report;
  ASSERT_TRUE(sort_on_device(reported, folder.write("in", bytes), job).has_value());
  EXPECT_TRUE(content_of(job.output) == in_order<std::uint32_t>(bytes, 12, Order::ascending));
  for (const char* phase : {"read", "sort", "write", "copy for --repeat"}) {
    EXPECT_TRUE(std::ranges::any_of(report.phases(), [&](const auto& found) {
      return found.name == phase;
    })) << phase;
  }
}

// The budget is of host memory: it bounds the number of blocks, and a small one is not enough.
TEST(ResidentSortOfFiles, TakesBudgetsFromFourMebibytes) {
  const TemporaryFolder folder;
  const std::string bytes = random_records(1'000'000, 8, 8, std::uint64_t{1} << 60);
  const FileSortRequest job = request_of("u64", "", folder.path("out"));
  const std::string input = folder.write("in", bytes);
  Context limited = context();
  limited.memory_budget = std::uint64_t{4} << 20;
  ASSERT_TRUE(sort_on_device(limited, input, job).has_value());
  EXPECT_TRUE(content_of(job.output) == in_order<std::uint64_t>(bytes, 8, Order::ascending));
  limited.memory_budget -= 1;
  EXPECT_FALSE(sort_on_device(limited, input, job).has_value());
}

TEST(ResidentSortOfFiles, LeavesToOthersWhatItCannotDo) {
  const TemporaryFolder folder;
  const std::string input = folder.write("in", random_records(1'000, 4, 4, 100));
  FileSortRequest job = request_of("u32", "", folder.path("out"));
  job.options.devices = 2;
  EXPECT_FALSE(sort_on_device(context(), input, job).has_value());
  job.options.devices = 1;
  Context host = context();
  host.backend = Backend::host;
  EXPECT_FALSE(sort_on_device(host, input, job).has_value());
  EXPECT_FALSE(sort_on_device(context(), folder.write("empty", ""), job).has_value());
  sorting::GeneratedRecords generated;
  generated.records = 1'000;
  const auto source = sorting::generate_records(generated, job.format);
  EXPECT_FALSE(sorting::sort_on_device(context(), *source, job).has_value());
  EXPECT_FALSE(std::filesystem::exists(job.output));
}

TEST(ResidentSortOfFiles, FaultsLeaveNothing) {
  const TemporaryFolder folder;
  const std::string input = folder.write("in", random_records(1'000'000, 8, 8, 100));
  const FileSortRequest job = request_of("u64", "", folder.path("out"));
  const std::uint64_t before = device_memory_in_use();
  expect_error(
      [&] {
        const FileSizeLimit limit(std::uint64_t{5} << 20);
        static_cast<void>(sort_on_device(context(), input, job));
      },
      ErrorKind::output, job.output + ": cannot be written: File too large");
  // The file became shorter after it was opened.
  const auto source = sorting::open_record_file(input, job.format);
  std::filesystem::resize_file(input, 8 * 400'000);
  expect_error([&] { static_cast<void>(sorting::sort_on_device(context(), *source, job)); },
               ErrorKind::input, testing::HasSubstr("in: found 3200000 bytes, expected at least "));
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(device_memory_in_use(), before);
}

}  // namespace
}  // namespace sortie::test
