// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "papers/ics17/work_lists.cuh"
#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/arguments.cuh"

/// Histogram, scan and binning of segments by length (paper, section 3.1).
///
/// One thread handles one segment. The paper votes once per bin; here one match over the warp
/// covers all bins. The lists keep neighbouring segments close together, so the sorting kernels
/// still read mostly contiguous memory.
namespace sortie::segsort::ics17 {

inline constexpr int binning_threads = 256;

/// Copies one value of 4 or 8 bytes (0: nothing) between arrays of the caller.
__device__ inline void copy_value(void* to, std::uint64_t to_index, const void* from,
                                  std::uint64_t from_index, int value_bytes) {
  if (value_bytes == 4) {
    static_cast<std::uint32_t*>(to)[to_index] = static_cast<const std::uint32_t*>(from)[from_index];
  } else if (value_bytes == 8) {
    static_cast<std::uint64_t*>(to)[to_index] = static_cast<const std::uint64_t*>(from)[from_index];
  }
}

/// Counts the segments of each bin: warp, then block (shared memory), then grid.
template <class Word>
__global__ void __launch_bounds__(binning_threads)
    histogram_kernel(Arguments<Word> arguments, WorkLists lists) {
  __shared__ unsigned int counts[bin_count];
  if (threadIdx.x < bin_count) counts[threadIdx.x] = 0;
  __syncthreads();
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * binning_threads;
  for (std::uint64_t first = static_cast<std::uint64_t>(blockIdx.x) * binning_threads;
       first < arguments.num_segments; first += stride) {
    const std::uint64_t segment = first + threadIdx.x;
    const int bin =
        segment < arguments.num_segments ? bin_of(extent(arguments, segment).length) : -1;
    static_cast<void>(take_places(counts, bin < bin_count ? bin : -1));
  }
  __syncthreads();
  if (threadIdx.x < bin_count && counts[threadIdx.x] != 0)
    atomicAdd(&lists.counters->bin_size[threadIdx.x], counts[threadIdx.x]);
}

/// Copies segments of one item, and appends every longer segment to the list of its bin.
///
/// A block handles binning_threads segments at a time: shared counters yield the position of each
/// segment within the block, and one atomic per bin the position of the block in the list. Every
/// block scans the dozen bin sizes itself; the first block stores the result for the sorting
/// kernels.
template <class Word>
__global__ void __launch_bounds__(binning_threads)
    binning_kernel(Arguments<Word> arguments, WorkLists lists) {
  __shared__ unsigned int counts[bin_count];
  __shared__ unsigned int places[bin_count];
  __shared__ unsigned int starts[bin_count];
  Counters* const counters = lists.counters;
  if (threadIdx.x == 0) {
    unsigned int start = 0;
    for (int bin = 0; bin < bin_count; ++bin) {
      starts[bin] = start;
      if (blockIdx.x == 0) counters->bin_start[bin] = start;
      start += counters->bin_size[bin];
    }
  }
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * binning_threads;
  for (std::uint64_t first = static_cast<std::uint64_t>(blockIdx.x) * binning_threads;
       first < arguments.num_segments; first += stride) {
    if (threadIdx.x < bin_count) counts[threadIdx.x] = 0;
    __syncthreads();
    const std::uint64_t segment = first + threadIdx.x;
    SegmentExtent found{0, 0};
    if (segment < arguments.num_segments) found = extent(arguments, segment);
    const int bin = bin_of(found.length);
    const unsigned int place = take_places(counts, bin < bin_count ? bin : -1);
    __syncthreads();
    if (threadIdx.x < bin_count && counts[threadIdx.x] != 0) {
      places[threadIdx.x] =
          starts[threadIdx.x] + atomicAdd(&counters->bin_filled[threadIdx.x], counts[threadIdx.x]);
    }
    __syncthreads();
    if (found.length == 1) {
      arguments.keys_out[found.begin] = arguments.keys_in[found.begin];
      copy_value(arguments.values_out, found.begin, arguments.values_in, found.begin,
                 arguments.value_bytes);
    } else if (bin >= 0 && bin < bin_count) {
      lists.segment_ids[places[bin] + place] = static_cast<std::uint32_t>(segment);
    } else if (bin == grid_bin) {
      const std::uint64_t tiles = tiles_of(found.length);
      const unsigned long long before =
          atomicAdd(&counters->long_segments_and_tiles, (1ull << 32) | tiles);
      lists.long_segments[before >> 32] = {found.begin, found.length,
                                           static_cast<std::uint32_t>(before)};
      atomicMax(&counters->merge_rounds, rounds_of(found.length));
    }
  }
}

}  // namespace sortie::segsort::ics17
