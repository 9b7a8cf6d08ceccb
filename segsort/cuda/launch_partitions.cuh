// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "segsort/cuda/grid_partition.cuh"
#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/partition.cuh"

/// Apart from the other launches, because the header of cooperative groups takes a third of the
/// time that a source with these kernels needs to compile.
namespace sortie::segsort {

/// Launches the partitions of segments that exceed the tiles of blocks, if there can be any.
template <class Tiles, class Word, int ValueBytes>
cudaError_t launch_partitions(const LaunchPlan& plan, const Arguments<Word>& arguments,
                              const WorkLists& lists) {
  const WorkListsOf<Tiles> limited{lists};
  if (most_shared_parts(plan.num_items, plan.is_array, Tiles::longest_group) != 0) {
    constexpr PartitionShape shape = Tiles::template grid_shape<Word, ValueBytes>;
    using Shared = GridShared<Word, ValueBytes, Tiles>;
    const cudaError_t status =
        launch_resident(grid_partition_kernel<Word, ValueBytes, Tiles>, plan,
                        LaunchOrder::cooperative, (plan.num_items - 1) / Shared::tile + 1,
                        shape.resident_blocks, Shared::threads, sizeof(Shared), arguments, limited);
    if (status != cudaSuccess) return status;
  }
  const std::uint64_t parts = plan.num_items / (std::uint64_t{Tiles::longest_group} + 1);
  if (parts == 0) return cudaSuccess;
  using Shared =
      PartitionShared<Word, ValueBytes, Tiles::template single_block_shape<Word, ValueBytes>>;
  return launch_resident(single_block_partition_kernel<Word, ValueBytes, Tiles>, plan, plan.order,
                         parts, no_limit, Shared::threads, sizeof(Shared), arguments, limited);
}

}  // namespace sortie::segsort
