// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <csignal>

#include "tests/cli/program.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Output = ProgramTest;

TEST_F(Output, ThatCannotBeWrittenIsAnErrorBeforeTheWork) {
  const std::string absent = path("no/such/folder/out");
  const std::string message = absent + ": cannot be written: No such file or directory";
  const std::string a = matrix("can___24.mtx");
  const std::string text = sequence("crlf.fa");
  expect_error(run_on_host({"spgemm", a, "-o", absent}), 1, message);
  expect_error(run_on_host({"suffix-array", text, "-o", absent}), 1, message);
  expect_error(run_on_host({"spgemm", a, "--json", absent}), 1, message);
  expect_error(run_on_host({"bench", "spgemm", a, "--csv", absent}), 1, message);
  expect_error(run_on_host({"bench", "tune", "-o", absent}), 1, message);
  expect_error(run_on_host({"spgemm", a, "-o", path("")}), 1,
               path("") + ": cannot be written: Is a directory");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Output, OnAFullDiskIsAnError) {
  const std::string message = "/dev/full: cannot be written: No space left on device";
  expect_error(run({"spgemm", matrix("can___24.mtx"), "-o", "/dev/full"}), 1, message);
  expect_error(run({"suffix-array", sequence("crlf.fa"), "-o", "/dev/full"}), 1, message);
  expect_error(run({"suffix-array", sequence("crlf.fa"), "--text", "-o", "/dev/full"}), 1, message);
}

TEST_F(Output, OnAFullStandardOutputIsAnError) {
  const std::string message = "sortie: <stdout>: cannot be written: No space left on device\n";
  const Streams full{.out = "/dev/full"};
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"spgemm", matrix("can___24.mtx")},
        {"spgemm", matrix("can___24.mtx"), "-o", "-", "-q"},
        {"suffix-array", sequence("crlf.fa")},
        {"suffix-array", sequence("crlf.fa"), "-o", "-", "-q"},
        {"info"}}) {
    const Result result = run(arguments, full);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err, message);
  }
}

TEST_F(Output, IntoAPipeThatNobodyReadsEndsQuietly) {
  const Result result =
      run({"suffix-array", sequence("lambda_phage.fa.gz"), "-o", "-", "-q"}, {.closed_pipe = true});
  EXPECT_EQ(result.exit_code, 128 + SIGPIPE);
  EXPECT_EQ(result.err, "");
}

TEST_F(Output, ReplacesAnOlderFileOnlyWhenItIsWhole) {
  write_file(path("c.mtx"), "older");
  const std::string broken = SORTIE_TEST_DATA "/matrices/invalid/too_few_entries.mtx";
  EXPECT_EQ(run({"spgemm", broken, "-o", path("c.mtx")}).exit_code, 1);
  EXPECT_EQ(read_file(path("c.mtx")), "older");
  EXPECT_EQ(run({"spgemm", matrix("can___24.mtx"), "-o", path("c.mtx")}).exit_code, 0);
  EXPECT_EQ(read_file(path("c.mtx")).substr(0, 14), "%%MatrixMarket");
  EXPECT_THAT(names(), ElementsAre("c.mtx"));
}

}  // namespace
}  // namespace sortie::test
