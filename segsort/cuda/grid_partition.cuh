// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "segsort/cuda/partition.cuh"

/// Partition of the longest segments, by all blocks together.
///
/// Blocks claim tile groups in the order of the items, because neighbouring tiles write to adjacent
/// addresses of a bucket. The writes then happen at about the same time; otherwise memory would
/// receive partial lines (measured on an H200: 110 giga-pairs per second instead of 50). For this,
/// the number of items of each bucket before each tile must be known, which the counting pass
/// provides.
namespace sortie::segsort {

/// Most tile groups of a batch that have rows in the separate list.
inline constexpr std::uint64_t most_tile_group_rows = 8192;
/// Up to this number of chunks, one task sums all counts of a part; beyond, several tasks do.
inline constexpr std::uint32_t few_chunks = 16;
/// Buckets per task of several; few if there are many chunks to sum.
__device__ inline std::uint32_t columns_of_task(std::uint32_t chunks) {
  return chunks > 256 ? 8 : 32;
}

/// Most parts that the whole grid partitions together: of an array, all that exceeds a tile.
constexpr std::uint64_t most_shared_parts(std::uint64_t items, bool is_array,
                                          std::uint64_t longest_group) {
  const std::uint64_t parts = items / (longest_single_block_partition + 1);
  return parts == 0 && is_array && items > longest_group ? 1 : parts;
}

/// Rows of histograms that a sort of `items` items with `parts` long segments needs.
template <class Tiles = LargeTiles>
constexpr std::uint64_t most_histogram_rows(std::uint64_t items, std::uint64_t parts) {
  const std::uint64_t parts_of_batch = parts < most_parts_of_batch ? parts : most_parts_of_batch;
  const std::uint64_t tiles = items / Tiles::smallest_partition_tile + 1;
  return (tiles < chunks_of_batch ? tiles : chunks_of_batch) + 2 * parts_of_batch;
}

/// Rows of an array whose first partition has its rows in the scratch buffer. Others have fewer rows,
/// and take more batches, so that temporary storage is less than that of cub::DeviceRadixSort: up to
/// 2^25 items they are rare, since parts of evenly spread keys do not exceed
/// longest_single_block_partition. Beyond 2^28 items there are no more rows.
struct ArrayRows {
  std::uint32_t parts;  ///< of a batch
  std::uint32_t chunks;
  std::uint32_t tile_groups;
  std::uint64_t histograms;

