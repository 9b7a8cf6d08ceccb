// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/cuda/warp.cuh"

namespace sortie {

/// A prefix sum over the threads of a block: the sum over the threads before, and over all.
template <class Number>
struct BlockPrefix {
  Number before;
  Number total;
};

/// Prefix sum of one number per thread over a block of Warps warps. Two barriers.
/// \param warp_sums  shared memory, Warps elements, reusable after the call; may be wider numbers
template <int Warps, class Number, class Sum>
__device__ __forceinline__ BlockPrefix<Number> prefix_sum_in_block(Number value, Sum* warp_sums) {
  const auto warp = static_cast<int>(threadIdx.x / 32);
  const Number up_to = inclusive_sum_in_warp(value);
  if (threadIdx.x % 32 == 31) warp_sums[warp] = up_to;
  __syncthreads();
  BlockPrefix<Number> sum{up_to - value, 0};
#pragma unroll
  for (int w = 0; w < Warps; ++w) {
    if (w == warp) sum.before += sum.total;
    sum.total += static_cast<Number>(warp_sums[w]);
  }
  __syncthreads();
  return sum;
}

}  // namespace sortie
