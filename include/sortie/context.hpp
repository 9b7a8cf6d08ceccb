// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sortie/export.hpp"

namespace sortie {

class RunReport;

/// The processor an algorithm runs on.
enum class Backend {
  automatic,  ///< CUDA if this build contains it and a GPU is found, else the host.
  cuda,
  host,
};

/// "auto", "cuda" or "host".
[[nodiscard]] SORTIE_API std::string_view name(Backend backend);

/// Called repeatedly during long computations, on the calling thread, ascending in each phase.
/// \param phase  name of the current phase
/// \param done   units finished so far
/// \param total  total units; 0 when unknown
using ProgressCallback =
    std::function<void(std::string_view phase, std::uint64_t done, std::uint64_t total)>;

/// The settings of a call that runs on the host only, such as a reader or a check. A Context
/// converts to it. Every call honours every member; tests/contract calls all of them.
struct HostContext {
  /// Host threads; 0: OMP_NUM_THREADS if set, else all cores. The first call that starts the host
  /// runtime fixes the number for the process; a later call with another number throws Error
  /// (usage). Sequential calls say so and ignore it. No result depends on it.
  int threads = 0;
  /// Bytes that a call may take in addition to its operands; 0: all free memory. Results count too,
  /// except a sparse product. A call that needs more throws Error (out_of_memory), with the bytes
  /// wanted and free, before it changes an operand. Calls with a constant workspace say so and
  /// ignore the budget. For calls that run on GPUs, it limits the device memory of each GPU.
  std::uint64_t memory_budget = 0;
  ProgressCallback progress;    ///< Called in each phase, at last with its total; may be empty.
  RunReport* report = nullptr;  ///< Receives the documented phases and figures; may be null.
};

/// The settings of a call that can run on either backend. Passed by reference; Sortie has no other
/// state that a caller can set. The defaults suit most callers.
///
/// Calls on host memory return when their work is complete. Calls on device memory take a stream
/// as their last argument, enqueue their work on it, and make `device` the current device only
/// while they run.
struct Context : HostContext {
  Backend backend = Backend::automatic;
  int device = 0;  ///< CUDA device ordinal; the first one in calls that use several GPUs.
};

/// Resolves `automatic` to the backend that will be used.
/// \throws Error (unavailable) when CUDA is requested but this build lacks it or finds no GPU, or
///         there is no such device.
[[nodiscard]] SORTIE_API Backend resolve_backend(const Context& context);

}  // namespace sortie
