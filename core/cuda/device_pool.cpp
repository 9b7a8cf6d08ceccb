// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/device_pool.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "core/cuda/check.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/error.hpp"

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

std::uint64_t attribute_of_current_pool(cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  check_cuda(cudaMemPoolGetAttribute(current_pool(), which, &value));
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

std::uint64_t device_memory_in_use() {
  return attribute_of_current_pool(cudaMemPoolAttrUsedMemCurrent);
}

std::uint64_t device_memory_free() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  const std::uint64_t reserved = attribute_of_current_pool(cudaMemPoolAttrReservedMemCurrent);
  return free + (reserved - std::min(reserved, device_memory_in_use()));
}

std::uint64_t device_memory_budget(const HostContext& context) {
  const std::uint64_t free = device_memory_free();
  return context.memory_budget == 0 ? free : std::min(context.memory_budget, free);
}

void release_unused_device_memory() {
  check_cuda(cudaMemPoolTrimTo(current_pool(), 0));
}

namespace detail {

void* allocate_on_device(std::size_t bytes, CUstream_st* stream) {
  void* data = nullptr;
  const cudaError_t status = cudaMallocFromPoolAsync(&data, bytes, current_pool(), stream);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw out_of_memory_error("a device buffer", bytes, device_memory_free());
  }
  check_cuda(status);
  return data;
}

void free_on_device(void* data, CUstream_st* stream) noexcept {
  static_cast<void>(cudaFreeAsync(data, stream));
}

void copy_to_device(void* device, const void* host, std::size_t bytes, CUstream_st* stream) {
  check_cuda(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
}

void copy_to_host(void* host, const void* device, std::size_t bytes, CUstream_st* stream) {
  check_cuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream));
}

}  // namespace detail

}  // namespace sortie