  /// \param tiles  of the array
  constexpr ArrayRows(std::uint64_t items, std::uint64_t tiles) {
    // Without a further partition by the grid the first needs limits, but no rows.
    const bool has_more = items > longest_single_block_partition;
    const std::uint64_t share =
        items <= std::uint64_t{most_buckets} * longest_single_block_partition ? 6 : 8;
    constexpr std::uint64_t most_tiles = (1 << 28) / LargeTiles::smallest_partition_tile;
    const std::uint64_t counted = tiles < most_tiles ? tiles : most_tiles;
    const auto part_of_tiles = [&](std::uint64_t divisor) {
      return static_cast<std::uint32_t>((counted + divisor - 1) / divisor);
    };
    parts = has_more ? part_of_tiles(6 * share) : 1;
    chunks = has_more ? part_of_tiles(3 * share) : 1;
    tile_groups = has_more ? part_of_tiles(share) : 0;
    histograms = has_more ? chunks + std::uint64_t{2} * parts : 0;
  }
};
static_assert((1 << 28) / LargeTiles::smallest_partition_tile / 48 < most_parts_of_batch);

/// Row of the histograms for a chunk. The rows of each part follow one that holds the first
/// positions of its buckets.
__device__ inline std::uint64_t* row_of_chunk(const WorkLists& lists, const SharedPart& owner,
                                              std::uint32_t part, std::uint32_t chunk) {
  const bool is_in_scratch =
      lists.input_histograms != nullptr && owner.part.buffer == Buffer::input;
  return (is_in_scratch ? lists.input_histograms : lists.histograms) +
         (std::uint64_t{part} + 1 + chunk) * most_buckets;
}

__device__ inline bool has_rows_in_scratch(const WorkLists& lists, const Part& part) {
  return lists.tile_group_rows_in_scratch && part.buffer == Buffer::input;
}

/// Row for a tile group of a part.
template <class Word>
__device__ std::uint32_t* row_of_tile_group(const Arguments<Word>& arguments,
                                            const WorkLists& lists, const SharedPart& owner,
                                            std::uint32_t tile_group) {
  std::uint32_t* rows = lists.tile_group_rows + owner.first_row * most_buckets;
  if (has_rows_in_scratch(lists, owner.part))
    rows = reinterpret_cast<std::uint32_t*>(arguments.keys_scratch + owner.part.begin);
  return rows + std::uint64_t{tile_group} * most_buckets;
}
static_assert(SmallTiles::smallest_partition_tile >= 2 * most_buckets,
              "rows of whole tiles fit the scratch");

/// Progress of the grid.
struct Round {
  PartBatch batch;
  SharedPart* parts;       ///< of the batch
  SharedPart* next_parts;  ///< of the next round
  std::uint32_t number;
  std::uint32_t begin_of_batch;
  std::uint32_t count;  ///< parts of the round
};

/// Shared memory of a block of the grid: a tile, the progress of the grid, and the next tile group
/// of the block, which is fetched while the block writes its last tile.
template <class WordType, int ValueBytesOfOne, class Tiles>
struct GridShared : PartitionShared<WordType, ValueBytesOfOne,
                                    Tiles::template grid_shape<WordType, ValueBytesOfOne>> {
  WorkListsOf<Tiles> lists;
  Round round;
  std::uint32_t tile_group;                              ///< next one of the block
  std::uint32_t number;                                  ///< index of its part within the batch
  SharedPart owner;                                      ///< its part
  std::uint32_t first_tile_groups[most_parts_of_batch];  ///< of the parts of the batch

  /// Claims the next tile group. With a fixed assignment, blocks would drift apart.
  __device__ void claim_next() {
    if (threadIdx.x == 0) tile_group = atomicAdd(&lists.counters->next_tile_group, 1);
  }
  /// Starts to fetch the part of the tile group. \pre a barrier since claim_next()
  __device__ void look_up_next() {
    constexpr unsigned int words = sizeof(SharedPart) / 4;
    static_assert(words <= 32 && sizeof(SharedPart) % 4 == 0);
    if (threadIdx.x >= words || tile_group >= round.batch.tile_groups) return;
    const std::uint32_t found = last_not_beyond(
        tile_group, round.batch.parts, [&](std::uint32_t i) { return first_tile_groups[i]; });
    if (threadIdx.x == 0) number = found;
    __pipeline_memcpy_async(
        reinterpret_cast<std::uint32_t*>(&owner) + threadIdx.x,
        reinterpret_cast<const std::uint32_t*>(round.parts + found) + threadIdx.x, 4);
  }
  /// Waits for the fetch; the part is visible to the block after the next barrier.
  __device__ void await_next() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }
};

/// Claims a tile group without overlapped work. Ends with a barrier.
template <class Shared>
__device__ __forceinline__ void take_tile_group(Shared& shared) {
  shared.claim_next();
  __syncthreads();
  shared.look_up_next();
  shared.await_next();
  __syncthreads();
}

