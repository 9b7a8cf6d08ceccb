#include "sortie/core/cuda/device_buffer.cuh"

#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"
#include "sortie/core/host_memory.hpp"

namespace sortie::detail {

void* allocate_on_device(std::size_t bytes, cudaStream_t stream) {
  void* data = nullptr;
  const cudaError_t status = cudaMallocAsync(&data, bytes, stream);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw out_of_memory_error("a device buffer", bytes, device_memory_free());
  }
  check_cuda(status);
  return data;
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
