// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/top_k_teams.cuh"
#include "segsort/cuda/top_k_tiles.cuh"

namespace sortie::segsort {

/// Shared memory of a block if each of its teams has a tile.
template <class Key, int ValueBytes, int List>
inline constexpr std::size_t bytes_of_teams = top_k_team_warps / team_warps(team_class(List)) *
                                              sizeof(TeamTile<Key, ValueBytes, List>);

/// Launches the kernel of the teams of lists First to Last.
template <class Key, int ValueBytes, int First, int Last>
cudaError_t launch_top_k_teams(const LaunchPlan& plan, const TopKArguments<Key>& arguments) {
  auto beyond = static_cast<std::uint64_t>(arguments.tile_longest);
  if constexpr (First != 0) beyond = block_capacity(team_class(First - 1));
  const std::uint64_t most = plan.most_segments_from(beyond + 1);
  if (arguments.team_longest <= beyond || most == 0) return cudaSuccess;
  constexpr std::size_t wanted = [&]<int... List>(std::integer_sequence<int, List...>) {
    return std::max({bytes_of_teams<Key, ValueBytes, First + List>...});
  }
  (std::make_integer_sequence<int, Last - First + 1>{});
  static_assert(sizeof(TeamTile<Key, ValueBytes, Last>) <= shared_bytes_of_teams);
  const std::size_t bytes = std::min(wanted, static_cast<std::size_t>(plan.limits.shared_bytes));
  return launch_resident(top_k_team_kernel<Key, ValueBytes, (First < teams_of_one_warp)>, plan,
                         plan.order, most, no_limit, 32 * top_k_team_warps, bytes, arguments,
                         static_cast<unsigned int>(bytes));
}

/// Launches the kernel that sorts short segments in tiles, and lists the
/// others, and that of the teams. \pre the counters are zeroed
template <class Key>
cudaError_t launch_top_k_tiles(const TopKArguments<Key>& arguments, cudaStream_t stream) {
  LaunchPlan plan{arguments.num_items, arguments.num_segments, {}, stream, LaunchOrder::after};
  const cudaError_t status = plan.limits.query();
  if (status != cudaSuccess) return status;
  if (plan.limits.has_dependent_launch) plan.order = LaunchOrder::overlapping;
  const auto launch_for = [&]<int ValueBytes, class Index>() {
    const cudaError_t launched = launch_chunks<LargeTiles, SelectionTiles<Key, ValueBytes, Index>>(
        top_k_tile_kernel<Key, ValueBytes, Index>, plan, arguments);
    if (launched != cudaSuccess) return launched;
    const cudaError_t status =
        launch_top_k_teams<Key, ValueBytes, teams_of_one_warp, team_lists - 1>(plan, arguments);
    return status != cudaSuccess
               ? status
               : launch_top_k_teams<Key, ValueBytes, 0, teams_of_one_warp - 1>(plan, arguments);
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
