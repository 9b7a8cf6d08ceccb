// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "segsort/cuda/array_tile.cuh"
#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/narrow_array.cuh"

/// Launches the sort of an array that fits the tile of a block, for one width of keys.
namespace sortie::segsort {

inline constexpr std::uint64_t most_items_of_array_tile = 8192;
/// Shared memory of a block for the longest such array.
template <class Stored>
constexpr std::size_t array_tile_bytes() {
  if constexpr (sizeof(Stored) < 4) {
    return sizeof(NarrowArrayShared<16>);
  } else {
    return sizeof(Tile<Stored, 0, 16, 16>);
  }
}

/// \param values  as for the kernels; its unit is not 0 if it has units
/// \pre plan.num_items is not 0, and at most most_items_of_array_tile
template <class Stored>
cudaError_t launch_array_tile(const LaunchPlan& plan, const Arguments<Stored>& arguments,
                              const PackedField& values) {
  const auto launch_one = [&](auto kernel, int threads, std::size_t shared_bytes) {
    return launch_resident(kernel, plan, LaunchOrder::after, 1, no_limit, threads, shared_bytes,
                           arguments, values, static_cast<std::uint32_t>(plan.num_items));
  };
  if constexpr (sizeof(Stored) < 4) {
    const auto launch_narrow = [&]<int Rows>() {
      return launch_one(narrow_array_kernel<Stored, Rows>, NarrowArrayShared<Rows>::threads,
                        sizeof(NarrowArrayShared<Rows>));
    };
    static_assert(NarrowArrayShared<16>::capacity == most_items_of_array_tile);
    if (plan.num_items <= 1024) return launch_narrow.template operator()<2>();
    if (plan.num_items <= 2048) return launch_narrow.template operator()<4>();
    if (plan.num_items <= 4096) return launch_narrow.template operator()<8>();
    return launch_narrow.template operator()<16>();
  } else {
    const auto launch_tile = [&]<int Warps, int Items>() {
      return launch_one(array_tile_kernel<Stored, Warps, Items>, 32 * Warps,
                        sizeof(Tile<Stored, 0, Warps, Items>));
    };
    static_assert(Tile<Stored, 0, 16, 16>::capacity == most_items_of_array_tile);
    if (plan.num_items <= 2048) return launch_tile.template operator()<8, 8>();
    if (plan.num_items <= 4096) return launch_tile.template operator()<16, 8>();
    return launch_tile.template operator()<16, 16>();
  }
}

}  // namespace sortie::segsort
