// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/device_scope.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "core/cuda/check.hpp"
#include "core/cuda/device_pool.hpp"

namespace sortie {

namespace {

/// Checks that the device exists first: the message is clearer than that of the CUDA error.
int checked_device(const Context& context) {
  Context on_device = context;
  on_device.backend = Backend::cuda;
  static_cast<void>(resolve_backend(on_device));
  return context.device;
}

}  // namespace

CurrentDevice::CurrentDevice(int ordinal) {
  check_cuda(cudaGetDevice(&previous_));
  check_cuda(cudaSetDevice(ordinal));
}

CurrentDevice::~CurrentDevice() {
  static_cast<void>(cudaSetDevice(previous_));
}

DeviceScope::DeviceScope(const Context& context) : CurrentDevice(checked_device(context)) {}

std::uint64_t device_memory_free() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  const PoolUsage pool = device_pool_usage();
  return free + (pool.reserved - std::min(pool.reserved, pool.used));
}

std::uint64_t device_memory_budget(const HostContext& context) {
  const std::uint64_t free = device_memory_free();
  return context.memory_budget == 0 ? free : std::min(context.memory_budget, free);
}

}  // namespace sortie