/// Forms a batch of as many parts as there are rows for, but at least one, and divides them into
/// tile groups, chunks and tasks. Executed by one block.
template <class Shared, class Lists>
__device__ __forceinline__ PartBatch form_batch(Shared& shared, const Lists& lists,
                                                SharedPart* parts, std::uint32_t count) {
  const auto tiles_of = [&](std::uint32_t i) {
    return (parts[i].part.length - 1) / Shared::tile + 1;
  };
  const auto has_list_rows = [&](std::uint32_t i) {
    return !has_rows_in_scratch(lists, parts[i].part);
  };
  const auto sum_in_block = [&](auto number) {
    return prefix_sum_in_block<Shared::warps>(number, shared.warp_sums);
  };
  // An array in the input is alone in its batch.
  const bool is_input = lists.input_histograms != nullptr && !has_list_rows(0);
  const std::uint32_t most = min(count, lists.part_capacity);
  const std::uint32_t most_chunks = is_input ? chunks_of_batch : lists.chunk_capacity;
  PartBatch batch{};
  std::uint64_t rows = 0;
  for (std::uint32_t begin = 0; begin < most; begin += Shared::threads) {
    const std::uint32_t i = begin + threadIdx.x;
    const std::uint64_t mine = i < most && has_list_rows(i) ? tiles_of(i) : 0;
    const auto sum = sum_in_block(mine);
    const std::uint64_t up_to = rows + sum.before + mine;
    batch.parts += static_cast<std::uint32_t>(
        __syncthreads_count(i < most && up_to <= lists.tile_group_row_capacity ? 1 : 0));
    rows += sum.total;
    if (rows > lists.tile_group_row_capacity) break;
  }
  batch.tiles_of_tile_group = 1;
  if (batch.parts == 0) {
    batch.parts = 1;
    batch.tiles_of_tile_group =
        static_cast<std::uint32_t>((tiles_of(0) - 1) / lists.tile_group_row_capacity + 1);
  }
  const auto tile_groups_of = [&](std::uint32_t i) {
    return static_cast<std::uint32_t>((tiles_of(i) - 1) / batch.tiles_of_tile_group + 1);
  };

  std::uint64_t tile_groups = 0;
  for (std::uint32_t i = threadIdx.x; i < batch.parts; i += Shared::threads)
    tile_groups += tile_groups_of(i);
  tile_groups = sum_in_block(tile_groups).total;
  batch.tile_groups_of_chunk = static_cast<std::uint32_t>((tile_groups - 1) / most_chunks + 1);

  std::uint64_t first_row = 0;
  for (std::uint32_t begin = 0; begin < batch.parts; begin += Shared::threads) {
    const std::uint32_t i = begin + threadIdx.x;
    const bool taken = i < batch.parts;
    const std::uint32_t own_tile_groups = taken ? tile_groups_of(i) : 0;
    const std::uint32_t own_rows = taken && has_list_rows(i) ? own_tile_groups : 0;
    const std::uint32_t own_chunks =
        taken ? (own_tile_groups - 1) / batch.tile_groups_of_chunk + 1 : 0;
    std::uint32_t own_tasks = taken ? 1 : 0;
    if (own_chunks > few_chunks)
      own_tasks =
          static_cast<std::uint32_t>(wanted_buckets<typename Lists::Tiles>(parts[i].part) - 1) /
              columns_of_task(own_chunks) +
          1;
    const auto all_tile_groups = sum_in_block(own_tile_groups);
    const auto all_rows = sum_in_block(std::uint64_t{own_rows});
    const auto all_chunks = sum_in_block(own_chunks);
    const auto all_tasks = sum_in_block(own_tasks);
    if (taken) {
      SharedPart& part = parts[i];
      part.least = ~std::uint64_t{0};
      part.greatest = 0;
      if (part.part.low_keys != LowKeys::found)
        part.cut = RangeCut(part.part, typename Lists::Tiles{});
      part.first_tile_group = batch.tile_groups + all_tile_groups.before;
      part.first_row = first_row + all_rows.before;
      part.first_chunk = batch.chunks + all_chunks.before;
      part.first_task = batch.tasks + all_tasks.before;
      part.chunks = own_chunks;
      part.tasks = own_tasks;
      part.tasks_done = 0;
    }
    batch.tile_groups += all_tile_groups.total;
    first_row += all_rows.total;
    batch.chunks += all_chunks.total;
    batch.tasks += all_tasks.total;
  }
  return batch;
}

