// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "primitives/cuda/launch.cuh"
#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/top_k_blocks.cuh"
#include "segsort/cuda/top_k_least.cuh"
#include "segsort/cuda/top_k_stream.cuh"
#include "segsort/cuda/top_k_threads.cuh"
#include "segsort/cuda/top_k_warps.cuh"
#include "segsort/cuda/top_k_whole.cuh"

/// Launches of the kernels of a selection.
namespace sortie::segsort {

/// Launches at most as many blocks as can be resident, and as `most_blocks`, in the order of the
/// plan: most kernels of a selection have few segments or none, so that a good part of their time is
/// that of their launches.
template <class Key>
cudaError_t launch_resident_top_k(void (*kernel)(TopKArguments<Key>),
                                  const TopKArguments<Key>& arguments, std::uint64_t most_blocks,
                                  unsigned int threads, std::size_t shared_bytes,
                                  const LaunchPlan& plan) {
  return launch_resident(kernel, plan, plan.order, most_blocks, no_limit, static_cast<int>(threads),
                         shared_bytes, arguments);
}

/// Whether segments are selected from by threads first, which list the longer ones.
template <class Word>
bool begins_with_threads(std::uint64_t items, std::uint64_t segments, std::uint64_t k) {
  const std::uint64_t longest_mean = k == 1 ? longest_of_any_thread : longest_of_thread<Word>;
  return segments != 0 && items / segments <= longest_mean;
}

/// Launches the kernel that sorts short segments in tiles, and lists the others, and that of the
/// teams. Defined in launch_top_k_tiles.cuh.
template <class Key>
cudaError_t launch_top_k_tiles(const TopKArguments<Key>& arguments, cudaStream_t stream);
extern template cudaError_t launch_top_k_tiles(const TopKArguments<std::uint8_t>&, cudaStream_t);
extern template cudaError_t launch_top_k_tiles(const TopKArguments<std::uint16_t>&, cudaStream_t);
extern template cudaError_t launch_top_k_tiles(const TopKArguments<std::uint32_t>&, cudaStream_t);
extern template cudaError_t launch_top_k_tiles(const TopKArguments<std::uint64_t>&, cudaStream_t);

/// Launches the kernels that stream one long segment.
template <class Key>
cudaError_t launch_top_k_stream(const TopKArguments<Key>& arguments, const LaunchPlan& plan) {
  cudaError_t status = launch_resident_top_k(top_k_stream_sample_kernel<Key>, arguments,
                                             stream_sample_blocks, stream_sample_threads, 0, plan);
  if (status == cudaSuccess)
    status = launch_resident_top_k(
        top_k_stream_kernel<Key>, arguments,
        arguments.num_items * sizeof(Key) / (16 * std::uint64_t{stream_threads} * stream_vectors) +
            1,
        stream_threads, 0, plan);
  if (status == cudaSuccess)
    status = launch_resident_top_k(top_k_stream_rank_kernel<Key>, arguments,
                                   stream_capacity / (stream_threads / 32 * ranked_keys),
                                   stream_threads, 0, plan);
  return status;
}

/// Launches the selection. \pre the counters are zeroed, if there are any
/// \param of_tiles  arguments for the kernels of tiles and of streamed segments, whose results are
///                  final
template <class Key>
cudaError_t launch_top_k(TopKArguments<Key> arguments, const TopKArguments<Key>& of_tiles,
                         std::uint64_t most_block_tasks, cudaStream_t stream) {
  constexpr unsigned int threads = 32 * top_k_warps;
  // Enough chunks for the warps of any GPU, each of which takes several to balance the load.
  constexpr std::uint64_t most_warps = 1 << 15;
  LaunchPlan plan{arguments.num_items, arguments.num_segments, {}, stream, LaunchOrder::after};
  cudaError_t status = plan.limits.query();
  if (plan.limits.has_dependent_launch) plan.order = LaunchOrder::overlapping;
  std::uint64_t segments = arguments.num_segments;
  const bool streams = arguments.lists.stream_words != nullptr;
  if (status == cudaSuccess && streams) status = launch_top_k_stream(of_tiles, plan);
  if (status != cudaSuccess) return status;
  if (arguments.tile_longest != 0) {
    status = arguments.k == 1 && arguments.tile_longest == longest_of_least
                 ? launch_resident_top_k(top_k_least_kernel<Key>, of_tiles,
                                         (segments - 1) / (threads * least_segments) + 1, threads,
                                         0, plan)
                 : launch_top_k_tiles(of_tiles, stream);
    segments = std::min(
        segments, arguments.num_items / (static_cast<std::uint64_t>(arguments.tile_longest) + 1));
  } else if (arguments.lists.warp_segments != nullptr) {
    // With twice as many warps at once, for segments that need few registers.
    const bool tiny = arguments.num_items / 4 <= segments;
    status = launch_resident_top_k(tiny ? top_k_thread_kernel<Key, longest_of_any_thread>
                                        : top_k_thread_kernel<Key, longest_of_thread<WordOf<Key>>>,
                                   arguments, (segments - 1) / threads + 1, threads, 0, plan);
    segments = std::min(segments, arguments.num_items / (longest_of_any_thread + 1));
  }
  arguments.chunk =
      static_cast<unsigned int>(std::clamp<std::uint64_t>(segments / most_warps, 1, 32));
  if (status == cudaSuccess && segments != 0)
    status = launch_resident_top_k(top_k_warp_kernel<Key>, arguments,
                                   (segments - 1) / (arguments.chunk * top_k_warps) + 1, threads, 0,
                                   plan);
  if (status != cudaSuccess || most_block_tasks == 0) return status;
  if (arguments.lists.bounds != nullptr)
    status = launch_resident_top_k(top_k_sample_kernel<Key>, arguments,
                                   arguments.num_items / shortest_sampled * sample_parts,
                                   top_k_block, 0, plan);
  if (status != cudaSuccess) return status;
  return launch_resident_top_k(top_k_block_kernel<Key>, arguments, most_block_tasks, top_k_block,
                               top_k_shared_bytes<WordOf<Key>>(arguments.capacity), plan);
}

/// Launches number_items_kernel for indices of `value_bytes` bytes.
inline cudaError_t number_items(void* indices, int value_bytes, std::uint64_t items,
                                std::uint64_t* offsets, std::uint64_t segments,
                                std::uint64_t row_length, cudaStream_t stream) {
  constexpr unsigned int blocks = 4096;
  const auto launch_for = [&]<class Index>(Index* typed) {
    number_items_kernel<<<blocks, top_k_block, 0, stream>>>(typed, items, offsets, segments,
                                                            row_length);
  };
  value_bytes == 8 ? launch_for(static_cast<std::uint64_t*>(indices))
                   : launch_for(static_cast<std::uint32_t*>(indices));
  return cudaGetLastError();
}

template <class Key>
cudaError_t launch_copy_first(const TopKArguments<Key>& arguments, cudaStream_t stream) {
  constexpr std::uint64_t most_blocks = 4096;
  // Threads for each segment, as many as it has results on average.
  const std::uint64_t results =
      std::min(arguments.k, (arguments.num_items - 1) / arguments.num_segments + 1);
  const auto group =
      static_cast<unsigned int>(std::min(std::bit_ceil(results), std::uint64_t{top_k_block}));
  const std::uint64_t blocks = (arguments.num_segments - 1) / (top_k_block / group) + 1;
  copy_first_kernel<<<static_cast<unsigned int>(std::min(blocks, most_blocks)), top_k_block, 0,
                      stream>>>(arguments, group);
  return cudaGetLastError();
}

}  // namespace sortie::segsort
