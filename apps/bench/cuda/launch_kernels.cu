// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "apps/bench/cuda/launch_kernels.hpp"

namespace sortie::bench {
namespace {

constexpr int block_threads = 256;

__global__ void empty_kernel() {}

/// Copies item `i` of `bytes` (0, 4 or 8) bytes.
__device__ void copy_item(const void* from, void* to, int bytes, std::int64_t i) {
  if (bytes == 4) static_cast<std::uint32_t*>(to)[i] = static_cast<const std::uint32_t*>(from)[i];
  if (bytes == 8) static_cast<std::uint64_t*>(to)[i] = static_cast<const std::uint64_t*>(from)[i];
}

__global__ void __launch_bounds__(block_threads)
    copy_kernel(segsort::DeviceRequest request, int key_bytes) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (i >= request.num_items) return;
  copy_item(request.keys_in, request.keys_out, key_bytes, i);
  copy_item(request.values_in, request.values_out, request.value_bytes, i);
}

}  // namespace

cudaError_t launch_empty_kernel(cudaStream_t stream) {
  empty_kernel<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t launch_copy_kernel(const segsort::DeviceRequest& request, cudaStream_t stream) {
  const auto blocks =
      static_cast<unsigned>((request.num_items + block_threads - 1) / block_threads);
  copy_kernel<<<blocks, block_threads, 0, stream>>>(request, key_bits(request.key_type) / 8);
  return cudaGetLastError();
}

}  // namespace sortie::bench
