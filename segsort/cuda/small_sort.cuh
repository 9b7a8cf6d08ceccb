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
  std::uint32_t long_segments[most_items_of_small_sort / (warp_tile + 1)];
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

/// Sorts one segment of up to a warp's width, one item a lane: each item's place is the number of
/// those before it. That is little code, which counts when a kernel runs for microseconds; and the
/// comparisons do not wait for each other, whatever the segment's length.
template <int ValueBytes, class Word>
__device__ __forceinline__ void sort_in_lanes(const Arguments<Word>& arguments,
                                              const SegmentExtent& segment) {
  using Value = typename ValueWord<ValueBytes>::type;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const auto length = static_cast<int>(segment.length);
  const bool is_item = lane < length;
  const std::uint64_t index = segment.begin + static_cast<std::uint64_t>(lane);
  const Word key = is_item ? arguments.keys_in[index] : Word{0};
  Value value{};
  if constexpr (ValueBytes != 0)
    if (is_item) value = static_cast<const Value*>(arguments.values_in)[index];
  // Lanes without an item come last, behind items of the greatest key, which have lower numbers.
  const Word compared =
      is_item ? arguments.codec.encode(key) & arguments.codec.compare_mask : ~Word{0};
  int place = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const Word other = __shfl_sync(full_warp, compared, i);
    place += other < compared || (other == compared && i < lane) ? 1 : 0;
  }
  __syncwarp();  // all have read before any writes: the arrays may be the same
  if (!is_item) return;
  const std::uint64_t to = segment.begin + static_cast<std::uint64_t>(place);
  arguments.keys_out[to] = key;
  if constexpr (ValueBytes != 0) static_cast<Value*>(arguments.values_out)[to] = value;
}

/// Sorts the chunks of the block's warps, whatever the lengths: the calling warp's has segments
/// `begin` .. `end` - 1, or none (`begin` >= `end`), or is done already. Begins and ends with a
/// barrier.
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
        [&](std::uint32_t segment, std::uint64_t length) {
          if (length > warp_tile) shared.long_segments[atomicAdd(&shared.long_count, 1)] = segment;
        },
        begin, static_cast<int>(end - begin));
  }
  __syncthreads();
  for (std::uint32_t i = 0; i < shared.long_count; ++i) {
    const Part part = part_of(arguments, shared.long_segments[i]);
    if (part.length <= longest_of_small_tile) {
      sort_in_block(shared.tile, arguments, part.begin, static_cast<int>(part.length), [] {});
      continue;
    }
    if (threadIdx.x == 0) shared.group_count = 0;
    partition_alone(shared.partition, shared.waiting, arguments, LocalGroups<Shared>{shared}, part);
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

/// Each block by itself: takes one chunk of segments a warp at a time. Where that is one segment,
/// and short, its warp needs no tile; all other code is out of the way.
///
///   shared memory, by turns   each warp's chunk and tile (batch_sort_kernel),
///                             the block's tile (block_sort_kernel),
///                             a partition's tile and counters (lone_partition_kernel)
///   shared memory, besides    the chunks' long segments, and the groups that a partition leaves
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
