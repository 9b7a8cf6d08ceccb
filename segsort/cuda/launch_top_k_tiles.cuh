// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/top_k_tiles.cuh"

namespace sortie::segsort {

/// Launches the kernel that sorts short segments in tiles, and lists the others. \pre the counters
/// are zeroed
template <class Word>
cudaError_t launch_top_k_tiles(const TopKArguments<Word>& arguments, cudaStream_t stream) {
  LaunchPlan plan{arguments.num_items, arguments.num_segments, {}, stream, LaunchOrder::after};
  const cudaError_t status = plan.limits.query();
  if (status != cudaSuccess) return status;
  const auto launch_for = [&]<int ValueBytes, class Index>() {
    return launch_chunks<LargeTiles, SelectionTiles<Word, ValueBytes, Index>>(
        top_k_tile_kernel<Word, ValueBytes, Index>, plan, arguments);
  };
  const auto launch_with = [&]<class Index>(Index) {
    return arguments.value_bytes == 0   ? launch_for.template operator()<0, Index>()
           : arguments.value_bytes == 4 ? launch_for.template operator()<4, Index>()
                                        : launch_for.template operator()<8, Index>();
  };
  return std::max(arguments.num_items, arguments.num_outputs) <= ~std::uint32_t{0}
             ? launch_with(std::uint32_t{})
             : launch_with(std::uint64_t{});
}

}  // namespace sortie::segsort
