// SPDX-License-Identifier: Apache-2.0

// Device queries of a build without CUDA.
#include "sortie/devices.hpp"

namespace sortie {

bool built_with_cuda() {
  return false;
}

int cuda_device_count() {
  return 0;
}

std::vector<DeviceInfo> cuda_devices() {
  return {};
}

std::string why_no_cuda() {
  return "this build of Sortie has no CUDA (nvcc was not used)";
}

std::string cuda_toolkit_version() {
  return {};
}

std::string cuda_driver_version() {
  return {};
}

std::uint64_t peak_device_memory(int /*device*/) {
  return 0;
}

void reset_peak_device_memory(int /*device*/) {}

}  // namespace sortie
