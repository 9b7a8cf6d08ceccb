// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_buffer.hpp"

#include <cuda_runtime_api.h>

#include "core/cuda/check.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/cuda/device_scope.hpp"
#include "core/cuda/pinned_buffer.hpp"
#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie::detail {

void* allocate_on_device(std::size_t bytes, CUstream_st* stream) {
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  void* data = nullptr;
  const cudaError_t status = cudaMallocFromPoolAsync(&data, bytes, device_pool(device), stream);
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

void* allocate_pinned(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMallocHost(&data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw out_of_memory_error("a page-locked host buffer", bytes, host_memory_available());
  }
  check_cuda(status);
  return data;
}

}  // namespace sortie::detail
