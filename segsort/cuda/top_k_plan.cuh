// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/top_k_threshold.cuh"

/// Choice between selecting and sorting whole segments, by the lengths of the segments, which only the
/// device knows.
namespace sortie::segsort {

/// How many segments are selected from, and how many are sorted: one of the two is 0.
struct TopKPlan {
  std::int64_t selected;
  std::int64_t sorted;
};

inline constexpr int plan_threads = 1024;
/// Segments that a thread reads.
inline constexpr unsigned int plan_samples_of_thread = 8;
/// Segments are sorted if those that are not long have at least 3/4 of all items.
inline constexpr double least_short_items = 0.75;

/// Segments, of which `device_count`, if set, says how many there are.
struct PlannedSegments {
  DeviceOffsets begins;
  DeviceOffsets ends;
  std::uint64_t count;
  const std::int64_t* device_count;
  std::uint64_t items;    ///< of the array
  std::uint64_t longest;  ///< longer segments are long; below 2^19
};

/// Numbers that the plan sets to zero, so that cudaMemsetAsync() need not be launched.
struct ZeroedByPlan {
  std::uint32_t* numbers;
  std::uint64_t count;
};
/// More numbers are left to cudaMemsetAsync(), since the plan has one block only.
inline constexpr std::uint64_t most_zeroed_by_plan = std::uint64_t{1} << 15;

/// One block. The mean length of a sample of the segments, the long ones counted as empty, gives the
/// number of items that are not in long ones. These need not be in the sample, however few they are.
/// A warp reads rows of 32 neighbouring segments, which are spread over all.
__global__ void __launch_bounds__(plan_threads)
    top_k_plan_kernel(const PlannedSegments segments, TopKPlan* plan, const ZeroedByPlan zeroed) {
  constexpr std::uint64_t most_samples = std::uint64_t{plan_threads} * plan_samples_of_thread;
  __shared__ std::uint32_t sum;
  std::uint64_t count = segments.count;
  if (segments.device_count != nullptr)
    count = min(count, static_cast<std::uint64_t>(max(*segments.device_count, std::int64_t{0})));
  constexpr std::uint64_t rows = most_samples / 32;
  const bool reads_all = count <= most_samples;
  const std::uint64_t samples = min(count, most_samples);
  const std::uint64_t step = reads_all ? 32 : (count - 32) / (rows - 1);
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  // All loads before the first use, so that they are in flight together.
  std::uint64_t begins[plan_samples_of_thread] = {};
  std::uint64_t ends[plan_samples_of_thread] = {};
#pragma unroll
  for (unsigned int r = 0; r < plan_samples_of_thread; ++r) {
    const unsigned int sample = r * plan_threads + threadIdx.x;
    const std::uint64_t segment = sample / 32 * step + sample % 32;
    if (sample < samples) begins[r] = segments.begins[segment];
    if (sample < samples) ends[r] = segments.ends[segment];
  }
  std::uint32_t own = 0;
#pragma unroll
  for (unsigned int r = 0; r < plan_samples_of_thread; ++r) {
    const std::uint64_t length = ends[r] > begins[r] ? ends[r] - begins[r] : 0;
    own += length <= segments.longest ? static_cast<std::uint32_t>(length) : 0;
  }
  for (std::uint64_t i = threadIdx.x; i < zeroed.count; i += plan_threads) zeroed.numbers[i] = 0;
  // Of 32 bits, and by one lane: additions of 64 bits in shared memory are loops, which 1024 threads
  // would run one after the other.
  own = total_of_warp(own);
  if (lane() == 0) atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x != 0) return;
  const bool sorts = samples != 0 && static_cast<double>(sum) * static_cast<double>(count) >=
                                         least_short_items * static_cast<double>(samples) *
                                             static_cast<double>(segments.items);
  plan->sorted = sorts ? static_cast<std::int64_t>(count) : 0;
  plan->selected = sorts ? 0 : static_cast<std::int64_t>(count);
}

}  // namespace sortie::segsort
