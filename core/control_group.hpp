// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sortie {

/// Limits that the control group (container, batch job) imposes on this process.
struct ControlGroupLimits {
  std::optional<std::uint64_t> memory_left;  ///< bytes below the memory limit; caches count as free
  std::optional<int> cores;                  ///< CPU quota in whole cores, rounded up
};

/// Reads the limits of control groups version 2 or 1. A member is empty if there is no limit.
///
/// \param root  folder in which the control groups are mounted
[[nodiscard]] ControlGroupLimits control_group_limits(const std::string& root = "/sys/fs/cgroup");

}  // namespace sortie
