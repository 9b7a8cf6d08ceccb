// SPDX-License-Identifier: Apache-2.0

// The phases in reports: those that are not parts of others add up to the seconds of the run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;

class Phases : public ProgramTest {
 protected:
  /// Runs a command and compares its phases with its seconds. Time in no phase is missing in every
  /// run; other processes that take the processor between two phases are not. So one of ten runs
  /// has to be within the bound.
  void expect_all_seconds(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", path("report.json")});
    double wall = 0;
    double seconds = 0;
    std::string names;
    for (int attempt = 0; attempt < 10; ++attempt) {
      const Result result = run(arguments);
      ASSERT_EQ(result.exit_code, 0) << result.err;
      const auto report = nlohmann::json::parse(read_file(path("report.json")));
      wall = report["wall_seconds"];
      seconds = 0;
      names.clear();
      for (const auto& phase : report["phases"]) {
        if (phase.contains("within")) continue;
        seconds += phase["seconds"].get<double>();
        names += phase["name"].get<std::string>() + ", ";
      }
      // 2 %, and 2 ms for what a run takes however short it is.
      if (std::abs(wall - seconds) <= 0.02 * wall + 0.002) return;
    }
    ADD_FAILURE() << arguments[0] << ": found " << seconds << " of " << wall << " s in the phases "
                  << names;
  }
};

TEST_F(Phases, AddUpToTheSecondsOfARun) {
  expect_all_seconds({"spgemm", matrix("plskz362.mtx"), "-o", path("c.mtx")});
  expect_all_seconds({"spgemm", matrix("plskz362.mtx"), "--transpose-b", "--drop-zeros", "--verify",
                      "-o", path("c.mtx")});
  expect_all_seconds({"spgemm", matrix("plskz362.mtx"), "-o", path("c.mtx"), "--structure-only"});
  expect_all_seconds({"spgemm", matrix("plskz362.mtx"), "--dry-run"});
  const std::string text = sequence("lambda_phage.fa.gz");
  expect_all_seconds({"suffix-array", text, "-o", path("sa"), "--lcp", path("lcp"), "--bwt",
                      path("bwt"), "--inverse", path("isa"), "--documents", path("da"),
                      "--verify"});
  expect_all_seconds({"suffix-array", text, "-o", path("sa"), "--max-context", "20", "--verify"});
  expect_all_seconds({"query", text, path("sa"), "-p", "ACGT", "--verify", "-o", path("places")});
  expect_all_seconds(
      {"sort", "gen:uniform:2M", "--type", "u64", "-o", path("records"), "--verify"});
  expect_all_seconds({"sort", path("records"), "--type", "u32", "--values", "u32", "-o",
                      path("sorted"), "--repeat", "2"});
  expect_all_seconds(
      {"sort", path("records"), "--type", "u64", "-o", path("sorted"), "--max-memory", "4M"});
}

TEST_F(Phases, AreShownWithTheirParts) {
  const Result result =
      run({"spgemm", matrix("plskz362.mtx"), "-o", path("c.mtx"), "--algorithm", "essc", "-v"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> names;
  for (const std::string& line : lines(result.err)) {
    if (line.starts_with("  ")) names.push_back(line.substr(0, line.find("  ", 6)));
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"  start", "  multiply", "    analysis", "  write"}));
  EXPECT_EQ(names.front(), "  start");
  EXPECT_THAT(lines(result.err).back(), HasSubstr("; longest phase: "));
}

// The inverse is computed in a phase of the same name.
TEST_F(Phases, AreShownWhereOneContainsOneOfItsName) {
  const Result result =
      run({"suffix-array", sequence("lambda_phage.fa.gz"), "--inverse", path("isa"), "-v"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("\n  inverse "));
  EXPECT_THAT(result.err, HasSubstr("\n    inverse "));
}

}  // namespace
}  // namespace sortie::test
