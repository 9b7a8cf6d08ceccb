// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/ranks/file_sort.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/sort/record_generator.hpp"
#include "sortie/cluster_sort.hpp"
#include "sortie/error.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/shared_folder.hpp"

namespace sortie::sorting {
namespace {

using cluster::Ranks;

struct Case {
  std::string type;
  std::string values;
  Distribution distribution = Distribution::uniform;
  std::uint64_t records = 0;
  Order order = Order::ascending;
};

Context host_context(std::uint64_t memory_budget = 0) {
  Context context;
  context.backend = Backend::host;
  context.memory_budget = memory_budget;
  return context;
}

std::unique_ptr<RecordSource> source_of(const Case& one) {
  return generate_records({one.distribution, one.records, 7, std::nullopt},
                          parse_record_format(one.type, one.values));
}

FileSortRequest request_of(const Case& one, const std::string& output) {
  FileSortRequest request;
  request.format = parse_record_format(one.type, one.values);
  request.options.order = one.order;
  request.options.stable = true;
  request.output = output;
  request.verify = true;
  return request;
}

/// The file that one machine writes; rank 0 makes it in phase "expected".
std::string expected_file(Ranks& ranks, const test::SharedFolder& folder, const Case& one) {
  const std::string path = folder.path("expected");
  ranks.on_rank(0, "expected", [&] {
    const auto source = source_of(one);
    static_cast<void>(sort_records_of(host_context(), *source, request_of(one, path)));
  });
  return path;
}

/// \param from  "": the records are generated on every rank; else a file with them
RankSortResult sort_on_ranks(Ranks& ranks, const Case& one, const std::string& output,
                             std::uint64_t memory_budget = 0, const std::string& from = "") {
  std::unique_ptr<RecordSource> source;
  const FileSortRequest request = request_of(one, output);
  ranks.together("open", [&] {
    source = from.empty() ? source_of(one) : open_record_file(from, request.format);
  });
  return sort_records_on_ranks(ranks, host_context(memory_budget), *source, request);
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"u64", "", Distribution::uniform, 5003, Order::ascending},
      {"f32", "u64", Distribution::normal, 3001, Order::descending},
      {"u8", "u32", Distribution::zipf, 4000, Order::ascending},  // mostly equal keys
      {"i16", "", Distribution::reverse, 5, Order::ascending},    // fewer than ranks
      {"i64", "f64", Distribution::uniform, 0, Order::ascending}};
  return all;
}

TEST(FileSort, WritesTheFileOfOneMachine) {
  test::on_ranks([](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    for (const Case& one : cases()) {
      const std::string expected = test::content_of(expected_file(ranks, folder, one));
      const std::string path = folder.path("out");
      const RankSortResult result = sort_on_ranks(ranks, one, path);
      EXPECT_EQ(result.sort.records, one.records);
      EXPECT_EQ(result.sort.merge_rounds, 0u);
      EXPECT_TRUE(test::content_of(path) == expected) << one.type;
    }
  });
}

TEST(FileSort, RanksReadTheirRangesOfAFile) {
  test::on_ranks([](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    for (const std::size_t number : {0, 1}) {  // without values and with them
      const Case one = cases()[number];
      const std::string expected = expected_file(ranks, folder, one);
      // Sorted in the other direction, and back: equal keys keep their order.
      Case other = one;
      other.order = one.order == Order::ascending ? Order::descending : Order::ascending;
      static_cast<void>(sort_on_ranks(ranks, other, folder.path("back"), 0, expected));
      static_cast<void>(sort_on_ranks(ranks, one, folder.path("out"), 0, folder.path("back")));
      EXPECT_TRUE(test::content_of(folder.path("out")) == test::content_of(expected)) << one.type;
      EXPECT_EQ(folder.entries(), 3u);
    }
  });
}

/// The least budget: some thousand records in memory.
constexpr std::uint64_t little_memory = std::uint64_t{64} << 10;
/// Records for which that does not suffice.
std::uint64_t many_records(const Ranks& ranks) {
  return 5500 * static_cast<std::uint64_t>(ranks.size()) + 7;
}

