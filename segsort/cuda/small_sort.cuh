// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/batch_sort.cuh"
#include "segsort/cuda/block_sort.cuh"
#include "segsort/cuda/partition.cuh"

/// Small sorts: one kernel, without lists in global memory and without counters to clear. In each
/// block, warps sort the segments that fit their tiles; then the whole block sorts longer ones, and
/// partitions those that exceed its tile.
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
  PendingParts<LargeTiles> pending;
  std::uint32_t long_segments[most_items_of_small_sort / (warp_tile + 1)];
  std::uint32_t long_count;
  /// Two neighbouring groups together exceed a tile, or half of one, unless a large bucket
  /// separates them; at most 16 passes take at least four bits each off such a bucket.
  Group groups[40 * (most_items_of_small_sort / longest_of_small_tile + 1)];
  std::uint32_t group_count;
};

/// Receives the groups of partition_in_block().
template <class Shared>
struct LocalGroups {
  using Tiles = LargeTiles;
  Shared& shared;

  [[nodiscard]] __device__ static constexpr std::uint64_t longest() {
    return longest_of_small_tile;
  }
  [[nodiscard]] __device__ static constexpr std::uint64_t preferred() { return longest(); }
  __device__ void add_group(const Group& added) const {
    shared.groups[atomicAdd(&shared.group_count, 1)] = added;
  }
};

/// Sorts one segment of up to 32 items, one item per lane: the position of an item is the number of
/// items before it. This takes little code, which matters for a kernel that runs for microseconds,
/// and the comparisons are independent of each other, whatever the length.
template <int ValueBytes, class Word>
__device__ __forceinline__ void sort_in_lanes(const Arguments<Word>& arguments,
                                              const SegmentExtent& segment) {
  using Value = ValueWord<ValueBytes>;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const auto length = static_cast<int>(segment.length);
  const bool is_item = lane < length;
  const std::uint64_t index = segment.begin + static_cast<std::uint64_t>(lane);
  const Word key = is_item ? arguments.keys_in[index] : Word{0};
  Value value{};
  if constexpr (ValueBytes != 0)
    if (is_item) value = static_cast<const Value*>(arguments.values_in)[index];
  // Lanes without an item sort last: after items of the greatest key, which are in lower lanes.
  const Word compared =
      is_item ? arguments.codec.encode(key) & arguments.codec.compare_mask : ~Word{0};
  int place = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const Word other = __shfl_sync(full_warp, compared, i);
    place += other < compared || (other == compared && i < lane) ? 1 : 0;
  }
  __syncwarp();  // input and output may be the same: all reads precede all writes
  if (!is_item) return;
  const std::uint64_t to = segment.begin + static_cast<std::uint64_t>(place);
  arguments.keys_out[to] = key;
  if constexpr (ValueBytes != 0) static_cast<Value*>(arguments.values_out)[to] = value;
}

/// Sorts the chunks of the warps of the block, whatever the lengths. The chunk of the calling warp
/// has segments `begin` .. `end` - 1, or none (`begin` >= `end`), or is sorted already (`is_done`).
/// Begins and ends with a barrier.
template <class Word, int ValueBytes>
__device__ __noinline__ void sort_chunks_of_block(SmallSortShared<Word, ValueBytes>& shared,
                                                  const Arguments<Word>& arguments,
                                                  std::uint64_t begin, std::uint64_t end,
                                                  bool is_done) {
  using Shared = SmallSortShared<Word, ValueBytes>;
  __syncthreads();
  if (threadIdx.x == 0) shared.long_count = 0;
  __syncthreads();
  if (begin < end && !is_done) {
    auto& own = shared.batches[threadIdx.x / 32];
    keep_arrays(own, arguments);
    sort_chunk<warp_tile>(
        own, arguments,
        [&](std::uint64_t segment, const SegmentOffsets& offsets) {
          if (offsets.extent().length > warp_tile)
            shared.long_segments[atomicAdd(&shared.long_count, 1)] =
                static_cast<std::uint32_t>(segment);
        },
        begin, static_cast<int>(end - begin));
  }
  __syncthreads();
  for (std::uint32_t i = 0; i < shared.long_count; ++i) {
    const Part part = part_of(arguments, shared.long_segments[i]);
    if (part.length <= longest_of_small_tile) {
      const auto length = static_cast<std::uint32_t>(part.length);
      sort_in_block(shared.tile, arguments, {part.begin, length, Buffer::input}, [] {});
      continue;
    }
    if (threadIdx.x == 0) shared.group_count = 0;
    partition_in_block(shared.partition, shared.pending, arguments, LocalGroups<Shared>{shared},
                       part);
    for (std::uint32_t k = 0; k < shared.group_count; ++k) {
      const Group group = shared.groups[k];
      sort_in_block(shared.tile, arguments, {group.begin(), group.length(), group.buffer()}, [] {});
    }
    __syncthreads();
  }
  __syncthreads();
}

/// Each block independently takes one chunk of segments per warp at a time. If a chunk is a single
/// short segment, its warp needs no tile, and all other code stays out of the instruction cache.
///
///   shared memory, one after the other   chunk and tile of each warp (batch_sort_kernel);
///                                        the tile of the block (block_sort_kernel);
///                                        tile and counters of a partition
///                                        (single_block_partition_kernel)
///   shared memory, throughout            long segments of the chunks; the groups of a partition
template <class Word, int ValueBytes>
__global__ void __launch_bounds__(small_partition_shape.threads)
    small_sort_kernel(const __grid_constant__ Arguments<Word> arguments, int segments_of_chunk) {
  using Shared = SmallSortShared<Word, ValueBytes>;
  const unsigned int warp = threadIdx.x / 32;
  const std::uint64_t all = arguments.segments();
  const auto chunk = static_cast<std::uint64_t>(segments_of_chunk);
  const std::uint64_t step = gridDim.x * chunk * small_sort_warps;
  for (std::uint64_t first = blockIdx.x * chunk * small_sort_warps; first < all; first += step) {
    const std::uint64_t begin = first + warp * chunk;
    bool is_done = begin >= all;
    if (segments_of_chunk == 1 && !is_done) {
      const SegmentExtent segment = extent(arguments, begin);
      is_done = segment.length <= 32;
      if (is_done) sort_in_lanes<ValueBytes>(arguments, segment);
    }
    if (__syncthreads_or(is_done ? 0 : 1) == 0) continue;
    sort_chunks_of_block<Word, ValueBytes>(shared_memory<Shared>(), arguments, begin,
                                           min(begin + chunk, all), is_done);
  }
}

}  // namespace sortie::segsort
