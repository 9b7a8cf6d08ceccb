// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/cuda/warp.cuh"

namespace sortie {

/// Exclusive prefix sum of one number per thread over a block of Warps warps. Two barriers.
/// \param warp_sums  shared memory, reusable after the call; its type may be wider than Number
template <class Number, class Sum, int Warps>
__device__ __forceinline__ Number exclusive_sum_in_block(Number value, Sum (&warp_sums)[Warps]) {
  const Number sum = inclusive_sum_in_warp(value);
  if (threadIdx.x % 32 == 31) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  Number before = 0;
#pragma unroll
  for (unsigned int warp = 0; warp < Warps; ++warp)
    if (warp < threadIdx.x / 32) before += static_cast<Number>(warp_sums[warp]);
  __syncthreads();
  return before + sum - value;
}

}  // namespace sortie
