// SPDX-License-Identifier: Apache-2.0

// Records of files sorted in memory and beyond, against a stable sort of the same bytes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "apps/sort/record_generator.hpp"
#include "core/random.hpp"
#include "papers/papers.hpp"
#include "sortie/run_report.hpp"
#include "sortie/sort_file.hpp"
#include "tests/sort/records.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using sorting::FileSortRequest;
using sorting::SortResult;
using testing::HasSubstr;

Context host_context(std::uint64_t budget = 0) {
  Context context;
  context.backend = Backend::host;
  context.memory_budget = budget;
  return context;
}

SortResult sort_file(const Context& context, const std::string& input, const FileSortRequest& job) {
  const auto source = sorting::open_record_file(input, job.format);
  return sorting::sort_records_of(context, *source, job);
}

template <class Key>
class SortFileTest : public testing::Test {
 protected:
  /// Sorts within the budget and compares all bytes. Returns what the sort told.
  SortResult check(std::uint64_t n, const char* value, std::uint64_t budget, Order order,
                   std::uint64_t values, SortAlgorithm algorithm = SortAlgorithm::automatic) {
    SCOPED_TRACE(std::to_string(n) + " records, values " + value + ", budget " +
                 std::to_string(budget) + ", " + std::to_string(values) + " values");
    FileSortRequest job;
    job.format = sorting::parse_record_format(name(key_type_of<Key>()), value);
    job.options.order = order;
    job.options.algorithm = algorithm;
    job.options.devices = 3;
    job.verify = true;
    job.output = folder_.path("out");
    const std::string bytes = random_records(n, job.format.record_bytes(), sizeof(Key), values);
    const SortResult result = sort_file(host_context(budget), folder_.write("in", bytes), job);
    EXPECT_EQ(result.records, n);
    EXPECT_TRUE(content_of(job.output) == in_order<Key>(bytes, job.format.record_bytes(), order))
        << "the output differs from the reference's";
    EXPECT_EQ(folder_.entries(), 2u);
    return result;
  }

 private:
  TemporaryFolder folder_;
};

using Keys = testing::Types<std::uint8_t, std::int16_t, std::uint32_t, float, std::int64_t, double>;
TYPED_TEST_SUITE(SortFileTest, Keys);

constexpr std::uint64_t kibibyte = 1024;

