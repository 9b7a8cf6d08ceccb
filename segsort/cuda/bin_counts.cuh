// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/tile.cuh"

/// The first place of each bin of a tile, from the counters of all bins, which are in tile.words. Each
/// thread sums up a range of counters. Two functions, so that the barrier between them, which is the
/// caller's, can also be for something else.
namespace sortie::segsort {

/// Bins whose counters a thread sums up.
template <class T>
inline constexpr int bins_of_thread = ((1 << T::bin_bits) - 1) / T::threads + 1;

/// Reads the counters of the thread's bins, and writes the sum over each warp to tile.splits.
/// \return the sum over the preceding threads of the warp
template <class T>
__device__ __forceinline__ std::uint32_t sum_counters(T& tile,
                                                      std::uint32_t (&counts)[bins_of_thread<T>]) {
  constexpr int bins = 1 << T::bin_bits;
  const int thread = T::thread();
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < bins_of_thread<T>; ++i) {
    const int bin = thread * bins_of_thread<T> + i;
    const bool is_bin = bins % T::threads == 0 || bin < bins;
    counts[i] = is_bin ? tile.words[banked(bin)] : 0;
    sum += counts[i];
  }
  const std::uint32_t up_to = inclusive_sum_in_warp(sum);
  if constexpr (T::warps > 1) {
    if (thread % 32 == 31) tile.splits[thread / 32] = static_cast<std::uint16_t>(up_to);
  }
  return up_to - sum;
}

/// \return the sum over the warps before that of the thread
/// \pre a barrier since sum_counters()
template <class T>
__device__ __forceinline__ std::uint32_t sum_over_warps_before(const T& tile) {
  std::uint32_t before = 0;
  if constexpr (T::warps > 1) {
#pragma unroll
    for (int warp = 0; warp < T::warps; ++warp)
      if (warp < T::thread() / 32) before += tile.splits[warp];
  }
  return before;
}

}  // namespace sortie::segsort
