// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "primitives/cuda/warp.cuh"
#include "primitives/simd/exchange_network.hpp"

/// Sorts 32-bit words, one per item, in the registers of a warp.
///
/// Reg-sort of the paper (section 3.2) with all data of an item in one word: lane t holds positions
/// t*Items .. t*Items+Items-1 in registers 0 .. Items-1. Three patterns:
///   in a thread   Batcher's odd-even merge sort of the thread's own items, then half cleaners
///   mirrored      the first step of a merge between lanes (exch_intxn of the paper)
///   parallel      the later steps between lanes, partners at the same register (exch_paral)
namespace sortie::segsort {

/// Leaves the lesser word in `low` and the greater in `high`.
__device__ __forceinline__ void exchange(std::uint32_t& low, std::uint32_t& high) {
  const std::uint32_t smaller = min(low, high);
  high = max(low, high);
  low = smaller;
}

/// Sorts the items of each thread independently.
template <int Items, std::size_t... I>
__device__ __forceinline__ void sort_in_thread(std::uint32_t (&words)[Items],
                                               std::index_sequence<I...>) {
  constexpr auto network = comparators<Items>;
  (exchange(words[network[I].first], words[network[I].second]), ...);
}
template <int Items>
__device__ __forceinline__ void sort_in_thread(std::uint32_t (&words)[Items]) {
  sort_in_thread(words, std::make_index_sequence<count_comparators<Items>()>());
}

/// Minimum in the lower lane of a pair, maximum in the upper.
__device__ __forceinline__ std::uint32_t keep(std::uint32_t own, std::uint32_t other, bool upper) {
  return upper ? max(own, other) : min(own, other);
}

/// Steps Items/2, Items/4, ..., 1 (in positions) of a bitonic merge, within each thread.
template <int Items>
__device__ __forceinline__ void clean_in_thread(std::uint32_t (&words)[Items]) {
#pragma unroll
  for (int stride = Items / 2; stride > 0; stride /= 2) {
#pragma unroll
    for (int r = 0; r < Items; ++r)
      if ((r & stride) == 0) exchange(words[r], words[r + stride]);
  }
}

/// Merges the runs of the threads in pairs until the 32 * Items items of the warp form one run. The
/// loops are not unrolled: unrolled code would exceed the instruction cache.
template <int Items>
__device__ __forceinline__ void merge_in_warp(std::uint32_t (&words)[Items], int lane) {
#pragma unroll 1
  for (int lanes = 2; lanes <= 32; lanes *= 2) {
    // Mirrored: lane t, register r with lane t ^ (lanes - 1), register Items-1-r.
    bool upper = (lane & (lanes / 2)) != 0;
#pragma unroll
    for (int r = 0; r < Items / 2; ++r) {
      const int s = Items - 1 - r;
      const std::uint32_t for_r = __shfl_xor_sync(full_warp, words[s], lanes - 1);
      const std::uint32_t for_s = __shfl_xor_sync(full_warp, words[r], lanes - 1);
      words[r] = keep(words[r], for_r, upper);
      words[s] = keep(words[s], for_s, upper);
    }
#pragma unroll 1
    for (int stride = lanes / 4; stride > 0; stride /= 2) {
      upper = (lane & stride) != 0;
#pragma unroll
      for (int r = 0; r < Items; ++r)
        words[r] = keep(words[r], __shfl_xor_sync(full_warp, words[r], stride), upper);
    }
    clean_in_thread(words);
  }
}

/// Sorts 32 * Items words; afterwards register r of a lane holds position lane * Items + r. All
/// lanes of the warp must take part.
template <int Items>
__device__ __forceinline__ void sort_in_warp(std::uint32_t (&words)[Items], int lane) {
  sort_in_thread(words);
  merge_in_warp(words, lane);
}

/// Odd-even transposition: sorts runs of up to `longest` words at any positions of the warp,
/// provided that the words of a run exceed those of all preceding runs. Each round compares
/// neighbours, almost all of them within a thread.
template <int Items>
__device__ __forceinline__ void sort_short_runs(std::uint32_t (&words)[Items], int lane,
                                                int longest) {
#pragma unroll 1
  for (int round = 0; round < longest; round += 2) {
#pragma unroll
    for (int r = 0; r < Items; r += 2) exchange(words[r], words[r + 1]);
    const std::uint32_t next = __shfl_down_sync(full_warp, words[0], 1);
    const std::uint32_t previous = __shfl_up_sync(full_warp, words[Items - 1], 1);
#pragma unroll
    for (int r = 1; r + 1 < Items; r += 2) exchange(words[r], words[r + 1]);
    if (lane < 31) words[Items - 1] = min(words[Items - 1], next);
    if (lane > 0) words[0] = max(words[0], previous);
  }
}

/// As above, by threads: each thread sorts its own words; then neighbouring threads merge their
/// words in alternating pairs, first threads 0 and 1, 2 and 3, and so on. The number of rounds is
/// the number of threads that a run touches; one if each run lies within a pair of the first round,
/// and none if each lies within a thread.
template <int Items>
__device__ __forceinline__ void sort_middle_runs(std::uint32_t (&words)[Items], int lane,
                                                 int rounds) {
  sort_in_thread(words);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const int partner = ((lane + (round & 1)) ^ 1) - (round & 1);
    const bool upper = partner < lane;
    const bool active = partner >= 0 && partner < 32;
#pragma unroll
    for (int r = 0; r < Items / 2; ++r) {
      const int s = Items - 1 - r;
      const std::uint32_t for_r = __shfl_sync(full_warp, words[s], partner & 31);
      const std::uint32_t for_s = __shfl_sync(full_warp, words[r], partner & 31);
      if (active) {
        words[r] = keep(words[r], for_r, upper);
        words[s] = keep(words[s], for_s, upper);
      }
    }
    clean_in_thread(words);
  }
}

}  // namespace sortie::segsort
