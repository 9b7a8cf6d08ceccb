#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "sortie/segsort/cuda/partition.cuh"

/// Partition of the longest segments, by all blocks together.
///
/// Blocks take tiles in the order in which the items lie, so that what neighbouring tiles write to
/// a bucket, which lies side by side, is written at about the same time: else the memory would get
/// each line in pieces (measured on an H200: 110 giga-pairs a second instead of 50). For that, each
/// tile must know how many items of each bucket are before it, which the counts tell.
namespace sortie::segsort {

/// Parts that the grid takes on at a time: enough to keep all of its blocks busy.
inline constexpr std::uint32_t most_parts_of_wave = 1024;
/// Pieces that a wave is cut into, about.
inline constexpr std::uint32_t pieces_of_wave = 2048;
/// Units of a wave that have rows in a list of their own.
inline constexpr std::uint64_t most_unit_rows = 8192;
/// The counts of so many pieces are added up in one job; of more, by several.
inline constexpr std::uint32_t few_pieces = 16;
/// Buckets of such a job.
inline constexpr int columns_of_job = 8;

/// Rows of histograms that a sort of so many items with long segments needs.
constexpr std::uint64_t most_histogram_rows(std::uint64_t items, std::uint64_t parts) {
  const std::uint64_t parts_of_wave = parts < most_parts_of_wave ? parts : most_parts_of_wave;
  const std::uint64_t tiles = items / smallest_partition_tile + 1;
  return (tiles < pieces_of_wave ? tiles : pieces_of_wave) + 2 * parts_of_wave;
}

/// The part that a unit, a piece or a job belongs to: the last whose first one is not beyond it.
template <std::uint32_t SharedPart::*First>
__device__ __forceinline__ std::uint32_t part_with(const SharedPart* parts, std::uint32_t count,
                                                   std::uint32_t number) {
  std::uint32_t low = 0;
  std::uint32_t high = count - 1;
  while (low < high) {
    const std::uint32_t middle = low + (high - low + 1) / 2;
    if (parts[middle].*First <= number) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// Row of the histograms for a piece. Each part's rows follow one that holds its buckets' lengths.
__device__ inline std::uint64_t* row_of_piece(const WorkLists& lists, std::uint32_t part,
                                              std::uint32_t piece) {
  return lists.histograms + (std::uint64_t{part} + 1 + piece) * most_buckets;
}

__device__ inline bool has_rows_in_scratch(const WorkLists& lists, const Part& part) {
  return lists.unit_rows_in_scratch && part.buffer == Buffer::input;
}

/// Row for a unit of a part.
template <class Word>
__device__ std::uint32_t* row_of_unit(const Arguments<Word>& arguments, const WorkLists& lists,
                                      const SharedPart& owner, std::uint32_t unit) {
  std::uint32_t* rows = lists.unit_rows + std::uint64_t{owner.first_row} * most_buckets;
  if (has_rows_in_scratch(lists, owner.part))
    rows = reinterpret_cast<std::uint32_t*>(arguments.keys_scratch + owner.part.begin);
  return rows + std::uint64_t{unit} * most_buckets;
}
static_assert(smallest_partition_tile >= 2 * most_buckets, "rows of whole tiles fit the scratch");

/// What becomes of a shared part when its digits are counted.
enum class Verdict { move, narrow, ordered };

__device__ inline Verdict verdict_on(const SharedPart& shared_part, Part& part) {
  part = shared_part.part;
  if (shared_part.least == shared_part.greatest) return Verdict::ordered;
  return range_is_tight(part, shared_part.least, shared_part.greatest) ? Verdict::move
                                                                       : Verdict::narrow;
}

/// Sum of one number a thread over the block. Ends with a barrier.
template <class Shared>
__device__ __forceinline__ std::uint64_t sum_over_block(Shared& shared, std::uint64_t value) {
  const std::uint64_t before = sum_before(value, shared.warp_sums);
  if (threadIdx.x == Shared::threads - 1) shared.places[0] = before + value;
  __syncthreads();
  const std::uint64_t sum = shared.places[0];
  __syncthreads();
  return sum;
}

/// Takes as many of the parts as there are rows for, but at least one, and cuts them into units,
/// pieces and jobs. One block does it.
template <class Shared>
__device__ __forceinline__ Wave form_wave(Shared& shared, const WorkLists& lists, SharedPart* parts,
                                          std::uint32_t count) {
  const auto tiles_of = [&](std::uint32_t i) {
    return (parts[i].part.length - 1) / Shared::tile + 1;
  };
  const auto has_list_rows = [&](std::uint32_t i) {
    return !has_rows_in_scratch(lists, parts[i].part);
  };
  const std::uint32_t most = min(count, most_parts_of_wave);
  Wave wave{};
  std::uint64_t rows = 0;
  for (std::uint32_t begin = 0; begin < most; begin += Shared::threads) {
    const std::uint32_t i = begin + threadIdx.x;
    const std::uint64_t mine = i < most && has_list_rows(i) ? tiles_of(i) : 0;
    const std::uint64_t up_to = rows + sum_before(mine, shared.warp_sums) + mine;
    wave.parts += static_cast<std::uint32_t>(
        __syncthreads_count(i < most && up_to <= lists.unit_row_room ? 1 : 0));
    rows += sum_over_block(shared, mine);
    if (rows > lists.unit_row_room) break;
  }
  wave.tiles_of_unit = 1;
  if (wave.parts == 0) {
    wave.parts = 1;
    wave.tiles_of_unit = static_cast<std::uint32_t>((tiles_of(0) - 1) / lists.unit_row_room + 1);
  }
  const auto units_of = [&](std::uint32_t i) {
    return static_cast<std::uint32_t>((tiles_of(i) - 1) / wave.tiles_of_unit + 1);
  };

  std::uint64_t units = 0;
  for (std::uint32_t i = threadIdx.x; i < wave.parts; i += Shared::threads) units += units_of(i);
  units = sum_over_block(shared, units);
  wave.units_of_piece = static_cast<std::uint32_t>((units - 1) / pieces_of_wave + 1);

  std::uint32_t first_row = 0;
  for (std::uint32_t begin = 0; begin < wave.parts; begin += Shared::threads) {
    const std::uint32_t i = begin + threadIdx.x;
    const bool taken = i < wave.parts;
    const std::uint32_t own_units = taken ? units_of(i) : 0;
    const std::uint32_t own_rows = taken && has_list_rows(i) ? own_units : 0;
    const std::uint32_t own_pieces = taken ? (own_units - 1) / wave.units_of_piece + 1 : 0;
    std::uint32_t own_jobs = taken ? 1 : 0;
    if (own_pieces > few_pieces)
      own_jobs =
          static_cast<std::uint32_t>(wanted_buckets(parts[i].part.length) - 1) / columns_of_job + 1;
    const std::uint32_t unit = wave.units + sum_before(own_units, shared.warp_sums);
    const std::uint32_t row = first_row + sum_before(own_rows, shared.warp_sums);
    const std::uint32_t piece = wave.pieces + sum_before(own_pieces, shared.warp_sums);
    const std::uint32_t job = wave.jobs + sum_before(own_jobs, shared.warp_sums);
    if (taken) {
      SharedPart& part = parts[i];
      part.least = ~std::uint64_t{0};
      part.greatest = 0;
      part.cut = RangeCut(part.part);
      part.first_unit = unit;
      part.first_row = row;
      part.first_piece = piece;
      part.first_job = job;
      part.units = own_units;
      part.pieces = own_pieces;
    }
    wave.units += static_cast<std::uint32_t>(sum_over_block(shared, own_units));
    first_row += static_cast<std::uint32_t>(sum_over_block(shared, own_rows));
    wave.pieces += static_cast<std::uint32_t>(sum_over_block(shared, own_pieces));
    wave.jobs += static_cast<std::uint32_t>(sum_over_block(shared, own_jobs));
  }
  return wave;
}

/// How far the grid is; each block has a copy in shared memory.
struct Round {
  Wave wave;
  SharedPart* parts;       ///< of the wave
  SharedPart* next_parts;  ///< of the next round
  std::uint32_t number;
  std::uint32_t begin_of_wave;
  std::uint32_t count;  ///< parts of the round
};

/// Counts the digits of one piece, and in front of each of its units.
template <class Shared, class Word>
__device__ __forceinline__ void count_piece(Shared& shared, const Arguments<Word>& arguments,
                                            const WorkLists& lists, const Round& round,
                                            std::uint32_t piece) {
  const Wave& wave = round.wave;
  const std::uint32_t number = part_with<&SharedPart::first_piece>(round.parts, wave.parts, piece);
  SharedPart& owner = round.parts[number];
  const Part part = owner.part;
  const std::uint64_t unit = std::uint64_t{wave.tiles_of_unit} * Shared::tile;
  const std::uint32_t first_unit = (piece - owner.first_piece) * wave.units_of_piece;
  const std::uint64_t begin = first_unit * unit;
  const std::uint64_t length = min(wave.units_of_piece * unit, part.length - begin);
  const OfBuckets<std::uint32_t> lengths =
      count_digits(shared, arguments.keys_of(part.buffer) + part.begin + begin, length,
                   Digits<Word>(arguments.codec, owner.cut), unit,
                   [&](std::uint64_t i, const OfBuckets<std::uint32_t>& before) {
                     before.store(row_of_unit(arguments, lists, owner,
                                              first_unit + static_cast<std::uint32_t>(i)));
                   });
  OfBuckets<std::uint64_t>{lengths.first, lengths.second}.store(row_of_piece(lists, number, piece));
  if (threadIdx.x == 0) {
    atomicMin(reinterpret_cast<unsigned long long*>(&owner.least),
              static_cast<unsigned long long>(shared.least));
    atomicMax(reinterpret_cast<unsigned long long*>(&owner.greatest),
              static_cast<unsigned long long>(shared.greatest));
  }
}

/// Turns a part's rows of counts into sums over the pieces before, and leaves the sums over all in
/// the row in front: a job does it for all buckets where the pieces are few, else for a few
/// columns.
template <class Shared>
__device__ __forceinline__ void sum_pieces(Shared& shared, const WorkLists& lists,
                                           const Round& round, std::uint32_t job) {
  const std::uint32_t number =
      part_with<&SharedPart::first_job>(round.parts, round.wave.parts, job);
  const SharedPart& owner = round.parts[number];
  std::uint64_t* const rows = row_of_piece(lists, number, owner.first_piece);
  if (owner.pieces <= few_pieces) {
    OfBuckets<std::uint64_t> lengths[few_pieces];
#pragma unroll
    for (std::uint32_t piece = 0; piece < few_pieces; ++piece)
      if (piece < owner.pieces)
        lengths[piece] = OfBuckets<std::uint64_t>::load(rows + std::uint64_t{piece} * most_buckets);
    OfBuckets<std::uint64_t> sum;
#pragma unroll
    for (std::uint32_t piece = 0; piece < few_pieces; ++piece) {
      if (piece >= owner.pieces) continue;
      sum.store(rows + std::uint64_t{piece} * most_buckets);
      sum += lengths[piece];
    }
    sum.store(rows - most_buckets);
    return;
  }
  // Thread t adds up a stretch of column t % columns_of_job.
  constexpr std::uint32_t stretches = Shared::threads / columns_of_job;
  auto* const sums = reinterpret_cast<std::uint64_t*>(shared.area);
  const std::uint32_t column =
      (job - owner.first_job) * columns_of_job + threadIdx.x % columns_of_job;
  const std::uint32_t stretch = threadIdx.x / columns_of_job;
  const std::uint32_t each = (owner.pieces - 1) / stretches + 1;
  const std::uint32_t begin = min(stretch * each, owner.pieces);
  const std::uint32_t end = min(begin + each, owner.pieces);
  std::uint64_t sum = 0;
#pragma unroll 8
  for (std::uint32_t piece = begin; piece < end; ++piece)
    sum += rows[std::uint64_t{piece} * most_buckets + column];
  sums[threadIdx.x] = sum;
  __syncthreads();
  std::uint64_t before = 0;
  for (std::uint32_t s = 0; s < stretch; ++s)
    before += sums[s * columns_of_job + threadIdx.x % columns_of_job];
  if (stretch == stretches - 1) *(rows + column - most_buckets) = before + sum;
#pragma unroll 8
  for (std::uint32_t piece = begin; piece < end; ++piece) {
    const std::uint64_t count = rows[std::uint64_t{piece} * most_buckets + column];
    rows[std::uint64_t{piece} * most_buckets + column] = before;
    before += count;
  }
  __syncthreads();
}

/// Moves the items of one unit; the block that has a part's first one also lists what comes of the
/// part.
template <class Shared, class Word>
__device__ __forceinline__ void move_unit(Shared& shared, const Arguments<Word>& arguments,
                                          const WorkLists& lists, const Round& round,
                                          std::uint32_t unit) {
  const Wave& wave = round.wave;
  const std::uint32_t number = part_with<&SharedPart::first_unit>(round.parts, wave.parts, unit);
  const SharedPart owner = round.parts[number];
  const auto keep_part = [&](const Part& part) {
    round.next_parts[atomicAdd(&lists.counters->shared_parts[(round.number + 1) % 2], 1)].part =
        part;
  };
  const std::uint32_t in_part = unit - owner.first_unit;
  Part part;
  const Verdict verdict = verdict_on(owner, part);
  if (verdict != Verdict::move) {
    if (in_part == 0) {
      if (verdict == Verdict::ordered) {
        list_ordered(lists, part.begin, part.length, part.buffer, threadIdx.x, Shared::threads);
      } else if (threadIdx.x == 0) {
        keep_part(part);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) shared.next_unit = atomicAdd(shared.unit_counter, 1);
    return;
  }
  const std::uint64_t items = std::uint64_t{wave.tiles_of_unit} * Shared::tile;
  const std::uint64_t begin = part.begin + in_part * items;
  const std::uint64_t length = min(items, part.length - in_part * items);
  prefetch_lines(arguments.keys_of(part.buffer) + begin, length * sizeof(Word));
  if constexpr (Shared::value_bytes != 0)
    prefetch_lines(
        static_cast<const typename Shared::Value*>(arguments.values_of(part.buffer)) + begin,
        length * Shared::value_bytes);
  const Buffer to = other_buffer(part.buffer);
  const std::uint64_t* const first_row = row_of_piece(lists, number, owner.first_piece);
  auto places = OfBuckets<std::uint64_t>::load(
      first_row + std::uint64_t{in_part / wave.units_of_piece} * most_buckets);
  places += OfBuckets<std::uint32_t>::load(row_of_unit(arguments, lists, owner, in_part));
  const OfBuckets<std::uint64_t> starts =
      starts_of(OfBuckets<std::uint64_t>::load(first_row - most_buckets), shared.warp_sums);
  if (in_part == 0)
    list_buckets(shared, lists, part, owner.cut, to, starts, [&](const Part& large) {
      if (large.length <= longest_lone_partition) {
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

/// Parts beyond longest_lone_partition: all blocks of the grid work on all of them, in rounds of
/// one pass each, with barriers of the grid between the steps of a round. Very many parts take a
/// round in waves, so that the counts need no more than a constant amount of memory.
///
///   global memory              the parts of this round and of the next; counts of each bucket, in
///                              front of each piece, and in front of each unit in its piece
///   shared memory, registers   of a tile, as in move_tile(); of the buckets, two a thread
template <class Word, int ValueBytes>
__global__ void __launch_bounds__(grid_shape<Word, ValueBytes>.threads,
                                  grid_shape<Word, ValueBytes>.resident_blocks)
    grid_partition_kernel(Arguments<Word> arguments, WorkLists lists) {
  using Shared = PartitionShared<Word, ValueBytes, grid_shape<Word, ValueBytes>>;
  Shared& shared = shared_memory<Shared>();
  Counters& counters = *lists.counters;
  wait_for_kernels_before();
  const std::uint32_t segments = counters.segments[grid_partition_class];
  if (segments == 0) return;
  const auto grid = cooperative_groups::this_grid();
  const unsigned int thread = threadIdx.x;
  for (std::uint32_t i = blockIdx.x * Shared::threads + thread; i < segments;
       i += gridDim.x * Shared::threads)
    lists.shared_parts[0][i].part = part_of(arguments, lists.segment(grid_partition_class, i));
  if (blockIdx.x == 0 && thread == 0) counters.shared_parts[0] = segments;
  __shared__ Round round;
  if (thread == 0) round = Round{};
  grid.sync();

  for (;;) {
    if (thread == 0) round.count = counters.shared_parts[round.number % 2];
    __syncthreads();
    if (round.count == 0) return;
    SharedPart* const parts = lists.shared_parts[round.number % 2] + round.begin_of_wave;
    if (blockIdx.x == 0) {
      const Wave formed = form_wave(shared, lists, parts, round.count - round.begin_of_wave);
      if (thread == 0) {
        counters.wave = formed;
        if (round.begin_of_wave == 0) counters.shared_parts[(round.number + 1) % 2] = 0;
        counters.next_unit = 0;
      }
    }
    grid.sync();
    if (thread == 0) {
      round.wave = counters.wave;
      round.parts = parts;
      round.next_parts = lists.shared_parts[(round.number + 1) % 2];
    }
    __syncthreads();
    for (std::uint32_t i = blockIdx.x; i < round.wave.pieces; i += gridDim.x)
      count_piece(shared, arguments, lists, round, i);
    grid.sync();
    for (std::uint32_t i = blockIdx.x; i < round.wave.jobs; i += gridDim.x)
      sum_pieces(shared, lists, round, i);
    grid.sync();
    // In the order of the items, whichever block is free: fixed shares would drift apart.
    if (thread == 0) {
      shared.unit_counter = &counters.next_unit;
      shared.next_unit = atomicAdd(&counters.next_unit, 1);
    }
    for (;;) {
      __syncthreads();
      const std::uint32_t unit = shared.next_unit;
      if (unit >= round.wave.units) break;
      move_unit(shared, arguments, lists, round, unit);
    }
    grid.sync();
    if (thread == 0) {
      round.begin_of_wave += round.wave.parts;
      if (round.begin_of_wave == round.count) {
        round.begin_of_wave = 0;
        ++round.number;
      }
    }
    __syncthreads();
  }
}

}  // namespace sortie::segsort
