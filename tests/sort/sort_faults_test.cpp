// SPDX-License-Identifier: Apache-2.0

// Faults while records are read, spilled, merged and written: the first one is reported, and
// neither an output nor a temporary file is left.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include "core/random.hpp"
#include "sortie/sort_file.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/pipe_reader.hpp"
#include "tests/support/read_faults.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kibibyte = 1024;
constexpr std::uint64_t input_bytes = 1200 * kibibyte;

std::string random_bytes(std::uint64_t size) {
  Random random(7);
  std::string bytes;
  while (bytes.size() < size) bytes.push_back(static_cast<char>(random.next()));
  return bytes;
}

/// Bytes written to a named pipe by a thread.
class PipeWriter {
 public:
  PipeWriter(const std::string& path, std::string bytes) {
    if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("no pipe can be made");
    thread_ = std::thread(
        [path, bytes = std::move(bytes)] { std::ofstream(path, std::ios::binary) << bytes; });
  }
  ~PipeWriter() { thread_.join(); }
  PipeWriter(const PipeWriter&) = delete;
  PipeWriter& operator=(const PipeWriter&) = delete;

 private:
  std::thread thread_;
};

class SortFaults : public testing::TestWithParam<const char*> {
 protected:
  SortFaults() {
    job_.format = sorting::parse_record_format("u32", GetParam());
    job_.output = folder_.write("out", "older");
  }

  void sort(const std::string& input, std::uint64_t budget = 200 * kibibyte) {
    Context context;
    context.backend = Backend::host;
    context.memory_budget = budget;
    const auto source = sorting::open_record_file(input, job_.format, 2);
    static_cast<void>(sorting::sort_records_of(context, *source, job_));
  }

  void expect_only(std::size_t entries) const {
    EXPECT_EQ(folder_.entries(), entries);
    EXPECT_EQ(content_of(folder_.path("out")), "older");
  }

  TemporaryFolder folder_;
  sorting::FileSortRequest job_;
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutValues, SortFaults, testing::Values("", "u32"));

TEST_P(SortFaults, AnInputThatEndsWithinARecordAfterSeveralChunks) {
  for (const std::uint64_t size : {std::uint64_t{3}, 150 * kibibyte + 3, input_bytes + 1}) {
    const std::string pipe = folder_.path("pipe" + std::to_string(size));
    const PipeWriter writer(pipe, random_bytes(size));
    expect_error([&] { sort(pipe); }, ErrorKind::input,
                 HasSubstr(std::to_string(size) + " bytes, expected a multiple of the "));
  }
  expect_only(4);
}

TEST_P(SortFaults, AReadThatFailsInTheMiddle) {
  const std::string input = folder_.write("in", random_bytes(input_bytes));
  for (const std::uint64_t budget : {200 * kibibyte, 64 * 1024 * kibibyte}) {
    for (const std::uint64_t place : {std::uint64_t{0}, input_bytes / 2, input_bytes - 1}) {
      const InjectedReadFaults faults({.error_at = place});
      expect_error([&] { sort(input, budget); }, ErrorKind::input,
                   HasSubstr("in: cannot be read: Input/output error"));
      expect_only(2);
    }
  }
}

TEST_P(SortFaults, AnInputThatShrinks) {
  const std::string input = folder_.write("in", random_bytes(input_bytes));
  {
    const InjectedReadFaults faults({.size = input_bytes / 2 + 1});
    expect_error([&] { sort(input); }, ErrorKind::input,
                 HasSubstr("bytes, expected a multiple of the "));
  }
  expect_only(2);
}

TEST_P(SortFaults, ASpillFileThatCannotBeRead) {
  // A pipe is not read by the function that fails.
  const std::string pipe = folder_.path("pipe");
  const PipeWriter writer(pipe, random_bytes(input_bytes));
  const InjectedReadFaults faults({.error_at = input_bytes / 2});
  expect_error([&] { sort(pipe); }, ErrorKind::input,
               HasSubstr("temporary file cannot be read: Input/output error"));
  expect_only(2);
}

TEST_P(SortFaults, ReadsOfAFewBytesAndInterruptionsAreNone) {
  const std::string bytes = random_bytes(input_bytes);
  const std::string input = folder_.write("in", bytes);
  job_.verify = true;
  sort(input);
  const std::string expected = content_of(job_.output);
  EXPECT_EQ(expected.size(), input_bytes);
  const InjectedReadFaults faults({.most_bytes = 1000, .interrupted = true});
  sort(input);
  EXPECT_GT(faults.injected(), 100u);
  EXPECT_TRUE(content_of(job_.output) == expected);
}

TEST_P(SortFaults, AFullDisk) {
  const std::string input = folder_.write("in", random_bytes(input_bytes));
  {
    const FileSizeLimit limit(input_bytes / 2);
    expect_error([&] { sort(input); }, ErrorKind::output,
                 HasSubstr("temporary file cannot be written: File too large"));
    expect_only(2);
    expect_error([&] { sort(input, 64 * 1024 * kibibyte); }, ErrorKind::output,
                 HasSubstr("out: cannot be written: File too large"));
    expect_only(2);
  }
  {
    // The spill file lacks the last run, which stays in memory.
    const FileSizeLimit limit(input_bytes - 1);
    expect_error([&] { sort(input, 2000 * kibibyte); }, ErrorKind::output,
                 HasSubstr("out: cannot be written: File too large"));
    expect_only(2);
  }
  job_.output = "/dev/full";
  expect_error([&] { sort(input); }, ErrorKind::output,
               "/dev/full: cannot be written: No space left on device");
}

TEST_P(SortFaults, AReaderThatClosesThePipe) {
  const IgnoredSignal ignored(SIGPIPE);
  const std::string input = folder_.write("in", random_bytes(input_bytes));
  for (const std::uint64_t budget : {200 * kibibyte, 64 * 1024 * kibibyte}) {
    PipeReader reader(10'000);
    job_.output = reader.path();
    expect_error([&] { sort(input, budget); }, ErrorKind::output,
                 HasSubstr("cannot be written: Broken pipe"));
  }
  expect_only(2);
}

TEST_P(SortFaults, FromPipeToPipeTheBytesAreThoseOfFiles) {
  const std::string bytes = random_bytes(input_bytes);
  job_.options.stable = true;
  sort(folder_.write("in", bytes), 64 * 1024 * kibibyte);
  const std::string expected = content_of(job_.output);
  for (const std::uint64_t budget :
       {64 * kibibyte, 200 * kibibyte, 1000 * kibibyte, 3500 * kibibyte, 64 * 1024 * kibibyte}) {
    SCOPED_TRACE(budget);
    const std::string pipe = folder_.path("pipe" + std::to_string(budget));
    const PipeWriter writer(pipe, bytes);
    PipeReader reader;
    job_.output = reader.path();
    sort(pipe, budget);
    EXPECT_TRUE(reader.text() == expected);
  }
}

}  // namespace
}  // namespace sortie::test
