// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/narrow_teams.cuh"
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

/// Launches the kernels of the teams that sort segments as words, for the lists from List on. \pre
/// the GPU has shared_bytes_of_narrow_teams
template <class Narrow, int ValueBytes, int List = 0>
cudaError_t launch_narrow_lists(const LaunchPlan& plan, const NarrowArguments<Narrow>& arguments) {
  using T = NarrowTeamTile<ValueBytes, List>;
  static_assert(sizeof(T) <= shared_bytes_of_narrow_teams);
  const std::uint64_t most = plan.most_segments_from(longest_of_digit_list(List - 1) + 1);
  if (most == 0) return cudaSuccess;
  constexpr std::size_t teams = narrow_team_block<List> / T::threads;
  const std::size_t bytes =
      std::min(teams * sizeof(T), static_cast<std::size_t>(plan.limits.shared_bytes));
  const cudaError_t status = launch_resident(
      narrow_team_kernel<Narrow, ValueBytes, List>, plan, LaunchOrder::after, most, no_limit,
      narrow_team_block<List>, bytes, arguments, static_cast<unsigned int>(bytes));
  if constexpr (List + 1 < digit_lists)
    if (status == cudaSuccess)
      return launch_narrow_lists<Narrow, ValueBytes, List + 1>(plan, arguments);
  return status;
}
template <class Narrow>
cudaError_t launch_narrow_teams(const LaunchPlan& plan, const NarrowArguments<Narrow>& arguments) {
  return arguments.value_bytes == 0   ? launch_narrow_lists<Narrow, 0>(plan, arguments)
         : arguments.value_bytes == 4 ? launch_narrow_lists<Narrow, 4>(plan, arguments)
                                      : launch_narrow_lists<Narrow, 8>(plan, arguments);
}

}  // namespace sortie::segsort
