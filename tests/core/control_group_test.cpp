// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "core/host_runtime.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using sortie::control_group_limits;
using sortie::test::TemporaryFolder;

TEST(ControlGroup, NoFilesMeanNoLimits) {
  const TemporaryFolder root;
  const auto limits = control_group_limits(root.path(""));
  EXPECT_FALSE(limits.memory_left.has_value());
  EXPECT_FALSE(limits.cores.has_value());
}

TEST(ControlGroup, Version2WithoutLimits) {
  const TemporaryFolder root;
  static_cast<void>(root.write("memory.max", "max\n"));
  static_cast<void>(root.write("memory.current", "5000\n"));
  static_cast<void>(root.write("cpu.max", "max 100000\n"));
  const auto limits = control_group_limits(root.path(""));
  EXPECT_FALSE(limits.memory_left.has_value());
  EXPECT_FALSE(limits.cores.has_value());
}

TEST(ControlGroup, Version2CountsFileCachesAsFree) {
  const TemporaryFolder root;
  static_cast<void>(root.write("memory.max", "10000\n"));
  static_cast<void>(root.write("memory.current", "7000\n"));
  static_cast<void>(root.write("memory.stat", "anon 4000\ninactive_file 3000\n"));
  EXPECT_EQ(control_group_limits(root.path("")).memory_left, 6000U);
}

TEST(ControlGroup, MoreUsedThanAllowedLeavesNothing) {
  const TemporaryFolder root;
  static_cast<void>(root.write("memory.max", "10000\n"));
  static_cast<void>(root.write("memory.current", "12000\n"));
  EXPECT_EQ(control_group_limits(root.path("")).memory_left, 0U);
}

TEST(ControlGroup, QuotaIsRoundedUpToCores) {
  const TemporaryFolder root;
  static_cast<void>(root.write("cpu.max", "250000 100000\n"));
  EXPECT_EQ(control_group_limits(root.path("")).cores, 3);
}

TEST(ControlGroup, Version1) {
  const TemporaryFolder root;
  std::filesystem::create_directories(root.path("memory"));
  std::filesystem::create_directories(root.path("cpu"));
  static_cast<void>(root.write("memory/memory.limit_in_bytes", "9223372036854771712\n"));
  static_cast<void>(root.write("memory/memory.usage_in_bytes", "1000\n"));
  static_cast<void>(root.write("cpu/cpu.cfs_quota_us", "-1\n"));
  static_cast<void>(root.write("cpu/cpu.cfs_period_us", "100000\n"));
  auto limits = control_group_limits(root.path(""));
  EXPECT_FALSE(limits.memory_left.has_value());
  EXPECT_FALSE(limits.cores.has_value());

  static_cast<void>(root.write("memory/memory.limit_in_bytes", "5000\n"));
  static_cast<void>(root.write("cpu/cpu.cfs_quota_us", "200000\n"));
  limits = control_group_limits(root.path(""));
  EXPECT_EQ(limits.memory_left, 4000U);
  EXPECT_EQ(limits.cores, 2);
}

}  // namespace