/// Counts the digits of one chunk, and stores the counts before each of its tile groups.
template <class Shared, class Word>
__device__ __forceinline__ void count_chunk(Shared& shared, const Arguments<Word>& arguments,
                                            const WorkLists& lists, const Round& round,
                                            std::uint32_t chunk) {
  const PartBatch& batch = round.batch;
  const std::uint32_t number = last_not_beyond(
      chunk, batch.parts, [&](std::uint32_t i) { return round.parts[i].first_chunk; });
  SharedPart& owner = round.parts[number];
  const Part part = owner.part;
  const std::uint64_t group_items = std::uint64_t{batch.tiles_of_tile_group} * Shared::tile;
  const std::uint32_t first_tile_group = (chunk - owner.first_chunk) * batch.tile_groups_of_chunk;
  const std::uint64_t begin = first_tile_group * group_items;
  const std::uint64_t length = min(batch.tile_groups_of_chunk * group_items, part.length - begin);
  const OfBuckets<std::uint32_t> lengths = count_digits(
      shared, arguments.keys_of(part.buffer) + part.begin + begin, length,
      [&](const Word(&)[Shared::items]) {
        if (threadIdx.x == 0) shared.digits = Digits<Word>(arguments.codec, owner.cut);
      },
      group_items,
      [&](std::uint64_t i, const OfBuckets<std::uint32_t>& before) {
        before.store(row_of_tile_group(arguments, lists, owner,
                                       first_tile_group + static_cast<std::uint32_t>(i)));
      });
  OfBuckets<std::uint64_t>{lengths.first, lengths.second}.store(
      row_of_chunk(lists, owner, number, chunk));
  if (threadIdx.x == 0) {
    atomicMin(reinterpret_cast<unsigned long long*>(&owner.least),
              static_cast<unsigned long long>(shared.least));
    atomicMax(reinterpret_cast<unsigned long long*>(&owner.greatest),
              static_cast<unsigned long long>(shared.greatest));
  }
}

/// Replaces the rows of counts of a part by exclusive prefix sums over its chunks, and stores the
/// first position of each bucket in the row before them. If there are few chunks, one task does so
/// for all buckets. Otherwise each task handles a few columns, and the task that ends last turns
/// the totals into positions.
template <class Shared>
__device__ __forceinline__ void sum_chunks(Shared& shared, const WorkLists& lists,
                                           const Round& round, std::uint32_t task) {
  const std::uint32_t number = last_not_beyond(
      task, round.batch.parts, [&](std::uint32_t i) { return round.parts[i].first_task; });
  SharedPart& owner = round.parts[number];
  std::uint64_t* const rows = row_of_chunk(lists, owner, number, owner.first_chunk);
  if (owner.chunks <= few_chunks) {
    OfBuckets<std::uint64_t> lengths[few_chunks];
#pragma unroll
    for (std::uint32_t chunk = 0; chunk < few_chunks; ++chunk)
      if (chunk < owner.chunks)
        lengths[chunk] = OfBuckets<std::uint64_t>::load(rows + std::uint64_t{chunk} * most_buckets);
    OfBuckets<std::uint64_t> sum;
#pragma unroll
    for (std::uint32_t chunk = 0; chunk < few_chunks; ++chunk) {
      if (chunk >= owner.chunks) continue;
      sum.store(rows + std::uint64_t{chunk} * most_buckets);
      sum += lengths[chunk];
    }
    starts_of(sum, shared.warp_sums).store(rows - most_buckets);
    return;
  }
  // Thread t sums a range of column t % columns.
  const std::uint32_t columns = columns_of_task(owner.chunks);
  const std::uint32_t ranges = Shared::threads / columns;
  auto* const sums = reinterpret_cast<std::uint64_t*>(shared.area);
  const std::uint32_t column = (task - owner.first_task) * columns + threadIdx.x % columns;
  const std::uint32_t range = threadIdx.x / columns;
  const std::uint32_t each = (owner.chunks - 1) / ranges + 1;
  const std::uint32_t begin = min(range * each, owner.chunks);
  const std::uint32_t end = min(begin + each, owner.chunks);
  std::uint64_t sum = 0;
#pragma unroll 8
  for (std::uint32_t chunk = begin; chunk < end; ++chunk)
    sum += rows[std::uint64_t{chunk} * most_buckets + column];
  sums[threadIdx.x] = sum;
  __syncthreads();
  std::uint64_t before = 0;
  for (std::uint32_t s = 0; s < range; ++s) before += sums[s * columns + threadIdx.x % columns];
  if (range == ranges - 1) *(rows + column - most_buckets) = before + sum;
#pragma unroll 8
  for (std::uint32_t chunk = begin; chunk < end; ++chunk) {
    const std::uint64_t count = rows[std::uint64_t{chunk} * most_buckets + column];
    rows[std::uint64_t{chunk} * most_buckets + column] = before;
    before += count;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) sums[0] = atomicAdd(&owner.tasks_done, 1);
  __syncthreads();
  const bool is_last = sums[0] == owner.tasks - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  const auto lengths = OfBuckets<std::uint64_t>::load_first(rows - most_buckets, owner.cut.buckets);
  starts_of(lengths, shared.warp_sums).store(rows - most_buckets);
}

