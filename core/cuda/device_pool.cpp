#include "sortie/core/cuda/device_pool.hpp"

#include <cuda_runtime_api.h>

#include "sortie/core/cuda/check.hpp"

namespace sortie {

namespace {

cudaMemPool_t current_pool() {
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

}  // namespace

std::uint64_t device_memory_in_use() {
  std::uint64_t bytes = 0;
  check_cuda(cudaMemPoolGetAttribute(current_pool(), cudaMemPoolAttrUsedMemCurrent, &bytes));
  return bytes;
}

void release_unused_device_memory() {
  check_cuda(cudaMemPoolTrimTo(current_pool(), 0));
}

}  // namespace sortie
