// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/devices.hpp"
#include "sortie/run_report.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"

namespace {

int current_device() {
  int device = -1;
  sortie::check_cuda(cudaGetDevice(&device));
  return device;
}

TEST(Devices, AreDescribed) {
  const int before = current_device();
  int ordinal = 0;
  for (const auto& info : sortie::cuda_devices()) {
    EXPECT_EQ(info.ordinal, ordinal++);
    EXPECT_FALSE(info.name.empty());
    EXPECT_GT(info.multiprocessors, 0);
    EXPECT_GT(info.memory_free, 0U);
    EXPECT_LE(info.memory_free, info.memory_total);
  }
  EXPECT_FALSE(sortie::cuda_driver_version().empty());
  EXPECT_EQ(current_device(), before);
}

TEST(DeviceScope, MakesTheDeviceCurrentAndRestores) {
  const int before = current_device();
  sortie::Context context = sortie::test::context();
  context.device = sortie::cuda_device_count() - 1;
  {
    const sortie::DeviceScope scope(context);
    EXPECT_EQ(current_device(), context.device);
  }
  EXPECT_EQ(current_device(), before);
}

TEST(DeviceScope, RefusesADeviceThatIsNotThere) {
  sortie::Context context = sortie::test::context();
  context.device = sortie::cuda_device_count();
  sortie::test::expect_error([&] { const sortie::DeviceScope scope(context); },
                             sortie::ErrorKind::unavailable,
                             testing::StartsWith("found no CUDA device"));
}

TEST(DeviceMemory, TheBudgetIsTheSmallerOfAskedAndFree) {
  sortie::Context context = sortie::test::context();
  const sortie::DeviceScope scope(context);
  EXPECT_GT(sortie::device_memory_free(), 0U);
  context.memory_budget = 1;
  EXPECT_EQ(sortie::device_memory_budget(context), 1U);
  context.memory_budget = std::numeric_limits<std::uint64_t>::max();
  EXPECT_LT(sortie::device_memory_budget(context), context.memory_budget);
}

TEST(RunReport, NamesTheGpu) {
  const std::string json = sortie::RunReport().to_json({"sortie"}, sortie::test::context());
  EXPECT_THAT(json, testing::HasSubstr(sortie::cuda_devices().front().name));
  EXPECT_THAT(json, testing::HasSubstr("\"backend\": \"cuda\""));
}

}  // namespace
