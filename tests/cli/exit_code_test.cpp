// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "apps/cli/command.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

// Runs work that throws and returns what it put on standard error.
template <class Exception>
std::string complaint(const Exception& exception, ExitCode expected) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_guarded([&] { throw exception; }), expected);
  return testing::internal::GetCapturedStderr();
}

TEST(ExitCodes, FollowTheKindOfTheError) {
  EXPECT_EQ(run_guarded([] {}), ExitCode::done);
  for (const ErrorKind kind : {ErrorKind::input, ErrorKind::output, ErrorKind::out_of_memory,
                               ErrorKind::unavailable, ErrorKind::device}) {
    EXPECT_EQ(complaint(Error(kind, "x.mtx: broken"), ExitCode::failed), "sortie: x.mtx: broken\n");
  }
  EXPECT_EQ(complaint(Error(ErrorKind::usage, "no"), ExitCode::wrong_usage), "sortie: no\n");
  EXPECT_EQ(complaint(Error(ErrorKind::check, "row 3"), ExitCode::check_failed), "sortie: row 3\n");
}

TEST(ExitCodes, MemoryThatCannotBeHadIsNamed) {
  const std::string line = complaint(std::bad_alloc(), ExitCode::failed);
  EXPECT_EQ(line.rfind("sortie: out of memory: ", 0), 0u) << line;
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(ExitCodes, AnyOtherExceptionIsOneLine) {
  EXPECT_EQ(complaint(std::runtime_error("two\nlines"), ExitCode::failed), "sortie: two lines\n");
}

}  // namespace
}  // namespace sortie::cli
