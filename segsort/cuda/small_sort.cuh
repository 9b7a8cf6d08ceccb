#pragma once

#include <cstdint>

#include "sortie/segsort/cuda/batch_sort.cuh"
#include "sortie/segsort/cuda/block_sort.cuh"
#include "sortie/segsort/cuda/partition.cuh"

/// Small sorts: one kernel, no lists in memory, no counters to clear. Each block sees its own
/// segments through, whatever their lengths: warps sort what fits their tiles, then the block
/// together what is longer, and partitions what is longer still.
namespace sortie::segsort {

template <class Word, int ValueBytes>
struct SmallSortShared {
  using Batch = BatchShared<Word, ValueBytes, std::uint32_t>;
  using T = Tile<Word, ValueBytes, small_sort_warps, warp_tile_items>;
  using Partition = PartitionShared<Word, ValueBytes, small_partition_shape>;
  union {
    Batch batches[small_sort_warps];
    T tile;
    Partition partition;
  };
  WaitingParts waiting;
  std::uint32_t long_segments[most_items_of_small_sort / (longest_in_warp + 1)];
  std::uint32_t long_count;
  /// Two neighbouring groups hold more than a tile, or half of one, together, unless a large bucket
  /// stands between them; at most 16 passes take four bits or more off such a bucket.
  Group groups[40 * (most_items_of_small_sort / longest_of_small_tile + 1)];
  std::uint32_t group_count;
};

/// What partition_alone() lists groups in.
template <class Shared>
struct LocalGroups {
  Shared& shared;

  [[nodiscard]] __device__ static constexpr std::uint64_t longest() {
    return longest_of_small_tile;
  }
  [[nodiscard]] __device__ static constexpr std::uint64_t preferred() { return longest(); }
  __device__ void add_group(const Group& added) const {
    shared.groups[atomicAdd(&shared.group_count, 1)] = added;
  }
};

/// Each block by itself: takes one chunk of segments a warp at a time.
///
///   shared memory, by turns   each warp's chunk and tile (batch_sort_kernel),
///                             the block's tile (block_sort_kernel),
///                             a partition's tile and counters (lone_partition_kernel)
///   shared memory, besides    the chunks' long segments, and the groups that a partition leaves
template <class Word, int ValueBytes>
__global__ void __launch_bounds__(small_partition_shape.threads)
    small_sort_kernel(Arguments<Word> arguments, int segments_of_chunk) {
  using Shared = SmallSortShared<Word, ValueBytes>;
  Shared& shared = shared_memory<Shared>();
  const unsigned int warp = threadIdx.x / 32;
  const std::uint64_t all = arguments.segments();
  const auto chunk = static_cast<std::uint64_t>(segments_of_chunk);
  const std::uint64_t step = gridDim.x * chunk * small_sort_warps;
  for (std::uint64_t first = blockIdx.x * chunk * small_sort_warps; first < all; first += step) {
    if (threadIdx.x == 0) shared.long_count = 0;
    __syncthreads();
    const std::uint64_t begin = first + warp * chunk;
    if (begin < all) {
      keep_arrays(shared.batches[warp], arguments);
      sort_chunk(
          shared.batches[warp], arguments,
          [&](std::uint32_t segment, std::uint64_t length) {
            if (length > longest_in_warp)
              shared.long_segments[atomicAdd(&shared.long_count, 1)] = segment;
          },
          begin, static_cast<int>(min(chunk, all - begin)));
    }
    __syncthreads();
    for (std::uint32_t i = 0; i < shared.long_count; ++i) {
      const Part part = part_of(arguments, shared.long_segments[i]);
      if (part.length <= longest_of_small_tile) {
        sort_in_block(shared.tile, arguments, part.begin, static_cast<int>(part.length), [] {});
        continue;
      }
      if (threadIdx.x == 0) shared.group_count = 0;
      partition_alone(shared.partition, shared.waiting, arguments, LocalGroups<Shared>{shared},
                      part);
      for (std::uint32_t k = 0; k < shared.group_count; ++k) {
        const Group group = shared.groups[k];
        Arguments<Word> from = arguments;
        from.keys_in = arguments.keys_of(group.buffer());
        from.values_in = arguments.values_of(group.buffer());
        sort_in_block(shared.tile, from, group.begin(), group.length(), [] {});
      }
      __syncthreads();
    }
    __syncthreads();
  }
}

}  // namespace sortie::segsort
