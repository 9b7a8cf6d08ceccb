// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/host_runtime.hpp"
#include "tests/support/expect_error.hpp"

namespace {

using sortie::ErrorKind;
using testing::HasSubstr;

// One test, as the runtime starts once in a process and the order of the steps is the matter.
TEST(HostRuntime, StartsOnceWithTheThreadsAskedFor) {
  EXPECT_THAT(sortie::host_runtime_version(), testing::StartsWith("Kokkos "));
  const bool serial = sortie::host_runtime_version().find("(Serial)") != std::string::npos;
  const int threads = serial ? 1 : 2;

  EXPECT_EQ(sortie::host_threads(), 0);
  sortie::test::expect_error([] { sortie::start_host_runtime(-1); }, ErrorKind::usage,
                             "found -1 threads, expected 1 or more");
  if (serial)
    sortie::test::expect_error([] { sortie::start_host_runtime(2); }, ErrorKind::unavailable,
                               HasSubstr("which has one thread"));
  EXPECT_EQ(sortie::host_threads(), 0);

  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  sortie::start_host_runtime(threads);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(sortie::host_threads(), threads);

  sortie::start_host_runtime(threads);
  sortie::start_host_runtime(0);
  EXPECT_EQ(sortie::host_threads(), threads);
  if (!serial)
    sortie::test::expect_error(
        [] { sortie::start_host_runtime(3); }, ErrorKind::usage,
        HasSubstr("found the host runtime running with 2 threads, expected 3"));
}

}  // namespace