TEST(FileSort, BeyondMemoryWritesTheFileOfOneMachine) {
  test::on_few_ranks([](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    for (Case one : cases()) {
      const bool fits = one.records < 1000;
      if (!fits) one.records = many_records(ranks);
      const std::string expected = test::content_of(expected_file(ranks, folder, one));
      const std::string path = folder.path("out");
      const RankSortResult result = sort_on_ranks(ranks, one, path, little_memory);
      EXPECT_TRUE(test::content_of(path) == expected) << one.type;
      if (!fits) {
        EXPECT_GT(result.sort.runs, static_cast<std::uint64_t>(ranks.size())) << one.type;
      }
      EXPECT_EQ(folder.entries(), 2u) << "no temporary file is left";
    }
  });
}

/// What all ranks throw, and whether a file is left.
std::string error_of(Ranks& ranks, const test::SharedFolder& folder, std::uint64_t budget) {
  std::string message = "none";
  try {
    Case one = cases()[1];
    if (budget != 0) one.records = many_records(ranks);
    static_cast<void>(sort_on_ranks(ranks, one, folder.path("out"), budget));
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_EQ(folder.entries() > 0, message == "none");
  return message;
}

void expect_faults(Ranks& ranks, std::uint64_t budget, const std::vector<std::string>& phases) {
  const test::SharedFolder folder(ranks);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const std::string& phase = phases[i];
    for (const int failing : test::failing_ranks(ranks, i)) {
      if (failing > 0 && (phase == "create output" || phase == "rename output")) continue;
      const test::Fault fault(ranks, failing, phase);
      EXPECT_EQ(error_of(ranks, folder, budget), "rank " + std::to_string(failing) + ": injected")
          << phase;
    }
  }
}

TEST(FileSort, AFaultInAnyPhaseLeavesNoFile) {
  test::on_few_ranks([](Ranks& ranks) {
    expect_faults(
        ranks, 0,
        {"open", "check request", "check sizes", "measure memory", "plan", "allocate share", "read",
         "check memory", "local sort", "check traffic", "verify", "check records", "create output",
         "open output", "write", "close output", "rename output"});
    if (ranks.size() > 1) expect_faults(ranks, 0, {"splits", "allocate", "merge"});
  });
}

TEST(FileSort, AFaultBeyondMemoryLeavesNoFile) {
  test::on_few_ranks([](Ranks& ranks) {
    expect_faults(ranks, little_memory,
                  {"create runs", "allocate chunk", "sort chunks", "flush runs", "open runs",
                   "check traffic", "merge", "check records", "rename output"});
    if (ranks.size() > 1) expect_faults(ranks, little_memory, {"read runs"});
  });
}

TEST(FileSort, TooLittleMemoryIsRefused) {
  test::on_few_ranks([](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    EXPECT_THAT(error_of(ranks, folder, 1000),
                testing::AllOf(testing::StartsWith("rank 0: "), testing::HasSubstr("64.00 KiB")));
  });
}

TEST(FileSort, RanksThatSeeDifferentFilesAreRefused) {
  test::on_ranks([](Ranks& ranks) {
    if (ranks.size() == 1) return;
    Case one = cases()[0];
    one.records += static_cast<std::uint64_t>(ranks.rank() == ranks.size() - 1);
    try {
      static_cast<void>(sort_on_ranks(ranks, one, ""));
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  testing::HasSubstr("found 5003 records on a rank and 5004 on another"));
    }
  });
}

TEST(FileSort, ASourceThatEndsEarlyIsReported) {
  test::on_few_ranks([](Ranks& ranks) {
    class Short : public RecordSource {
     public:
      std::uint64_t read(std::span<char>) override { return 0; }
      [[nodiscard]] std::optional<std::uint64_t> records() const override { return 100; }
    } source;
    FileSortRequest request = request_of(cases()[0], "");
    try {
      static_cast<void>(sort_records_on_ranks(ranks, host_context(), source, request));
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
    }
  });
}

}  // namespace
}  // namespace sortie::sorting
