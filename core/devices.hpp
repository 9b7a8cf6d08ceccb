#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sortie {

/// A CUDA device as `sortie info` and the run report show it.
struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t memory_total = 0;  ///< bytes
  std::uint64_t memory_free = 0;   ///< bytes, at the time of the call
};

/// True when this build contains the cuda/ rooms.
[[nodiscard]] bool built_with_cuda();

/// Number of CUDA devices that can be used. Unlike cuda_devices() it does not wake them up.
[[nodiscard]] int cuda_device_count();

/// CUDA devices that can be used; empty without CUDA, without a driver or without a GPU.
[[nodiscard]] std::vector<DeviceInfo> cuda_devices();

/// Why cuda_devices() is empty, in words for a person; empty when it is not.
[[nodiscard]] std::string why_no_cuda();

/// Version of the CUDA toolkit of this build ("13.0") and of the driver; empty without CUDA.
[[nodiscard]] std::string cuda_toolkit_version();
[[nodiscard]] std::string cuda_driver_version();

/// Highest number of bytes that the stream-ordered allocator of `device` had handed out since the
/// start of the program or the last reset; 0 without CUDA.
[[nodiscard]] std::uint64_t peak_device_memory(int device);
void reset_peak_device_memory(int device);

}  // namespace sortie
