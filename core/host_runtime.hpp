// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sortie/context.hpp"

namespace sortie {

/// Starts Kokkos with `threads` host threads unless it is already running. Every host algorithm
/// calls this first. Kokkos is finalised at the end of the program, unless the embedding program
/// has started it itself. Thread-safe, but Kokkos before 4.0 accepts parallel work only from the
/// thread that started it: with these versions, call all host algorithms from that thread.
/// \param threads  host threads; 0: OMP_NUM_THREADS if set, else the cores of this process's
///                 affinity mask within the quota of its control group
/// \throws Error (usage) if Kokkos already runs with a different number of threads
/// \throws Error (unavailable) if several threads are requested and Kokkos has Serial only
void start_host_runtime(int threads);

/// Threads of the running host runtime; 0 before it is started.
[[nodiscard]] int host_threads();

/// Threads that a host algorithm may use: those of the running host runtime, else the number that
/// start_host_runtime(0) would start. At least 1.
[[nodiscard]] int default_host_threads();

/// Threads that a call with this context may use when it does not run on the host runtime: those of
/// the context, else default_host_threads().
[[nodiscard]] inline int threads_of(const HostContext& context) {
  return context.threads > 0 ? context.threads : default_host_threads();
}

/// "Kokkos 3.4.1 (OpenMP)".
[[nodiscard]] std::string host_runtime_version();

/// Limits that the control group (container, batch job) imposes on this process.
struct ControlGroupLimits {
  std::optional<std::uint64_t> memory_left;  ///< bytes below the memory limit; caches count as free
  std::optional<int> cores;                  ///< CPU quota in whole cores, rounded up
};

/// Reads the limits of control groups version 2 or 1. A member is empty if there is no limit.
/// \param root  folder in which the control groups are mounted
[[nodiscard]] ControlGroupLimits control_group_limits(const std::string& root = "/sys/fs/cgroup");

}  // namespace sortie
