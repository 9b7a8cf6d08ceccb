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
/// Buckets of such a job: few where there is much to add up.
__device__ inline std::uint32_t columns_of_job(std::uint32_t pieces) {
  return pieces > 256 ? 8 : 32;
}

/// Rows of histograms that a sort of so many items with long segments needs.
constexpr std::uint64_t most_histogram_rows(std::uint64_t items, std::uint64_t parts) {
  const std::uint64_t parts_of_wave = parts < most_parts_of_wave ? parts : most_parts_of_wave;
  const std::uint64_t tiles = items / smallest_partition_tile + 1;
  return (tiles < pieces_of_wave ? tiles : pieces_of_wave) + 2 * parts_of_wave;
}

/// Number of the last of `count` ascending numbers, given by `number_of`, that is not beyond
/// `number`. The first is not.
template <class NumberOf>
__device__ __forceinline__ std::uint32_t last_not_beyond(std::uint32_t number, std::uint32_t count,
                                                         const NumberOf& number_of) {
  std::uint32_t low = 0;
  std::uint32_t high = count - 1;
  while (low < high) {
    const std::uint32_t middle = low + (high - low + 1) / 2;
    if (number_of(middle) <= number) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// The part that a piece or a job belongs to: the last whose first one is not beyond it.
template <std::uint32_t SharedPart::*First>
__device__ __forceinline__ std::uint32_t part_with(const SharedPart* parts, std::uint32_t count,
                                                   std::uint32_t number) {
  return last_not_beyond(number, count, [&](std::uint32_t i) { return parts[i].*First; });
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
  std::uint32_t* rows = lists.unit_rows + owner.first_row * most_buckets;
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

/// How far the grid is.
struct Round {
  Wave wave;
  SharedPart* parts;       ///< of the wave
  SharedPart* next_parts;  ///< of the next round
  std::uint32_t number;
  std::uint32_t begin_of_wave;
  std::uint32_t count;  ///< parts of the round
};

/// What a block of the grid has in shared memory: a tile, how far the grid is, and the unit that it
/// works on next, about which it learns while its last tile is on the way out.
template <class WordType, int ValueBytesOfOne>
struct GridShared
    : PartitionShared<WordType, ValueBytesOfOne, grid_shape<WordType, ValueBytesOfOne>> {
  using Base = PartitionShared<WordType, ValueBytesOfOne, grid_shape<WordType, ValueBytesOfOne>>;
  Arguments<WordType> arguments;
  WorkLists lists;
  Round round;
  std::uint32_t unit;    ///< that the block works on next
  std::uint32_t number;  ///< of the part that it belongs to, within the wave
  SharedPart owner;      ///< that part
  std::uint32_t first_units[most_parts_of_wave];  ///< of the wave's parts

  /// Takes the next unit. In the order of the items, whichever block is free: fixed shares would
  /// drift apart.
  __device__ void claim_next() {
    if (threadIdx.x == 0) unit = atomicAdd(&lists.counters->next_unit, 1);
  }
  /// After a barrier: starts to fetch the unit's part.
  __device__ void look_up_next() {
    constexpr unsigned int words = sizeof(SharedPart) / 4;
    static_assert(words <= 32 && sizeof(SharedPart) % 4 == 0);
    if (threadIdx.x >= words || unit >= round.wave.units) return;
    const std::uint32_t found =
        last_not_beyond(unit, round.wave.parts, [&](std::uint32_t i) { return first_units[i]; });
    if (threadIdx.x == 0) number = found;
    __pipeline_memcpy_async(
        reinterpret_cast<std::uint32_t*>(&owner) + threadIdx.x,
        reinterpret_cast<const std::uint32_t*>(round.parts + found) + threadIdx.x, 4);
  }
  /// Before the barrier after which the part is there.
  __device__ void await_next() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }
  /// Number of the unit within its part.
  [[nodiscard]] __device__ std::uint32_t unit_in_part() const { return unit - owner.first_unit; }
  /// The unit's items, as a stretch of its part.
  [[nodiscard]] __device__ SegmentExtent items_of_unit() const {
    const std::uint64_t most = std::uint64_t{round.wave.tiles_of_unit} * Base::tile;
    const std::uint64_t before = unit_in_part() * most;
    return {owner.part.begin + before, min(most, owner.part.length - before)};
  }
  /// Counts of the unit's part: items of each bucket before it.
  [[nodiscard]] __device__ const std::uint64_t* starts_row() const {
    return row_of_piece(lists, number, owner.first_piece) - most_buckets;
  }
  /// Counts in front of the piece that the unit belongs to.
  [[nodiscard]] __device__ const std::uint64_t* piece_row() const {
    return row_of_piece(lists, number,
                        owner.first_piece + unit_in_part() / round.wave.units_of_piece);
  }
  /// Counts in the piece in front of the unit.
  [[nodiscard]] __device__ const std::uint32_t* unit_row() const {
    return row_of_unit(arguments, lists, owner, unit_in_part());
  }
};

/// Takes on a unit with nothing to do meanwhile. Ends with a barrier.
template <class Shared>
__device__ __forceinline__ void take_unit(Shared& shared) {
  shared.claim_next();
  __syncthreads();
  shared.look_up_next();
  shared.await_next();
  __syncthreads();
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

  std::uint64_t first_row = 0;
  for (std::uint32_t begin = 0; begin < wave.parts; begin += Shared::threads) {
    const std::uint32_t i = begin + threadIdx.x;
    const bool taken = i < wave.parts;
    const std::uint32_t own_units = taken ? units_of(i) : 0;
    const std::uint32_t own_rows = taken && has_list_rows(i) ? own_units : 0;
    const std::uint32_t own_pieces = taken ? (own_units - 1) / wave.units_of_piece + 1 : 0;
    std::uint32_t own_jobs = taken ? 1 : 0;
    if (own_pieces > few_pieces)
      own_jobs = static_cast<std::uint32_t>(wanted_buckets(parts[i].part.length) - 1) /
                     columns_of_job(own_pieces) +
                 1;
    const std::uint32_t unit = wave.units + sum_before(own_units, shared.warp_sums);
    const std::uint64_t row = first_row + sum_before(own_rows, shared.warp_sums);
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
      part.pieces = own_pieces;
      part.jobs = own_jobs;
      part.jobs_done = 0;
    }
    wave.units += static_cast<std::uint32_t>(sum_over_block(shared, own_units));
    first_row += sum_over_block(shared, own_rows);
    wave.pieces += static_cast<std::uint32_t>(sum_over_block(shared, own_pieces));
    wave.jobs += static_cast<std::uint32_t>(sum_over_block(shared, own_jobs));
  }
  return wave;
}

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

/// Turns a part's rows of counts into sums over the pieces before, and leaves the first places of
/// the buckets in the row in front: a job does it for all buckets where the pieces are few, else
/// for a few columns, and the job that ends last turns sums over all into places.
template <class Shared>
__device__ __forceinline__ void sum_pieces(Shared& shared, const WorkLists& lists,
                                           const Round& round, std::uint32_t job) {
  const std::uint32_t number =
      part_with<&SharedPart::first_job>(round.parts, round.wave.parts, job);
  SharedPart& owner = round.parts[number];
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
    starts_of(sum, shared.warp_sums).store(rows - most_buckets);
    return;
  }
  // Thread t adds up a stretch of column t % columns.
  const std::uint32_t columns = columns_of_job(owner.pieces);
  const std::uint32_t stretches = Shared::threads / columns;
  auto* const sums = reinterpret_cast<std::uint64_t*>(shared.area);
  const std::uint32_t column = (job - owner.first_job) * columns + threadIdx.x % columns;
  const std::uint32_t stretch = threadIdx.x / columns;
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
  for (std::uint32_t s = 0; s < stretch; ++s) before += sums[s * columns + threadIdx.x % columns];
  if (stretch == stretches - 1) *(rows + column - most_buckets) = before + sum;
#pragma unroll 8
  for (std::uint32_t piece = begin; piece < end; ++piece) {
    const std::uint64_t count = rows[std::uint64_t{piece} * most_buckets + column];
    rows[std::uint64_t{piece} * most_buckets + column] = before;
    before += count;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) sums[0] = atomicAdd(&owner.jobs_done, 1);
  __syncthreads();
  const bool is_last = sums[0] == owner.jobs - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  const auto lengths = OfBuckets<std::uint64_t>::load_first(rows - most_buckets, owner.cut.buckets);
  starts_of(lengths, shared.warp_sums).store(rows - most_buckets);
}

