// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"

namespace sortie {

/// Properties of a CUDA device, as shown by `sortie info` and the run report.
struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t memory_total = 0;  ///< bytes
  std::uint64_t memory_free = 0;   ///< bytes, at the time of the call
};

/// True when this build contains the CUDA backend.
[[nodiscard]] SORTIE_API bool built_with_cuda();

/// Number of usable CUDA devices. Unlike cuda_devices(), this creates no CUDA context on them.
[[nodiscard]] SORTIE_API int cuda_device_count();

/// Usable CUDA devices; empty without CUDA, without a driver or without a GPU.
[[nodiscard]] SORTIE_API std::vector<DeviceInfo> cuda_devices();

/// A human-readable reason why cuda_devices() is empty; empty when devices were found.
[[nodiscard]] SORTIE_API std::string why_no_cuda();

/// More logical devices than any machine has GPUs; plans grow with their square.
inline constexpr int most_logical_devices = 1024;

/// The CUDA devices of `devices` logical devices: GPUs round-robin from context.device on; 0: one
/// for each GPU. Several logical devices may share a GPU.
/// \throws Error (usage) fewer than 0 or more than most_logical_devices; (unavailable) no GPU
[[nodiscard]] SORTIE_API std::vector<int> spread_over_gpus(const Context& context, int devices);

/// Version of the CUDA toolkit of this build, e.g. "13.0"; empty without CUDA.
[[nodiscard]] SORTIE_API std::string cuda_toolkit_version();
/// Version of the CUDA driver; empty without CUDA or without a driver.
[[nodiscard]] SORTIE_API std::string cuda_driver_version();

/// Peak bytes allocated from Sortie's memory pool on `device` since the program started or the last
/// reset; 0 without CUDA.
[[nodiscard]] SORTIE_API std::uint64_t peak_device_memory(int device);
SORTIE_API void reset_peak_device_memory(int device);
/// Bytes that are allocated from the pool now.
[[nodiscard]] SORTIE_API std::uint64_t device_memory_in_use(int device);

}  // namespace sortie
