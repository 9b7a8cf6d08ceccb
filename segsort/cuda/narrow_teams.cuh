// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/narrow_tiles.cuh"
#include "segsort/cuda/team_sort.cuh"

/// Segments of keys of 2 bytes that exceed the tile of a warp, sorted as words
/// by a team of warps. Keys of 1 byte are sorted by their digit instead
/// (narrow_digits.cuh): words with so few keys cannot be distributed evenly.
namespace sortie::segsort {

/// The tile for the segments of a list of teams.
template <int ValueBytes, int List>
using NarrowTeamTile =
    TileOfClass<std::uint32_t, ValueBytes, block_class(longest_of_digit_list(List))>;
template <int List>
inline constexpr int narrow_team_block =
    32 * warps_of_block<std::uint32_t>(block_class(longest_of_digit_list(List)));

/// Shared memory and registers are those of block_sort_kernel.
template <class Narrow, int ValueBytes, int List>
__global__ void __launch_bounds__(narrow_team_block<List>,
                                  32 * resident_warps / narrow_team_block<List>)
    narrow_team_kernel(const NarrowArguments<Narrow> arguments, unsigned int shared_size) {
  const ItemArrays<std::uint32_t, Narrow, NarrowCodec<Narrow>> arrays{
      arguments.keys_in, arguments.keys_out, arguments.values_in, arguments.values_out,
      arguments.tile_codec()};
  const SegmentExtent* const segments = arguments.lists.of_team[List];
  select_by_teams<NarrowTeamTile<ValueBytes, List>>(
      arrays, shared_size, arguments.lists.counters->of_team[List], [&](std::uint64_t i) {
        const SegmentExtent s = segments[i];
        return Selection{s.begin, s.length, s.begin, s.length};
      });
}

}  // namespace sortie::segsort