/// Moves the items of the unit that the block has taken on; the block that has a part's first one
/// also lists what comes of the part. Begins after a barrier, and ends with one.
template <class Shared, class Word>
__device__ __forceinline__ void move_unit(Shared& shared, const Arguments<Word>& arguments,
                                          const WorkLists& lists) {
  const Round& round = shared.round;
  const SharedPart& owner = shared.owner;
  const bool is_first = shared.unit_in_part() == 0;
  const auto keep_part = [&](const Part& part) {
    round.next_parts[atomicAdd(&lists.counters->shared_parts[(round.number + 1) % 2], 1)].part =
        part;
  };
  Part part;
  const Verdict verdict = verdict_on(owner, part);
  if (verdict != Verdict::move) {
    if (is_first) {
      if (verdict == Verdict::ordered) {
        list_ordered(lists, part.begin, part.length, part.buffer, threadIdx.x, Shared::threads);
      } else if (threadIdx.x == 0) {
        keep_part(part);
      }
    }
    __syncthreads();
    take_unit(shared);
    return;
  }
  const SegmentExtent items = shared.items_of_unit();
  prefetch_lines(arguments.keys_of(part.buffer) + items.begin, items.length * sizeof(Word),
                 threadIdx.x, blockDim.x);
  if constexpr (Shared::value_bytes != 0)
    prefetch_lines(
        static_cast<const typename Shared::Value*>(arguments.values_of(part.buffer)) + items.begin,
        items.length * Shared::value_bytes, threadIdx.x, blockDim.x);
  const Buffer to = other_buffer(part.buffer);
  const auto starts = OfBuckets<std::uint64_t>::load(shared.starts_row());
  auto places = OfBuckets<std::uint64_t>::load(shared.piece_row());
  places += OfBuckets<std::uint32_t>::load(shared.unit_row());
  if (is_first)
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
  move_items<Shared>(items.begin, items.length);
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
  using Shared = GridShared<Word, ValueBytes>;
  Shared& shared = shared_memory<Shared>();
  Round& round = shared.round;
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
  if (thread == 0) {
    shared.arguments = arguments;
    shared.lists = lists;
    round = Round{};
  }
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
    for (std::uint32_t i = thread; i < round.wave.parts; i += Shared::threads)
      shared.first_units[i] = parts[i].first_unit;
    take_unit(shared);
    while (shared.unit < round.wave.units) move_unit(shared, arguments, lists);
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
