// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/payload.hpp"

/// Collective operations of a warp, and the prefix sum over a block. All 32 lanes call them
/// together, unless stated otherwise. Those of a warp order no memory accesses.
namespace sortie {

inline constexpr unsigned int full_warp = 0xffffffffu;

/// Number of the calling lane, 0 to 31, in a block with one dimension.
__device__ __forceinline__ unsigned int lane() {
  return threadIdx.x % 32;
}
/// Mask of the lanes below the calling lane.
__device__ __forceinline__ unsigned int lanes_below() {
  return (1u << (threadIdx.x % 32)) - 1;
}
/// Number of lanes of `mask`.
__device__ __forceinline__ std::uint32_t lanes_of(unsigned int mask) {
  return static_cast<std::uint32_t>(__popc(mask));
}
/// The lowest lane of `mask`, which must not be empty.
__device__ __forceinline__ int first_lane(unsigned int mask) {
  return __ffs(static_cast<int>(mask)) - 1;
}
/// The highest lane of `mask`, which must not be empty.
__device__ __forceinline__ int last_lane(unsigned int mask) {
  return 31 - __clz(static_cast<int>(mask));
}
/// Number of lanes of `mask` below the calling lane.
__device__ __forceinline__ std::uint32_t rank_among(unsigned int mask) {
  return lanes_of(mask & lanes_below());
}

/// The value of lane `from` within the calling lane's group of `width` lanes, a power of two.
template <class Value>
__device__ __forceinline__ Value from_lane(Value value, int from, int width = 32) {
  return __shfl_sync(full_warp, value, from, width);
}
template <ComplexOfDoubles Value>
__device__ __forceinline__ Value from_lane(Value value, int from, int width = 32) {
  return {__shfl_sync(full_warp, value.real(), from, width),
          __shfl_sync(full_warp, value.imag(), from, width)};
}
/// The value of the lane that is `distance` lanes above; the lane's own value if there is none.
template <class Value>
__device__ __forceinline__ Value from_lane_above(Value value, unsigned int distance) {
  return __shfl_down_sync(full_warp, value, distance);
}
template <ComplexOfDoubles Value>
__device__ __forceinline__ Value from_lane_above(Value value, unsigned int distance) {
  return {__shfl_down_sync(full_warp, value.real(), distance),
          __shfl_down_sync(full_warp, value.imag(), distance)};
}

/// The value of the lane whose number differs from the calling lane's in the bits of `mask`.
template <class Value>
__device__ __forceinline__ Value from_lane_across(Value value, int mask) {
  return __shfl_xor_sync(full_warp, value, mask);
}

/// Inclusive prefix sum over each group of Lanes lanes, a power of two. Source: Hillis and Steele,
/// "Data parallel algorithms" (CACM 1986). log2(Lanes) shuffles.
template <int Lanes = 32, class Number>
__device__ __forceinline__ Number inclusive_sum_in_warp(Number value) {
  static_assert(Lanes > 0 && Lanes <= 32 && (Lanes & (Lanes - 1)) == 0);
  const int place = static_cast<int>(threadIdx.x % Lanes);
#pragma unroll
  for (int distance = 1; distance < Lanes; distance *= 2) {
    const Number other = __shfl_up_sync(full_warp, value, distance, Lanes);
    if (place >= distance) value += other;
  }
  return value;
}

/// Combines the values of each group of Lanes lanes, a power of two; all lanes receive the result.
/// \param combine  associative and commutative
template <int Lanes = 32, class Value, class Combine>
__device__ __forceinline__ Value reduce_in_warp(Value value, Combine combine) {
#pragma unroll
  for (int distance = Lanes / 2; distance > 0; distance /= 2)
    value = combine(value, from_lane_across(value, distance));
  return value;
}
template <int Lanes = 32, class Number>
__device__ __forceinline__ Number sum_in_warp(Number value) {
  return reduce_in_warp<Lanes>(value, [](Number a, Number b) { return a + b; });
}
template <class Number>
__device__ __forceinline__ Number min_in_warp(Number value) {
  return reduce_in_warp(value, [](Number a, Number b) { return b < a ? b : a; });
}
template <class Number>
__device__ __forceinline__ Number max_in_warp(Number value) {
  return reduce_in_warp(value, [](Number a, Number b) { return a < b ? b : a; });
}
// One instruction where the hardware has it.
__device__ __forceinline__ std::uint32_t min_in_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(full_warp, value);
#else
  return reduce_in_warp(value, [](std::uint32_t a, std::uint32_t b) { return b < a ? b : a; });
#endif
}
__device__ __forceinline__ int max_in_warp(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(full_warp, value);
#else
  return reduce_in_warp(value, [](int a, int b) { return a < b ? b : a; });
#endif
}
__device__ __forceinline__ std::uint32_t or_in_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(full_warp, value);
#else
  return reduce_in_warp(value, [](std::uint32_t a, std::uint32_t b) { return a | b; });
#endif
}

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

/// Takes a place in a list of `counters[list]` items for every lane with list >= 0: one atomic
/// addition per list and warp. Lanes of the same list receive consecutive places in lane order.
/// \return the lane's place; unspecified for list < 0
template <class Counter>
__device__ __forceinline__ std::uint32_t take_places(Counter* counters, int list) {
  const unsigned int members = __match_any_sync(full_warp, list);
  const std::uint32_t rank = rank_among(members);
  std::uint32_t place = 0;
  if (list >= 0 && rank == 0) place = atomicAdd(&counters[list], lanes_of(members));
  return __shfl_sync(full_warp, place, first_lane(members)) + rank;
}

/// Stable rank of an item, one per lane, among the items of its bucket in a warp's rows so far.
///
/// \param masks   shared memory of the warp, one word per bucket, all 0 before and after
/// \param counts  shared memory of the warp, items per bucket in earlier rows; updated
/// \param bucket  of the lane's item; in range even if the lane has no item
/// \param valid   the lane has an item
/// \tparam HeavyHitters  many lanes may have the bucket of lane 0: these do not use an atomic each
/// \return the number of items of the bucket in earlier rows and in lower lanes
template <bool HeavyHitters = false>
__device__ __forceinline__ std::uint32_t stable_rank_in_warp(std::uint32_t* masks,
                                                             std::uint16_t* counts,
                                                             std::uint32_t bucket, bool valid) {
  const std::uint32_t lane_bit = 1u << (threadIdx.x % 32);
  if constexpr (HeavyHitters) {
    const std::uint32_t first = __shfl_sync(full_warp, bucket, 0);
    const std::uint32_t same = __ballot_sync(full_warp, valid && bucket == first);
    if (valid && bucket != first) atomicOr(&masks[bucket], lane_bit);
    if (lane_bit == 1) masks[first] = same;
  } else {
    if (valid) atomicOr(&masks[bucket], lane_bit);
  }
  __syncwarp();
  const std::uint32_t peers = masks[bucket];
  const std::uint32_t before = counts[bucket];
  const std::uint32_t lower = peers & (lane_bit - 1);
  __syncwarp();
  if (valid && lower == 0) {
    masks[bucket] = 0;
    counts[bucket] = static_cast<std::uint16_t>(before + lanes_of(peers));
  }
  __syncwarp();
  return before + lanes_of(lower);
}

}  // namespace sortie
