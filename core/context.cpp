// SPDX-License-Identifier: Apache-2.0
#include "sortie/context.hpp"

#include <fmt/format.h>

#include "core/device_lifetime.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"

namespace sortie {

std::string_view name(Backend backend) {
  if (backend == Backend::automatic) return "auto";
  if (backend == Backend::cuda) return "cuda";
  if (backend == Backend::host) return "host";
  throw Error(ErrorKind::usage, fmt::format("no backend has the number {}", int(backend)));
}

Backend resolve_backend(const Context& context) {
  if (context.backend == Backend::host) return Backend::host;
  const int devices = cuda_device_count();
  if (devices == 0) {
    if (context.backend == Backend::automatic) return Backend::host;
    throw Error(ErrorKind::unavailable,
                fmt::format("the cuda backend cannot run: {}", why_no_cuda()));
  }
  if (context.device < 0 || context.device >= devices)
    throw Error(ErrorKind::unavailable,
                fmt::format("found no CUDA device {}, expected a number from 0 to {}",
                            context.device, devices - 1));
  return Backend::cuda;
}

#ifndef SORTIE_HAVE_CUDA

// The device queries of a build without CUDA.

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

std::uint64_t device_memory_in_use(int /*device*/) {
  return 0;
}

bool may_have_cuda_device() {
  return false;
}

void start_device(int /*device*/, int /*threads*/) {}

void end_device(int /*device*/) noexcept {}

#endif

}  // namespace sortie