TYPED_TEST(SortFileTest, InMemory) {
  for (const char* value : {"", "u32", "f64"}) {
    for (const std::uint64_t n : {0, 1, 1'000, 20'001}) {
      const SortResult result = this->check(n, value, 0, Order::ascending, 5'000);
      EXPECT_EQ(result.runs, 1u);
      EXPECT_EQ(result.merge_rounds, 0u);
    }
  }
}

TYPED_TEST(SortFileTest, OfThreeTimesTheMemory) {
  for (const char* value : {"", "u32", "f64"}) {
    for (const std::uint64_t values :
         {std::uint64_t{1}, std::uint64_t{300}, std::uint64_t{1} << 60}) {
      const std::uint64_t budget = 1024 * kibibyte;
      const std::uint64_t record = sizeof(TypeParam) + (*value == 0 ? 0 : *value == 'u' ? 4 : 8);
      const std::uint64_t n = 3 * budget / record + 1;
      const Order order = values == 300 ? Order::descending : Order::ascending;
      const SortResult result = this->check(n, value, budget, order, values);
      EXPECT_GE(result.runs, 6u);
      EXPECT_GE(result.merge_rounds, 1u);
    }
  }
}

TYPED_TEST(SortFileTest, InSeveralRoundsOfMerging) {
  const SortResult result =
      this->check(60'000, "u64", 64 * kibibyte, Order::ascending, 1'000, SortAlgorithm::merge);
  EXPECT_GE(result.runs, 20u);
  EXPECT_GE(result.merge_rounds, 4u);
}

// Runs that do not overlap, and a source that ends with a chunk.
TEST(SortFile, SortedAndReversedRecordsBeyondMemory) {
  TemporaryFolder folder;
  for (const bool reverse : {false, true}) {
    FileSortRequest job;
    job.format = sorting::parse_record_format("u32", "");
    job.output = folder.path("out");
    job.verify = true;
    sorting::GeneratedRecords wanted;
    wanted.records = 150'000;
    wanted.distribution = reverse ? sorting::Distribution::reverse : sorting::Distribution::sorted;
    const auto source = sorting::generate_records(wanted, job.format);
    const SortResult result = sorting::sort_records_of(host_context(100 * kibibyte), *source, job);
    EXPECT_EQ(result.records, 150'000u);
    EXPECT_GE(result.runs, 12u);
    EXPECT_EQ(content_of(job.output).size(), 600'000u);
  }
}

TEST(SortFile, OfUnknownLengthFitsOrDoesNot) {
  TemporaryFolder folder;
  FileSortRequest job;
  job.format = sorting::parse_record_format("u16", "u32");
  job.output = folder.path("out");
  /// A source that does not tell how many records it has.
  class Pipe : public sorting::RecordSource {
   public:
    explicit Pipe(std::string bytes) : bytes_(std::move(bytes)) {}
    std::uint64_t read(std::span<char> into) override {
      const std::size_t size = std::min(into.size(), bytes_.size() - at_);
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), size, into.begin());
      at_ += size;
      return size / 6;
    }
    [[nodiscard]] std::optional<std::uint64_t> records() const override { return std::nullopt; }

   private:
    std::string bytes_;
    std::size_t at_ = 0;
  };
  const std::uint64_t budget = 60 * kibibyte + 4 * kibibyte;  // chunks of 4096 records
  for (const std::uint64_t n : {0, 1, 4'095, 4'096, 4'097, 8'192, 50'000}) {
    SCOPED_TRACE(n);
    const std::string bytes = random_records(n, 6, 2, 500);
    Pipe pipe(bytes);
    const SortResult result = sorting::sort_records_of(host_context(budget), pipe, job);
    EXPECT_EQ(result.merge_rounds > 0, n > 4'096);
    EXPECT_TRUE(content_of(job.output) == in_order<std::uint16_t>(bytes, 6, Order::ascending));
  }
}

TEST(SortFile, ReportsItsPhasesAndProgress) {
  TemporaryFolder folder;
  RunReport report;
  Context context = host_context(64 * kibibyte);
  context.report = &report;
  std::vector<std::string> told;
  context.progress = [&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(done, total);
    if (told.empty() || told.back() != phase) told.emplace_back(phase);
  };
  FileSortRequest job;
  job.format = sorting::parse_record_format("u64", "");
  job.output = folder.path("out");
  const auto source = sorting::generate_records({{}, 20'000, 1, {}}, job.format);
  static_cast<void>(sorting::sort_records_of(context, *source, job));
  EXPECT_THAT(told, testing::ElementsAre("sort chunks", "merge"));
  std::vector<std::string> phases;
  for (const auto& phase : report.phases()) phases.push_back(phase.name);
  EXPECT_THAT(phases, testing::IsSupersetOf({"read", "sort", "spill", "merge"}));
}

TEST(SortFile, RepeatsFromTheSameRecordsWithinMemoryOnly) {
  TemporaryFolder folder;
  FileSortRequest job;
  job.format = sorting::parse_record_format("u64", "u32");
  job.output = folder.path("out");
  job.repeat = 3;
  job.verify = true;
  const std::string bytes = random_records(5'000, 12, 8, 100);
  static_cast<void>(sort_file(host_context(), folder.write("in", bytes), job));
  EXPECT_TRUE(content_of(job.output) == in_order<std::uint64_t>(bytes, 12, Order::ascending));
  expect_error(
      [&] { static_cast<void>(sort_file(host_context(64 * kibibyte), folder.path("in"), job)); },
      ErrorKind::usage, HasSubstr("found --repeat 3 for records beyond memory, expected 1"));
}

TEST(SortFile, RefusesWhatItCannotDo) {
  TemporaryFolder folder;
  FileSortRequest job;
  job.format = sorting::parse_record_format("u32", "");
  const std::string input = folder.write("in", std::string(400, 'x'));
  expect_error([&] { static_cast<void>(sort_file(host_context(1000), input, job)); },
               ErrorKind::out_of_memory, HasSubstr("sort beyond memory needs 64.00 KiB"));
  job.options.algorithm = papers::het;
  expect_error([&] { static_cast<void>(sort_file(host_context(), input, job)); },
               ErrorKind::unavailable, HasSubstr("found algorithm het on backend host"));
  job.options.algorithm = SortAlgorithm::automatic;
  job.output = folder.path("no/folder");
  expect_error([&] { static_cast<void>(sort_file(host_context(), input, job)); }, ErrorKind::output,
               HasSubstr("No such file or directory"));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(SortFile, AFaultWhileReadingLeavesNothing) {
  TemporaryFolder folder;
  class Broken : public sorting::RecordSource {
   public:
    std::uint64_t read(std::span<char> into) override {
      if (++reads_ > 5) throw Error(ErrorKind::input, "the source broke");
      std::fill(into.begin(), into.end(), 'x');
      return into.size() / 4;
    }
    [[nodiscard]] std::optional<std::uint64_t> records() const override { return std::nullopt; }

   private:
    int reads_ = 0;
  };
  FileSortRequest job;
  job.format = sorting::parse_record_format("u32", "");
  job.output = folder.write("out", "older");
  Broken broken;
  expect_error(
      [&] {
        static_cast<void>(sorting::sort_records_of(host_context(64 * kibibyte), broken, job));
      },
      ErrorKind::input, "the source broke");
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_EQ(content_of(job.output), "older");
}

}  // namespace
}  // namespace sortie::test
