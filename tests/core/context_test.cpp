// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sortie/context.hpp"
#include "sortie/devices.hpp"
#include "sortie/version.hpp"
#include "tests/support/expect_error.hpp"

namespace {

using sortie::Backend;
using sortie::Context;
using testing::StartsWith;

TEST(Context, BackendsHaveNames) {
  EXPECT_EQ(sortie::name(Backend::automatic), "auto");
  EXPECT_EQ(sortie::name(Backend::cuda), "cuda");
  EXPECT_EQ(sortie::name(Backend::host), "host");
}

TEST(Context, HostIsAlwaysThere) {
  Context context;
  context.backend = Backend::host;
  context.device = 1000;  // of no interest to the host
  EXPECT_EQ(sortie::resolve_backend(context), Backend::host);
}

TEST(Context, AutomaticTakesCudaWhereADeviceIs) {
  EXPECT_EQ(sortie::resolve_backend({}),
            sortie::cuda_devices().empty() ? Backend::host : Backend::cuda);
}

TEST(Context, CudaWithoutADeviceIsRefusedWithTheReason) {
  if (!sortie::cuda_devices().empty()) GTEST_SKIP() << "this machine has a CUDA device";
  Context context;
  context.backend = Backend::cuda;
  sortie::test::expect_error([&] { static_cast<void>(sortie::resolve_backend(context)); },
                             sortie::ErrorKind::unavailable,
                             "the cuda backend cannot run: " + sortie::why_no_cuda());
}

TEST(Context, ADeviceThatIsNotThereIsRefused) {
  if (sortie::cuda_devices().empty()) GTEST_SKIP() << sortie::why_no_cuda();
  Context context;
  context.device = 1000;
  sortie::test::expect_error([&] { static_cast<void>(sortie::resolve_backend(context)); },
                             sortie::ErrorKind::unavailable,
                             StartsWith("found no CUDA device 1000, expected a number from 0 to"));
}

TEST(Devices, AReasonIsGivenExactlyWhereThereAreNone) {
  EXPECT_EQ(sortie::why_no_cuda().empty(), !sortie::cuda_devices().empty());
  EXPECT_EQ(sortie::cuda_device_count(), static_cast<int>(sortie::cuda_devices().size()));
  EXPECT_EQ(sortie::cuda_toolkit_version().empty(), !sortie::built_with_cuda());
}

TEST(Version, IsThatOfTheProject) {
  EXPECT_EQ(sortie::version(), SORTIE_PROJECT_VERSION);
  EXPECT_FALSE(sortie::commit().empty());
}

}  // namespace
