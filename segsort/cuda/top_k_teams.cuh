// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/hardware.cuh"
#include "segsort/cuda/team_sort.cuh"
#include "segsort/cuda/top_k_tiles.cuh"

/// Selection of many items from segments that are too long for the tiles: a team of one or more
/// warps sorts one segment, and writes its first items to their final places.
namespace sortie::segsort {

template <class Key, int ValueBytes, int List>
using TeamTile = TileOfClass<WordOf<Key>, ValueBytes, team_class(List)>;

/// Shared memory and registers are those of block_sort_kernel. Longest segments first. A kernel
/// serves the lists of teams of one warp, or all others.
template <class Key, int ValueBytes, bool AreOfOneWarp>
__global__ void __launch_bounds__(32 * top_k_team_warps, 1)
    top_k_team_kernel(const TopKArguments<Key> arguments, unsigned int shared_size) {
  wait_for_preceding_kernels();
  const SelectionArrays<Key> arrays{arguments.keys_in, arguments.keys_out, arguments.values_in,
                                    arguments.values_out, arguments.tile_codec()};
  const auto select = [&]<int List>() {
    const std::uint64_t* const segments = arguments.lists.team_segments[List];
    select_by_teams<TeamTile<Key, ValueBytes, List>>(
        arrays, shared_size, arguments.lists.counters->team_segments[List],
        [&](std::uint64_t i) { return selection_of(arguments, segments[i]); });
  };
  if constexpr (AreOfOneWarp) {
    select.template operator()<1>();
    select.template operator()<0>();
  } else {
    select.template operator()<4>();
    select.template operator()<3>();
    select.template operator()<2>();
  }
}

}  // namespace sortie::segsort
