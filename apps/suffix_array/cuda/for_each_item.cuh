// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"

namespace sortie::suffix_array::cuda {

// Thread j handles item j.
template <class Index, class Function>
__global__ void __launch_bounds__(block_threads)
    for_each_item_kernel(std::uint64_t count, Function function) {
  const std::uint64_t j = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (j < count) function(static_cast<Index>(j));
}

/// Calls function(j) on the device for j = 0 .. count - 1, one thread each.
/// \tparam Index     type of j
/// \tparam Function  callable on the device; passed by value
template <class Index, class Function>
void for_each_item(std::uint64_t count, const Function& function, cudaStream_t stream) {
  if (count == 0) return;
  for_each_item_kernel<Index><<<blocks_for(count), block_threads, 0, stream>>>(count, function);
  check_cuda(cudaGetLastError());
}

}  // namespace sortie::suffix_array::cuda
