// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/cli/program.hpp"
#include "tests/support/backend.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using SortCommand = ProgramTest;

template <class T>
std::string bytes_of(const std::vector<T>& items) {
  std::string bytes(items.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), items.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> items_of(const std::string& bytes) {
  std::vector<T> items(bytes.size() / sizeof(T));
  std::memcpy(items.data(), bytes.data(), items.size() * sizeof(T));
  return items;
}

TEST_F(SortCommand, SortsAFileOfKeys) {
  write_file(path("keys"), bytes_of<std::int16_t>({3, -1, 2, -30000}));
  const Result result =
      run({"sort", path("keys"), "-o", path("sorted"), "--type", "i16", "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("4 records (i16 keys) sorted"));
  EXPECT_THAT(result.err, HasSubstr("verified: the records are in order, and none is lost"));
  EXPECT_THAT(items_of<std::int16_t>(read_file(path("sorted"))), ElementsAre(-30000, -1, 2, 3));
  EXPECT_THAT(names(), ElementsAre("keys", "sorted"));
}

TEST_F(SortCommand, SortsInPlaceWhereInputAndOutputAreOneFile) {
  write_file(path("keys"), bytes_of<double>({2, -1, 0.5}));
  EXPECT_EQ(run({"sort", path("keys"), "-o", path("keys"), "--type", "f64", "-q"}).exit_code, 0);
  EXPECT_THAT(items_of<double>(read_file(path("keys"))), ElementsAre(-1, 0.5, 2));
}

TEST_F(SortCommand, ValuesTravelWithTheirKeysBothWays) {
  struct __attribute__((packed)) Pair {
    std::uint32_t key;
    std::uint64_t value;
  };
  static_assert(sizeof(Pair) == 12);
  write_file(path("pairs"), bytes_of<Pair>({{7, 70}, {1, 10}, {7, 71}, {3, 30}}));
  for (const char* algorithm : {"radix", "merge"}) {
    const Result up = run({"sort", path("pairs"), "-o", "-", "--type", "u32", "--values", "u64",
                           "--algorithm", algorithm, "--gpus", "3", "--stable"});
    const auto pairs = items_of<Pair>(up.out);
    ASSERT_EQ(pairs.size(), 4u) << up.err;
    const std::uint64_t expected[] = {10, 30, 70, 71};
    for (int i = 0; i < 4; ++i) EXPECT_EQ(pairs[i].value, expected[i]);
    const Result down = run({"sort", path("pairs"), "-o", "-", "--type", "u32", "--values", "u64",
                             "--algorithm", algorithm, "--descending", "--stable"});
    const auto falling = items_of<Pair>(down.out);
    ASSERT_EQ(falling.size(), 4u);
    const std::uint64_t expected_down[] = {70, 71, 30, 10};
    for (int i = 0; i < 4; ++i) EXPECT_EQ(falling[i].value, expected_down[i]);
  }
}

TEST_F(SortCommand, ReadsStandardInputAndWritesStandardOutput) {
  write_file(path("keys"), bytes_of<std::uint8_t>({9, 1, 255, 0}));
  const Result result = run({"sort", "-", "-o", "-", "--type", "u8"}, {.in = path("keys")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(items_of<std::uint8_t>(result.out), ElementsAre(0, 1, 9, 255));
}

TEST_F(SortCommand, AnEmptyFileIsSorted) {
  write_file(path("keys"), "");
  EXPECT_EQ(run({"sort", path("keys"), "-o", path("sorted"), "--type", "u64"}).exit_code, 0);
  EXPECT_EQ(read_file(path("sorted")), "");
}

TEST_F(SortCommand, EveryGeneratorIsSorted) {
  for (const char* kind : {"uniform", "normal", "zipf", "sorted", "reverse", "nearly", "entropy"}) {
    for (const char* type : {"u8", "i32", "f32", "u64", "f64"}) {
      const Result result = run({"sort", std::string("gen:") + kind + ":20K:3", "--type", type,
                                 "--values", "u32", "--verify"});
      EXPECT_EQ(result.exit_code, 0) << kind << ' ' << type << ' ' << result.err;
      EXPECT_THAT(result.out, HasSubstr("20000 records"));
    }
  }
}

TEST_F(SortCommand, SeedsChooseTheKeys) {
  const auto keys = [](const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"sort", "-q", "-o", "-", "--type", "u32"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run(all).out;
  };
  EXPECT_EQ(keys({"gen:zipf:1K:7"}), keys({"gen:zipf:1K", "--seed", "7"}));
  EXPECT_NE(keys({"gen:zipf:1K:7"}), keys({"gen:zipf:1K"}));
  EXPECT_NE(keys({"gen:zipf:1K:7"}), keys({"gen:zipf:1K:7:1.5"}));
  EXPECT_EQ(keys({"gen:entropy:1K:7:0"}), std::string(4000, '\0'));
}

TEST_F(SortCommand, AFileOfThreeTimesTheMemory) {
  const auto sort = [&](const std::string& output, std::vector<std::string> more) {
    more.insert(more.begin(), {"sort", path("keys"), "-o", path(output), "--type", "u32",
                               "--values", "u32", "--stable", "--verify"});
    return run(more);
  };
  // Keys as they are drawn: with a single value each is in its place already.
  std::vector<std::uint64_t> records(3 * (1U << 20) / 8 + 11);
  std::uint64_t state = 1;
  for (std::uint64_t& record : records) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    record = state >> 8;
  }
  write_file(path("keys"), bytes_of(records));
  const Result within = sort("within", {});
  const Result beyond = sort("beyond", {"--max-memory", "1M", "--json", path("report.json")});
  EXPECT_EQ(within.exit_code, 0) << within.err;
  EXPECT_EQ(beyond.exit_code, 0) << beyond.err;
  EXPECT_THAT(beyond.err, HasSubstr("beyond memory: "));
  std::stable_sort(records.begin(), records.end(), [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>(a) < static_cast<std::uint32_t>(b);
  });
  EXPECT_TRUE(read_file(path("within")) == bytes_of(records));
  EXPECT_TRUE(read_file(path("beyond")) == bytes_of(records));
  EXPECT_THAT(names(), ElementsAre("beyond", "keys", "report.json", "within"));
  const auto report = nlohmann::json::parse(read_file(path("report.json")));
  EXPECT_THAT(report.dump(), HasSubstr("\"merge_rounds\":"));
}

// In memory, with chunks of all sizes, and with several rounds of merging.
TEST_F(SortCommand, BudgetsAndThreadsDoNotChangeTheBytes) {
  std::string bytes(std::size_t{900'000}, '\0');
  std::uint64_t state = 3;
  for (char& byte : bytes) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<char>(state >> 60);  // few values, so that keys are equal
  }
  write_file(path("in"), bytes);
  struct Format {
    const char* type;
    std::vector<std::string> values;
  };
  const std::vector<Format> formats{{"u8", {"--values", "u64"}},
                                    {"i16", {}},
                                    {"f64", {}},
                                    {"u32", {"--values", "f32"}},
                                    {"i64", {"--values", "i32"}}};
  for (const Format& format : formats) {
    const auto sort = [&](const std::vector<std::string>& more) {
      std::vector<std::string> arguments{"sort",      path("in"), "-o",       path("out"), "--type",
                                         format.type, "--stable", "--verify", "-q"};
      arguments.insert(arguments.end(), format.values.begin(), format.values.end());
      arguments.insert(arguments.end(), more.begin(), more.end());
      const Result result = run(arguments);
      EXPECT_EQ(result.exit_code, 0) << result.err;
      return read_file(path("out"));
    };
    const std::string expected = sort({});
    EXPECT_EQ(expected.size(), bytes.size());
    for (const char* threads : {"1", "2", "3", "4"}) {
      for (const char* budget : {"64K", "300K", "1500K", "40M"}) {
        EXPECT_TRUE(sort({"--threads", threads, "--max-memory", budget}) == expected)
            << format.type << ", " << threads << " threads, " << budget;
      }
    }
  }
}

TEST_F(SortCommand, InterruptedItLeavesNothing) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  write_file(path("out"), "older");
  // Much more than fits, so that runs have been put aside when the signal comes.
  const std::string input(std::size_t{2} << 20, 'x');
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    EXPECT_EQ(run_until_signal(
                  {"sort", path("pipe"), "-o", path("out"), "--type", "u32", "--max-memory", "64K"},
                  path("pipe"), input, signal),
              128 + signal);
    EXPECT_THAT(names(), ElementsAre("out", "pipe"));
    EXPECT_EQ(read_file(path("out")), "older");
  }
}

TEST_F(SortCommand, AFileOfNoWholeNumberOfRecordsIsRefused) {
  write_file(path("keys"), "12345");
  const std::string message = ": found 5 bytes, expected a multiple of the 4 bytes of u32 keys";
  expect_error(run({"sort", path("keys"), "-o", path("out"), "--type", "u32"}), 1,
               path("keys") + message);
  expect_error(run({"sort", "-", "-o", path("out"), "--type", "u32"}, {.in = path("keys")}), 1,
               "<stdin>" + message);
  EXPECT_THAT(names(), ElementsAre("keys"));
}

TEST_F(SortCommand, WhatCannotBeReadOrWrittenIsNamed) {
  expect_error(
      run({"sort", path("absent"), "--type", "u32"}), 1,
      path("absent") + ": cannot be opened: No such file or directory, expected a readable file");
  expect_error(run({"sort", "gen:uniform:1K", "--type", "u32", "-o", path("no/folder")}), 1,
               path("no/folder") + ": cannot be written: No such file or directory");
  expect_error(run({"sort", "gen:uniform:1K", "--type", "u32", "-o", "/dev/full"}), 1,
               "/dev/full: cannot be written: No space left on device");
  expect_error(run({"sort", "gen:uniform:1K", "--type", "u32", "--max-memory", "1K"}), 1,
               "out of memory: sort beyond memory needs 64.00 KiB (65536 bytes), 1.00 KiB (1024 "
               "bytes) are free");
}

TEST_F(SortCommand, ReportsFiguresAsJson) {
  const Result result = run({"sort", "gen:uniform:10K", "--type", "f32", "--json", "-", "--repeat",
                             "3", "--algorithm", "merge", "--descending", "--backend", "host"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  const std::string text = report.dump();
  for (const char* part : {"\"records\":10000", "\"type\":\"f32\"", "\"order\":\"descending\"",
                           "\"algorithm\":\"merge\"", "\"runs\":1", "\"pivots\""})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST_F(SortCommand, SaysWhereItRan) {
  const Result result = run({"sort", "gen:uniform:10K", "--type", "u32", "--backend", "host"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("on host (auto)"));
  if (backend() != Backend::cuda) return;
  for (const char* algorithm : {"radix", "het", "rmg"}) {
    const Result on_gpus =
        run({"sort", "gen:zipf:300K", "--type", "f32", "--values", "u32", "--backend", "cuda",
             "--gpus", "3", "--algorithm", algorithm, "--descending", "--verify"});
    EXPECT_EQ(on_gpus.exit_code, 0) << on_gpus.err;
    EXPECT_THAT(on_gpus.out, HasSubstr(std::string("on cuda (") + algorithm + ")"));
  }
}

}  // namespace
}  // namespace sortie::test
