// SPDX-License-Identifier: Apache-2.0
#include "sortie/context.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

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

std::vector<int> spread_over_gpus(const Context& context, int devices) {
  if (devices < 0 || devices > most_logical_devices)
    throw Error(ErrorKind::usage,
                fmt::format("found {} devices, expected 1 to {}, or 0 for one for each GPU",
                            devices, most_logical_devices));
  Context on_device = context;
  on_device.backend = Backend::cuda;
  static_cast<void>(resolve_backend(on_device));  // throws, naming what is missing
  const int gpus = cuda_device_count();
  std::vector<int> ordinals(static_cast<std::size_t>(devices == 0 ? gpus : devices));
  for (std::size_t d = 0; d < ordinals.size(); ++d)
    ordinals[d] = (context.device + static_cast<int>(d)) % gpus;
  return ordinals;
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

DeviceIdentity device_identity(int /*device*/) {
  return {};
}

std::uint64_t free_device_memory(int /*device*/) {
  return 0;
}

#endif

}  // namespace sortie
