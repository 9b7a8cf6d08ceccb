// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/device_pool.hpp"

#include <limits>
#include <map>
#include <mutex>

#include "core/cuda/check.hpp"

namespace sortie {

namespace {

std::mutex mutex;
std::map<int, cudaMemPool_t> pools;

cudaMemPool_t create_pool(int device) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location = {.type = cudaMemLocationTypeDevice, .id = device};
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaMemPoolCreate(&pool, &properties));
  // By default, a pool returns all unused memory to the system at every synchronisation.
  std::uint64_t keep_everything = std::numeric_limits<std::uint64_t>::max();
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_everything));
  return pool;
}

cudaMemPool_t current_pool() {
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  return device_pool(device);
}

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  check_cuda(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

}  // namespace

cudaMemPool_t device_pool(int device) {
  const std::lock_guard lock(mutex);
  cudaMemPool_t& pool = pools[device];
  if (pool == nullptr) pool = create_pool(device);
  return pool;
}

cudaMemPool_t existing_device_pool(int device) {
  const std::lock_guard lock(mutex);
  const auto pool = pools.find(device);
  return pool == pools.end() ? nullptr : pool->second;
}

PoolUsage device_pool_usage() {
  const cudaMemPool_t pool = current_pool();
  return {attribute(pool, cudaMemPoolAttrReservedMemCurrent),
          attribute(pool, cudaMemPoolAttrUsedMemCurrent)};
}

std::uint64_t device_memory_in_use() {
  return device_pool_usage().used;
}

void release_unused_device_memory() {
  check_cuda(cudaMemPoolTrimTo(current_pool(), 0));
}

}  // namespace sortie
