#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sortie {

/// Limits that the system's control group (container, batch job) sets this process.
struct ControlGroupLimits {
  std::optional<std::uint64_t> memory_left;  ///< bytes until the memory limit, caches counted free
  std::optional<int> cores;                  ///< CPU quota in whole cores, rounded up
};

/// Reads the limits of control group version 2 or 1; empty members where there is no limit.
///
/// \param root  folder where the control groups are mounted
[[nodiscard]] ControlGroupLimits control_group_limits(const std::string& root = "/sys/fs/cgroup");

}  // namespace sortie
