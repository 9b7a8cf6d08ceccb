#pragma once

#include "sortie/segsort/cuda/arguments.cuh"
#include "sortie/segsort/cuda/ics17/copy_value.cuh"
#include "sortie/segsort/cuda/ics17/work_lists.cuh"

/// Histogram, scan, binning over segment lengths (paper, section 3.1).
///
/// One thread looks at one segment. The paper votes once for each bin; a match over the warp gives
/// all bins at once. The lists keep neighbouring segments near each other, so that the sorting
/// kernels still read mostly contiguous memory.
namespace sortie::segsort::ics17 {

inline constexpr int binning_threads = 256;

/// Adds one to counts[bin] for every lane with 0 <= bin < bin_count, one atomic a bin and warp.
/// Returns the lane's number among the warp's lanes of its bin, plus what the counter held before.
__device__ inline unsigned int count_in_warp(unsigned int* counts, int bin) {
  const bool counted = bin >= 0 && bin < bin_count;
  const unsigned int lane = threadIdx.x % 32;
  const unsigned int peers = __match_any_sync(0xffffffffu, bin);
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  unsigned int base = 0;
  if (counted && static_cast<int>(lane) == leader)
    base = atomicAdd(&counts[bin], static_cast<unsigned int>(__popc(peers)));
  base = __shfl_sync(0xffffffffu, base, leader);
  return base + static_cast<unsigned int>(__popc(peers & ((1u << lane) - 1)));
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
    static_cast<void>(count_in_warp(counts, bin));
  }
  __syncthreads();
  if (threadIdx.x < bin_count && counts[threadIdx.x] != 0)
    atomicAdd(&lists.counters->bin_size[threadIdx.x], counts[threadIdx.x]);
}

/// Copies segments of one item, and puts every longer segment into its bin's list.
///
/// A block handles binning_threads segments at a time: shared counters give each its place within
/// the block, one atomic a bin the block's place in the list. Every block scans the dozen bin sizes
/// for itself; the first one leaves the result for the sorting kernels.
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
    const unsigned int place = count_in_warp(counts, bin);
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
