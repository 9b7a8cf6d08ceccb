// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "papers/ics17/grid_bin.cuh"

/// Launches all kernels of one sort on a stream, for one word width and payload.
namespace sortie::segsort::ics17 {

/// Properties of a sort that are known on the host.
struct LaunchPlan {
  std::uint64_t num_items;
  std::uint64_t num_segments;  ///< below 2^32
  int multiprocessors;
  bool only_binning;  ///< ends before the sorts
  cudaStream_t stream;

  /// Number of blocks for `work` tasks of which a block takes `per_block` at a time. Kernels loop
  /// over their work, so the grid never exceeds the number of resident blocks.
  [[nodiscard]] unsigned int blocks(std::uint64_t work, std::uint64_t per_block,
                                    int blocks_per_multiprocessor) const {
    const std::uint64_t wanted = (work + per_block - 1) / per_block;
    const std::uint64_t most =
        static_cast<std::uint64_t>(multiprocessors) * blocks_per_multiprocessor;
    return static_cast<unsigned int>(std::clamp<std::uint64_t>(wanted, 1, most));
  }

  /// Upper bound of the segments in a bin whose shortest segment has `shortest` items.
  [[nodiscard]] std::uint64_t segments_of_at_least(std::uint64_t shortest) const {
    return std::min(num_segments, num_items / shortest);
  }
};

/// Blocks per multiprocessor: enough to hide the latency of loads, without a tail of idle blocks.
inline constexpr int binning_blocks = 8;
inline constexpr int register_blocks = 16;
inline constexpr int shared_memory_blocks = 8;

/// Launches the kernel of bin `Index` over its list. Skips bins of segments longer than the input.
template <class T, int Index>
void launch_bin(const LaunchPlan& plan, const Arguments<typename T::Word>& arguments,
                const WorkLists& lists) {
  constexpr Bin bin = bins[Index];
  constexpr std::uint64_t shortest = Index == 0 ? 2 : bins[Index == 0 ? 0 : Index - 1].capacity + 1;
  const std::uint64_t most = plan.segments_of_at_least(shortest);
  if (most == 0) return;
  if constexpr (bin.kind == Bin::Kind::registers) {
    warp_bin_kernel<T, bin.threads, bin.items, bin.striped>
        <<<plan.blocks(most, register_block_threads / bin.threads, register_blocks),
           register_block_threads, 0, plan.stream>>>(arguments, lists, Index);
  } else {
    block_bin_kernel<T, bin.threads, bin.items>
        <<<plan.blocks(most, 1, shared_memory_blocks), bin.threads, 0, plan.stream>>>(arguments,
                                                                                      lists, Index);
  }
}

template <class T, int... Index>
void launch_bins(const LaunchPlan& plan, const Arguments<typename T::Word>& arguments,
                 const WorkLists& lists, std::integer_sequence<int, Index...>) {
  (launch_bin<T, Index>(plan, arguments, lists), ...);
}

/// Launches the kernels of the grid bin: as many rounds as one segment of all items would need.
/// Rounds that no segment needs end at once.
template <class T>
void launch_grid_bin(const LaunchPlan& plan, const Arguments<typename T::Word>& arguments,
                     const WorkLists& lists) {
  const std::uint64_t most_segments = plan.segments_of_at_least(tile_size + 1);
  if (most_segments == 0) return;
  const std::uint64_t most_tiles = plan.num_items / tile_size + most_segments;
  const unsigned int blocks = plan.blocks(most_tiles, 1, shared_memory_blocks);
  sort_tiles_kernel<T><<<blocks, tile_threads, 0, plan.stream>>>(arguments, lists);
  const int rounds = static_cast<int>(rounds_of(plan.num_items));
  for (int round = 0; round < rounds; ++round) {
    split_tiles_kernel<<<plan.blocks(most_tiles, binning_threads, binning_blocks), binning_threads,
                         0, plan.stream>>>(arguments, lists, round);
    merge_tiles_kernel<<<blocks, tile_threads, 0, plan.stream>>>(arguments, lists, round);
  }
}

/// Launches all kernels of a sort. \pre the counters are zeroed
template <class T>
cudaError_t launch_sort(const LaunchPlan& plan, const Arguments<typename T::Word>& arguments,
                        const WorkLists& lists) {
  const unsigned int blocks = plan.blocks(plan.num_segments, binning_threads, binning_blocks);
  histogram_kernel<<<blocks, binning_threads, 0, plan.stream>>>(arguments, lists);
  binning_kernel<<<blocks, binning_threads, 0, plan.stream>>>(arguments, lists);
  if (plan.only_binning) return cudaGetLastError();
  launch_bins<T>(plan, arguments, lists, std::make_integer_sequence<int, bin_count>{});
  launch_grid_bin<T>(plan, arguments, lists);
  return cudaGetLastError();
}

// Each is instantiated in a source file that CMake generates.
using Keys32 = Traits<std::uint32_t, NoPayload, false>;
using Keys32Values32 = Traits<std::uint32_t, std::uint32_t, false>;
using Keys32Values64 = Traits<std::uint32_t, std::uint64_t, false>;
using Stable32 = Traits<std::uint32_t, std::uint32_t, true>;
using Keys64 = Traits<std::uint64_t, NoPayload, false>;
using Keys64Values32 = Traits<std::uint64_t, std::uint32_t, false>;
using Keys64Values64 = Traits<std::uint64_t, std::uint64_t, false>;
using Stable64 = Traits<std::uint64_t, std::uint32_t, true>;

}  // namespace sortie::segsort::ics17