/// Moves the items of the tile group that the block has claimed. The block with the first tile
/// group of a part also lists the resulting groups and parts. Requires a preceding barrier and ends
/// with one.
template <class Shared, class Word, class Lists>
__device__ __forceinline__ void move_tile_group(Shared& shared, const Arguments<Word>& arguments,
                                                const Lists& lists) {
  const Round& round = shared.round;
  const SharedPart& owner = shared.owner;
  const std::uint32_t number_in_part = shared.tile_group - owner.first_tile_group;
  const bool is_first = number_in_part == 0;
  const auto keep_part = [&](const Part& part) {
    round.next_parts[atomicAdd(&lists.counters->shared_parts[(round.number + 1) % 2], 1)].part =
        part;
  };
  Part part = owner.part;
  const bool is_ordered = owner.least == owner.greatest;
  if (is_ordered || !divides(owner.cut, part, arguments.codec, owner.least, owner.greatest)) {
    if (is_first) {
      if (is_ordered) {
        list_ordered(lists, part.begin, part.length, part.buffer, threadIdx.x, Shared::threads);
      } else if (threadIdx.x == 0) {
        keep_part(part);
      }
    }
    __syncthreads();
    take_tile_group(shared);
    return;
  }
  const std::uint64_t most = std::uint64_t{round.batch.tiles_of_tile_group} * Shared::tile;
  const std::uint64_t before = number_in_part * most;
  const std::uint64_t begin = part.begin + before;
  const std::uint64_t length = min(most, part.length - before);
  prefetch_items<Shared::value_bytes>(arguments.keys_of(part.buffer),
                                      arguments.values_of(part.buffer), begin, length, threadIdx.x,
                                      blockDim.x);
  const Buffer to = other_buffer(part.buffer);
  // Rows of the part, of the chunk of the tile group, and of the tile group.
  const std::uint32_t chunk = owner.first_chunk + number_in_part / round.batch.tile_groups_of_chunk;
  const auto starts = OfBuckets<std::uint64_t>::load(
      row_of_chunk(lists, owner, shared.number, owner.first_chunk) - most_buckets);
  auto places = OfBuckets<std::uint64_t>::load(row_of_chunk(lists, owner, shared.number, chunk));
  places +=
      OfBuckets<std::uint32_t>::load(row_of_tile_group(arguments, lists, owner, number_in_part));
  if (is_first)
    list_buckets(shared, lists, part, owner.cut, to, starts, [&](const Part& large) {
      if (large.length <= longest_single_block_partition) {
        lists.parts[atomicAdd(&lists.counters->parts, 1)] = large;
      } else {
        keep_part(large);
      }
    });
  places += starts;
  places += OfBuckets<std::uint64_t>{part.begin, part.begin};
  places.store(shared.places);
  set_pass(shared, arguments, owner.cut, part.buffer, to);
  move_items<Shared>(begin, length);
}

