// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/check.hpp"

namespace sortie::spgemm::cuda {

/// Threads per block of the element-wise kernels.
inline constexpr int kBlockThreads = 256;

/// Number of blocks for `items` items, `items_per_block` each.
[[nodiscard]] inline unsigned blocks_for(std::int64_t items,
                                         std::int64_t items_per_block = kBlockThreads) {
  return static_cast<unsigned>((items + items_per_block - 1) / items_per_block);
}

#ifdef __CUDACC__
/// Index of this thread in a one-dimensional grid.
[[nodiscard]] __device__ inline std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

template <class Function>
__global__ void __launch_bounds__(kBlockThreads)
    for_each_kernel(std::int64_t count, Function function) {
  const std::int64_t i = global_thread();
  if (i < count) function(i);
}

/// Calls function(i) for every i in [0, count), one thread each. Launches nothing for count 0.
template <class Function>
void for_each(std::int64_t count, cudaStream_t stream, Function function) {
  if (count == 0) return;
  for_each_kernel<<<blocks_for(count), kBlockThreads, 0, stream>>>(count, function);
  check_cuda(cudaGetLastError());
}
#endif

}  // namespace sortie::spgemm::cuda
