// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/narrow_tiles.cuh"

namespace sortie::segsort {

/// Launches the kernel that sorts segments of narrow keys in tiles, and lists the longer ones.
/// \pre the counters are zeroed
template <class Narrow>
cudaError_t launch_narrow_tiles(const LaunchPlan& plan, const NarrowArguments<Narrow>& arguments) {
  const auto launch_for = [&]<int ValueBytes, class Index>() {
    return launch_chunks<LargeTiles, NarrowTiles<Narrow, ValueBytes, Index>>(
        narrow_tile_kernel<Narrow, ValueBytes, Index>, plan, arguments);
  };
  const auto launch_with = [&]<class Index>(Index) {
    return arguments.value_bytes == 0   ? launch_for.template operator()<0, Index>()
           : arguments.value_bytes == 4 ? launch_for.template operator()<4, Index>()
                                        : launch_for.template operator()<8, Index>();
  };
  return plan.num_items <= ~std::uint32_t{0} ? launch_with(std::uint32_t{})
                                             : launch_with(std::uint64_t{});
}

}  // namespace sortie::segsort