/// Lists the segments for the first round, and samples their keys: one warp a segment.
template <class Shared, class Word, class Lists>
__device__ __forceinline__ void list_segments(const Arguments<Word>& arguments, const Lists& lists,
                                              std::uint32_t segments) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (std::uint32_t i = blockIdx.x * Shared::warps + threadIdx.x / 32; i < segments;
       i += gridDim.x * Shared::warps) {
    SharedPart listed{};
    listed.part = part_of(arguments, lists.segment(grid_partition_class, i));
    if (Shared::may_float && lists.cuts_may_float) {
      const Word* const keys = arguments.keys_of(listed.part.buffer) + listed.part.begin;
      const std::uint64_t step = listed.part.length / (32 * samples_of_lane);
      const Digits<Word> digits(arguments.codec, listed.cut);
      Word sample[samples_of_lane];
#pragma unroll
      for (int k = 0; k < samples_of_lane; ++k)
        sample[k] = digits.compared(keys[static_cast<std::uint64_t>(32 * k + lane) * step]);
      listed.cut = cut_by_sample(listed.part, sample, typename Lists::Tiles{});
    }
    if (lane == 0) lists.shared_parts[0][i] = listed;
  }
}

/// Parts beyond longest_single_block_partition: all blocks of the grid process all parts, in rounds
/// of one pass each, with grid barriers between the steps of a round. A round with very many parts
/// is divided into batches, so that the counts take a constant amount of memory.
///
///   global memory              the parts of this round and of the next; counts of each bucket
///                              before each chunk, and before each tile group within its chunk
///   shared memory, registers   for a tile: as in move_tile(); for the buckets: two per thread
template <class Word, int ValueBytes, class Tiles = LargeTiles>
__global__ void __launch_bounds__(Tiles::template grid_shape<Word, ValueBytes>.threads,
                                  Tiles::template grid_shape<Word, ValueBytes>.resident_blocks)
    grid_partition_kernel(Arguments<Word> arguments, WorkListsOf<Tiles> lists) {
  using Shared = GridShared<Word, ValueBytes, Tiles>;
  Shared& shared = shared_memory<Shared>();
  Round& round = shared.round;
  Counters& counters = *lists.counters;
  wait_for_preceding_kernels();
  const std::uint32_t segments = counters.segments[grid_partition_class];
  if (segments == 0) return;
  const auto grid = cooperative_groups::this_grid();
  const unsigned int thread = threadIdx.x;
  list_segments<Shared>(arguments, lists, segments);
  if (blockIdx.x == 0 && thread == 0) counters.shared_parts[0] = segments;
  if (thread == 0) {
    shared.lists = lists;
    round = Round{};
  }
  grid.sync();

  for (;;) {
    if (thread == 0) round.count = counters.shared_parts[round.number % 2];
    __syncthreads();
    if (round.count == 0) return;
    SharedPart* const parts = lists.shared_parts[round.number % 2] + round.begin_of_batch;
    if (blockIdx.x == 0) {
      const PartBatch formed = form_batch(shared, lists, parts, round.count - round.begin_of_batch);
      if (thread == 0) {
        counters.batch = formed;
        if (round.begin_of_batch == 0) counters.shared_parts[(round.number + 1) % 2] = 0;
        counters.next_tile_group = 0;
      }
    }
    grid.sync();
    if (thread == 0) {
      round.batch = counters.batch;
      round.parts = parts;
      round.next_parts = lists.shared_parts[(round.number + 1) % 2];
    }
    __syncthreads();
    for (std::uint32_t i = blockIdx.x; i < round.batch.chunks; i += gridDim.x)
      count_chunk(shared, arguments, lists, round, i);
    grid.sync();
    for (std::uint32_t i = blockIdx.x; i < round.batch.tasks; i += gridDim.x)
      sum_chunks(shared, lists, round, i);
    grid.sync();
    for (std::uint32_t i = thread; i < round.batch.parts; i += Shared::threads)
      shared.first_tile_groups[i] = parts[i].first_tile_group;
    take_tile_group(shared);
    while (shared.tile_group < round.batch.tile_groups) move_tile_group(shared, arguments, lists);
    grid.sync();
    if (thread == 0) {
      round.begin_of_batch += round.batch.parts;
      if (round.begin_of_batch == round.count) {
        round.begin_of_batch = 0;
        ++round.number;
      }
    }
    __syncthreads();
  }
}

}  // namespace sortie::segsort
