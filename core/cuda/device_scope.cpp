#include "sortie/core/cuda/device_scope.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>

#include "sortie/core/cuda/check.hpp"

namespace sortie {

namespace {

cudaMemPool_t default_pool(int device) {
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  check_cuda(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

}  // namespace

DeviceScope::DeviceScope(const Context& context) {
  // Names a device that is not there in words, before CUDA does it by a number.
  Context on_device = context;
  on_device.backend = Backend::cuda;
  static_cast<void>(resolve_backend(on_device));

  check_cuda(cudaGetDevice(&previous_));
  // By default the pool gives all unused memory back to the system at every synchronisation.
  std::uint64_t keep_everything = std::numeric_limits<std::uint64_t>::max();
  check_cuda(cudaMemPoolSetAttribute(default_pool(context.device), cudaMemPoolAttrReleaseThreshold,
                                     &keep_everything));
  check_cuda(cudaSetDevice(context.device));
}

DeviceScope::~DeviceScope() {
  static_cast<void>(cudaSetDevice(previous_));
}

std::uint64_t device_memory_free() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  const cudaMemPool_t pool = default_pool(device);
  const std::uint64_t reserved = attribute(pool, cudaMemPoolAttrReservedMemCurrent);
  const std::uint64_t used = attribute(pool, cudaMemPoolAttrUsedMemCurrent);
  return free + (reserved - std::min(reserved, used));
}

std::uint64_t device_memory_budget(const Context& context) {
  const std::uint64_t free = device_memory_free();
  return context.memory_budget == 0 ? free : std::min(context.memory_budget, free);
}

}  // namespace sortie
