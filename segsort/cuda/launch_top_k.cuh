// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "primitives/cuda/launch.cuh"
#include "segsort/cuda/top_k.cuh"

/// Launches of the kernels of a selection.
namespace sortie::segsort {

/// Launches the selection. \pre the counters are zeroed, if there are any
template <class Word>
cudaError_t launch_top_k(TopKArguments<Word> arguments, std::uint64_t most_block_tasks,
                         cudaStream_t stream) {
  int device = 0;
  int multiprocessors = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  int resident = 0;
  if (status == cudaSuccess)
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, top_k_warp_kernel<Word>,
                                                           32 * top_k_warps, 0);
  if (status != cudaSuccess) return status;
  const std::uint64_t most = static_cast<std::uint64_t>(resident) *
                             static_cast<std::uint64_t>(multiprocessors) * top_k_warps;
  // Segments of threads fill a warp; of others, each warp takes several chunks to balance the load.
  const std::uint64_t chunks_of_warp =
      arguments.num_items / arguments.num_segments > TopKTile<Word>::longest ? 8 : 1;
  arguments.chunk = static_cast<unsigned int>(
      std::clamp<std::uint64_t>(arguments.num_segments / (most * chunks_of_warp), 1, 32));
  const std::uint64_t chunks = (arguments.num_segments - 1) / arguments.chunk + 1;
  top_k_warp_kernel<<<static_cast<unsigned int>((std::min(chunks, most) - 1) / top_k_warps + 1),
                      32 * top_k_warps, 0, stream>>>(arguments);
  status = cudaGetLastError();
  if (status != cudaSuccess || most_block_tasks == 0) return status;
  const std::size_t bytes = top_k_shared_bytes<Word>(arguments.capacity);
  status = allow_shared_memory(top_k_block_kernel<Word>, bytes);
  if (status == cudaSuccess)
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, top_k_block_kernel<Word>,
                                                           top_k_block, bytes);
  if (status != cudaSuccess) return status;
  const std::uint64_t blocks =
      std::min(most_block_tasks,
               static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(multiprocessors));
  top_k_block_kernel<<<static_cast<unsigned int>(blocks), top_k_block, bytes, stream>>>(arguments);
  return cudaGetLastError();
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

template <class Word>
cudaError_t launch_copy_first(const TopKArguments<Word>& arguments, cudaStream_t stream) {
  constexpr std::uint64_t most_blocks = 4096;
  copy_first_kernel<<<static_cast<unsigned int>(std::min(arguments.num_segments, most_blocks)),
                      top_k_block, 0, stream>>>(arguments);
  return cudaGetLastError();
}

}  // namespace sortie::segsort
