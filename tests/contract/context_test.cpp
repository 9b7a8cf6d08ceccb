// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>

#include "core/host_runtime.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "tests/contract/entry_points.hpp"
#include "tests/support/expect_error.hpp"

// Every entry point honours every member of its context.
namespace sortie::test {
namespace {

Context on_host() {
  Context context;
  context.backend = Backend::host;
  return context;
}

std::vector<std::uint64_t> checksums(int threads) {
  Context context = on_host();
  context.threads = threads;
  std::vector<std::uint64_t> results;
  for (const EntryPoint& entry : entry_points()) results.push_back(entry.call(context));
  return results;
}

/// The checksums in a process of its own, since the first call fixes the number of threads.
std::vector<std::uint64_t> checksums_of_child(int threads) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 1;
    try {
      const std::vector<std::uint64_t> results = checksums(threads);
      const auto bytes = static_cast<ssize_t>(results.size() * sizeof(std::uint64_t));
      status =
          ::write(ends[1], results.data(), results.size() * sizeof(std::uint64_t)) == bytes ? 0 : 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "with %d threads: %s\n", threads, error.what());
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  std::vector<std::uint64_t> results(entry_points().size());
  const ssize_t got = ::read(ends[0], results.data(), results.size() * sizeof(std::uint64_t));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  results.resize(got < 0 ? 0 : static_cast<std::size_t>(got) / sizeof(std::uint64_t));
  return results;
}

/// Runs the children before any test has started the host runtime in this process.
class Children : public testing::Environment {
 public:
  static inline std::map<int, std::vector<std::uint64_t>> results;

  void SetUp() override {
    (void)entry_points().front();
    for (const int threads : {1, 3}) results[threads] = checksums_of_child(threads);
  }
};
[[maybe_unused]] const auto* const children = testing::AddGlobalTestEnvironment(new Children);

class Contract : public testing::TestWithParam<EntryPoint> {
 protected:
  [[nodiscard]] static std::size_t row() {
    const auto& rows = entry_points();
    const auto same = [](const EntryPoint& entry) { return entry.name == GetParam().name; };
    return static_cast<std::size_t>(std::find_if(rows.begin(), rows.end(), same) - rows.begin());
  }
};

TEST_P(Contract, ResultDoesNotDependOnThreads) {
  ASSERT_EQ(Children::results[1].size(), entry_points().size());
  ASSERT_EQ(Children::results[3].size(), entry_points().size());
  EXPECT_EQ(Children::results[1][row()], Children::results[3][row()]);
}

TEST_P(Contract, NumberOfThreadsIsThatOfTheRuntime) {
  start_host_runtime(0);
  Context context = on_host();
  context.threads = host_threads() + 1;
  const auto call = [&] { (void)GetParam().call(context); };
  if (GetParam().own_threads) {
    EXPECT_NO_THROW(call());
  } else {
    expect_error(call, ErrorKind::usage, testing::HasSubstr("the host runtime running with"));
  }
}

TEST_P(Contract, ProgressAscendsToItsTotal) {
  struct Last {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
  };
  std::map<std::string, Last> phases;
  Context context = on_host();
  context.progress = [&](std::string_view name, std::uint64_t done, std::uint64_t total) {
    Last& last = phases[std::string(name)];
    EXPECT_GE(done, last.done) << name;
    EXPECT_TRUE(total == 0 || done <= total) << name;
    last = {done, total};
  };
  (void)GetParam().call(context);
  EXPECT_FALSE(phases.empty());
  for (const auto& [name, last] : phases) EXPECT_EQ(last.done, last.total) << name;
}

TEST_P(Contract, ReportHasThePhases) {
  RunReport report;
  Context context = on_host();
  context.report = &report;
  (void)GetParam().call(context);
  std::vector<std::string> phases;
  for (const RunReport::Phase& phase : report.phases()) phases.push_back(phase.name);
  EXPECT_THAT(phases, testing::IsSupersetOf(GetParam().phases));
}

TEST_P(Contract, MemoryStaysWithinItsBudget) {
  Context context = on_host();
  context.memory_budget = 1;
  const auto call = [&] { return GetParam().call(context); };
  if (GetParam().small_budget == SmallBudget::constant) {
    EXPECT_EQ(call(), Children::results[1][row()]);
  } else {
    expect_error(call, ErrorKind::out_of_memory,
                 testing::MatchesRegex(".* needs .* \\([0-9]+ bytes\\), .* \\([0-9]+ bytes\\) are "
                                       "free.*"));
  }
  context.memory_budget = std::uint64_t{1} << 31;
  EXPECT_EQ(call(), Children::results[1][row()]);
}

INSTANTIATE_TEST_SUITE_P(EntryPoints, Contract, testing::ValuesIn(entry_points()),
                         [](const testing::TestParamInfo<EntryPoint>& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace sortie::test
