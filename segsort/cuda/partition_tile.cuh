// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/digits.cuh"
#include "segsort/cuda/policy.cuh"
#include "segsort/cuda/tile.cuh"

/// Counts the digits of the items of a part, and moves the items to their buckets one tile at a
/// time. Work of one block.
namespace sortie::segsort {

template <class WordType, int ValueBytesOfOne, PartitionShape Shape>
struct PartitionShared {
  using Word = WordType;
  static constexpr int value_bytes = ValueBytesOfOne;
  static constexpr int threads = Shape.threads;
  static constexpr int warps = Shape.warps();
  static constexpr int items = Shape.items;
  static constexpr int tile = Shape.tile();
  static constexpr bool may_float = Shape.may_float;
  using Value = ValueWord<value_bytes>;
  static_assert(threads >= most_buckets / 2, "each thread handles two buckets");
  static_assert(tile <= 1 << 16 && most_buckets <= 1 << 10, "places and buckets are packed");

  static constexpr int most(int a, int b) { return a > b ? a : b; }
  static constexpr int masks_bytes = warps * most_buckets * 4;
  static constexpr int area_bytes =
      most(most(tile * static_cast<int>(sizeof(Word)), tile* value_bytes), masks_bytes);
  /// One after the other: per warp, masks of the lanes that hold an item of each bucket; the keys
  /// of the tile in the order of their buckets; its values.
  alignas(16) unsigned char area[area_bytes];
  /// Items of each bucket in each warp; then the position of the first of them in the tile.
  alignas(16) std::uint16_t counts[warps][most_buckets];
  std::uint64_t places[most_buckets];  ///< destination of the next items of each bucket
  RangeCut cut;
  // Input of count_digits() and move_tile().
  Digits<Word> digits;
  const Word* keys_from;
  const Value* values_from;
  Word* keys_to;
  Value* values_to;
  std::uint64_t starts[most_buckets + 1];
  std::uint64_t warp_sums[warps];
  std::uint64_t least;
  std::uint64_t greatest;
  /// For each bucket, the first bucket after a group that starts with it.
  std::uint16_t next_group[most_buckets];
  std::uint16_t group_starts[most_buckets];
  int group_count;

  __device__ std::uint32_t* masks_of_warp() {
    return reinterpret_cast<std::uint32_t*>(area) + threadIdx.x / 32 * most_buckets;
  }
  __device__ Word* keys() { return reinterpret_cast<Word*>(area); }
  __device__ Value* values() { return reinterpret_cast<Value*>(area); }

  // Hooks of move_tile() that overlap the preparation of the next tile group with the move, for
  // kernels whose blocks process several: see GridShared.
  __device__ void claim_next() {}
  __device__ void look_up_next() {}
  __device__ void await_next() {}
};

/// Numbers for the two buckets of a thread: thread t handles buckets 2 t and 2 t + 1. Threads
/// beyond the buckets have none.
template <class Number>
struct OfBuckets {
  Number first = 0;
  Number second = 0;

  __device__ static bool any() { return threadIdx.x < most_buckets / 2; }
  __device__ static OfBuckets load(const Number* row) {
    return any() ? OfBuckets{row[2 * threadIdx.x], row[2 * threadIdx.x + 1]} : OfBuckets{};
  }
  /// As load(), of a row of which only the first `buckets` entries have been written; the others
  /// become 0.
  __device__ static OfBuckets load_first(const Number* row, int buckets) {
    const int bucket = 2 * static_cast<int>(threadIdx.x);
    return {bucket < buckets ? row[bucket] : Number{0},
            bucket + 1 < buckets ? row[bucket + 1] : Number{0}};
  }
  __device__ void store(Number* row) const {
    if (!any()) return;
    row[2 * threadIdx.x] = first;
    row[2 * threadIdx.x + 1] = second;
  }
  template <class Other>
  __device__ OfBuckets& operator+=(const OfBuckets<Other>& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

/// Exclusive prefix sum over the buckets. Ends with a barrier.
template <class Number, int Warps>
__device__ __forceinline__ OfBuckets<Number> starts_of(const OfBuckets<Number>& lengths,
                                                       std::uint64_t (&warp_sums)[Warps]) {
  const Number start =
      prefix_sum_in_block<Warps>(static_cast<Number>(lengths.first + lengths.second), warp_sums)
          .before;
  return {start, static_cast<Number>(start + lengths.first)};
}

/// Counts the digits of `length` items from `keys` on, and finds the least and greatest of their
/// compared bits (shared.least, shared.greatest). `set_digits` sets shared.digits; it is called
/// with the first `items` keys of each thread, item r threads + thread in register r, as far as
/// there are so many items. Before each range of `group_items` items, calls `report_group` with its
/// index and the counts so far. Begins and ends with a barrier.
/// \return the number of items in the buckets of the thread
template <class Shared, class SetDigits, class ReportGroup>
__device__ __forceinline__ OfBuckets<std::uint32_t> count_digits(
    Shared& shared, const typename Shared::Word* keys, std::uint64_t length,
    const SetDigits& set_digits, std::uint64_t group_items, const ReportGroup& report_group) {
  using Word = typename Shared::Word;
  const int thread = static_cast<int>(threadIdx.x);
  // Neighbouring warps update different copies of the counters, which fit while no tile is in
  // shared memory.
  constexpr int copies = 4;
  static_assert(copies * most_buckets * 4 <= Shared::area_bytes);
  auto* const counts = reinterpret_cast<std::uint32_t*>(shared.area);
  std::uint32_t* const own = counts + thread / 32 % copies * most_buckets;
  const auto sum_of_copies = [&] {
    OfBuckets<std::uint32_t> sum;
    for (int c = 0; c < copies; ++c)
      sum += OfBuckets<std::uint32_t>::load(counts + c * most_buckets);
    return sum;
  };
  Word loaded[Shared::items];
  const auto load = [&](std::uint64_t tile) {
    const Word* const from = keys + tile + thread;
    if (tile + Shared::tile <= length) {
#pragma unroll
      for (int r = 0; r < Shared::items; ++r) loaded[r] = from[r * Shared::threads];
    } else {
      const int rest = static_cast<int>(length - min(tile, length)) - thread;
#pragma unroll
      for (int r = 0; r < Shared::items; ++r)
        loaded[r] = r * Shared::threads < rest ? from[r * Shared::threads] : Word{0};
    }
  };
  load(0);
  __syncthreads();
  for (int i = thread; i < copies * most_buckets; i += Shared::threads) counts[i] = 0;
  if (thread == 0) {
    shared.least = ~std::uint64_t{0};
    shared.greatest = 0;
  }
  set_digits(loaded);
  __syncthreads();
  const Digits<Word> digits = shared.digits;
  Word least = ~Word{0};
  Word greatest = 0;
  for (std::uint64_t begin = 0; begin < length; begin += group_items) {
    __syncthreads();
    report_group(begin / group_items, sum_of_copies());
    __syncthreads();
    const std::uint64_t end = min(begin + group_items, length);
    for (std::uint64_t tile = begin; tile < end; tile += Shared::tile) {
      Word current[Shared::items];
#pragma unroll
      for (int r = 0; r < Shared::items; ++r) current[r] = loaded[r];
      load(tile + Shared::tile);  // overlaps with counting this tile
      const int rest = static_cast<int>(min(length - tile, std::uint64_t{Shared::tile})) - thread;
      const auto count = [&]<bool Floating>() {
        // Run-length aggregates atomics: additions to one counter wait for each other.
        std::uint32_t digit = 0;
        std::uint32_t run = 0;
#pragma unroll
        for (int r = 0; r < Shared::items; ++r) {
          if (r * Shared::threads >= rest) continue;
          const Word compared = digits.compared(current[r]);
          least = min(least, compared);
          greatest = max(greatest, compared);
          const std::uint32_t next = digits.template of_compared<Floating>(compared);
          if (next != digit && run != 0) {
            atomicAdd(&own[digit], run);
            run = 0;
          }
          digit = next;
          ++run;
        }
        if (run != 0) atomicAdd(&own[digit], run);
      };
      if constexpr (Shared::may_float) {
        if (digits.is_floating()) {
          count.template operator()<true>();
          continue;
        }
      }
      count.template operator()<false>();
    }
  }
  least = min_in_warp(least);
  greatest = max_in_warp(greatest);
  if (thread % 32 == 0) {
    atomicMin(reinterpret_cast<unsigned long long*>(&shared.least),
              static_cast<unsigned long long>(least));
    atomicMax(reinterpret_cast<unsigned long long*>(&shared.greatest),
              static_cast<unsigned long long>(greatest));
  }
  __syncthreads();
  const OfBuckets<std::uint32_t> sum = sum_of_copies();
  __syncthreads();
  return sum;
}

/// Sets up move_items(). Ends with a barrier; requires a barrier since the last move.
template <class Shared>
__device__ __forceinline__ void set_pass(Shared& shared,
                                         const Arguments<typename Shared::Word>& arguments,
                                         const RangeCut& cut, Buffer from, Buffer to) {
  using Value = typename Shared::Value;
  if (threadIdx.x == 0) {
    const bool to_output = to == Buffer::output;
    shared.digits = Digits<typename Shared::Word>(arguments.codec, cut);
    shared.keys_from = arguments.keys_of(from);
    shared.values_from = static_cast<const Value*>(arguments.values_of(from));
    shared.keys_to = to_output ? arguments.keys_out : arguments.keys_scratch;
    shared.values_to =
        static_cast<Value*>(to_output ? arguments.values_out : arguments.values_scratch);
  }
  __syncthreads();
}

/// The shared memory of the block's kernel.
template <class Shared>
__device__ __forceinline__ Shared& shared_memory() {
  return *reinterpret_cast<Shared*>(dynamic_shared_memory());
}

/// Lanes of a warp with items of one bucket from which on the bucket is treated as frequent.
inline constexpr std::uint32_t least_heavy_lanes = 6;

/// Moves a tile of `length` items from index `begin` on to their buckets, stably, as set by
/// set_pass() and shared.places; advances shared.places. The items are first brought into the order
/// of their buckets in shared memory, so that the items of a bucket are written contiguously. With
/// the last tile (`is_last`) the block prepares its next tile group. Requires a preceding barrier
/// and ends with one. Not inlined, because it needs all registers.
///
/// Warp w holds item 32 items w + 32 r + l of the tile in register r of lane l, until the items are
/// in the order of the buckets; then thread t holds positions r threads + t. Keys are moved first.
/// The values, loaded meanwhile, use the same shared memory afterwards.
template <class Shared, bool IsFull, bool IsPlain, bool IsFloating>
__device__ __noinline__ void move_tile(std::uint64_t begin, int length, bool is_last) {
  using Word = typename Shared::Word;
  using Value = typename Shared::Value;
  constexpr int items = Shared::items;
  Shared& shared = shared_memory<Shared>();
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int first = warp * 32 * items + thread % 32;
  const auto is_item = [&](int i) { return IsFull || i < length; };
  // Missing items of a floating cut of plain keys count as greatest keys, which come last in the
  // tile and are not written: no test for an item until then. (Keys alone are not ranked in order.)
  constexpr bool has_padding = IsFloating && IsPlain && Shared::value_bytes != 0;
  const auto is_ranked = [&](int i) { return has_padding || is_item(i); };
  constexpr Word padding = has_padding ? static_cast<Word>(~Word{0}) : Word{0};

  Word keys[items];
  const Word* const keys_from = in_global_memory(shared.keys_from) + begin + first;
#pragma unroll
  for (int r = 0; r < items; ++r) keys[r] = is_item(first + 32 * r) ? keys_from[32 * r] : padding;
  constexpr int clears = Shared::masks_bytes / 16;
  for (int i = thread; i < clears; i += Shared::threads)
    reinterpret_cast<uint4*>(shared.area)[i] = uint4{0, 0, 0, 0};
  for (int i = thread; i < clears / 2; i += Shared::threads)
    reinterpret_cast<uint4*>(&shared.counts[0][0])[i] = uint4{0, 0, 0, 0};
  __syncthreads();

  ShortNumbers<items, 16> ranks;  // among the warp's items of the bucket
  std::uint32_t* const masks = shared.masks_of_warp();
  std::uint16_t* const counts = shared.counts[warp];
  const Digits<Word> digits = shared.digits;
  const auto digit_of = [&](int r) -> std::uint32_t {
    return is_ranked(first + 32 * r) ? digits.template of<IsPlain, IsFloating>(keys[r]) : 0;
  };
  // Items of one bucket wait for each other when they are ranked, unless it is known to be
  // frequent.
  const auto has_heavy_hitter = [&](int r) {
    const std::uint32_t digit = digit_of(r);
    return lanes_of(__ballot_sync(full_warp, digit == from_lane(digit, 0))) >= least_heavy_lanes;
  };
  // Whole keys that are equal may change places, so that an atomic addition each ranks keys alone.
  const bool in_any_order = Shared::value_bytes == 0 && digits.compares_whole_keys();
  const auto rank_in_order = [&]<bool HasHeavyHitter>() {
#pragma unroll
    for (int r = 0; r < items; ++r)
      ranks.set(r, stable_rank_in_warp<HasHeavyHitter>(masks, counts, digit_of(r),
                                                       is_ranked(first + 32 * r)));
  };
  if (has_heavy_hitter(0) || has_heavy_hitter(items / 2)) {
    rank_in_order.template operator()<true>();
    if (in_any_order)
      for (int b = thread % 32; b < most_buckets; b += 32) masks[b] = counts[b];
  } else if (in_any_order) {
#pragma unroll
    for (int r = 0; r < items; ++r)
      ranks.set(r, is_item(first + 32 * r) ? atomicAdd(&masks[digit_of(r)], 1) : 0);
  } else {
    rank_in_order.template operator()<false>();
  }
  __syncthreads();

  // Two 16-bit counts share one word; neither half overflows into the other.
  OfBuckets<std::uint32_t> in_tile;
  const auto pair_of = [&](int w) -> std::uint32_t& {
    return reinterpret_cast<std::uint32_t*>(shared.counts[w])[thread];
  };
  const auto counts_of = [&](int w) -> std::uint32_t {
    if (!in_any_order) return pair_of(w);
    const std::uint32_t* const both =
        reinterpret_cast<const std::uint32_t*>(shared.area) + w * most_buckets + 2 * thread;
    return both[0] | both[1] << 16;
  };
  if (in_tile.any()) {
    std::uint32_t sum = 0;
#pragma unroll
    for (int w = 0; w < Shared::warps; ++w) sum += counts_of(w);
    in_tile = {sum & 0xffff, sum >> 16};
  }
  const OfBuckets<std::uint32_t> starts = starts_of(in_tile, shared.warp_sums);
  if (in_tile.any()) {
    std::uint32_t sum = starts.first | starts.second << 16;
#pragma unroll
    for (int w = 0; w < Shared::warps; ++w) {
      const std::uint32_t count = counts_of(w);
      pair_of(w) = sum;
      sum += count;
    }
    shared.places[2 * thread] -= starts.first;
    shared.places[2 * thread + 1] -= starts.second;
  }
  __syncthreads();

  ShortNumbers<items, 16> in_order;  // positions of the thread's items in the tile
  // Reloaded from shared memory, so that digits are recomputed rather than kept in registers.
  const Digits<Word> digits_to_place = shared.digits;
#pragma unroll
  for (int r = 0; r < items; ++r) {
    if (!is_ranked(first + 32 * r)) continue;
    const std::uint32_t digit = digits_to_place.template of<IsPlain, IsFloating>(keys[r]);
    const std::uint32_t place = counts[digit] + ranks[r];
    in_order.set(r, place);
    shared.keys()[place] = keys[r];
  }
  Value values[Shared::value_bytes == 0 ? 1 : items];
  if constexpr (Shared::value_bytes != 0) {
    const Value* const values_from = in_global_memory(shared.values_from) + begin + first;
#pragma unroll
    for (int r = 0; r < items; ++r)
      values[r] = is_item(first + 32 * r) ? values_from[32 * r] : Value{0};
  }
  __syncthreads();
  // Claim here: early enough to hide the latency, late enough to move tile groups in order.
  if (is_last) shared.claim_next();
  const Digits<Word> digits_to_move = shared.digits;
  ShortNumbers<items, 10> buckets;
  Word* const keys_to = in_global_memory(shared.keys_to) + thread;
#pragma unroll
  for (int r = 0; r < items; ++r) {
    const int place = r * Shared::threads + thread;
    if (!is_item(place)) continue;
    const Word key = shared.keys()[place];
    const std::uint32_t digit = digits_to_move.template of<IsPlain, IsFloating>(key);
    if constexpr (Shared::value_bytes != 0) buckets.set(r, digit);
    keys_to[shared.places[digit] + r * Shared::threads] = key;
  }
  __syncthreads();
  if (is_last) shared.look_up_next();
  if constexpr (Shared::value_bytes != 0) {
    Value* const values_to = in_global_memory(shared.values_to) + thread;
#pragma unroll
    for (int r = 0; r < items; ++r)
      if (is_ranked(first + 32 * r)) shared.values()[in_order[r]] = values[r];
    shared.await_next();
    __syncthreads();
#pragma unroll
    for (int r = 0; r < items; ++r) {
      const int place = r * Shared::threads + thread;
      if (is_item(place))
        values_to[shared.places[buckets[r]] + r * Shared::threads] = shared.values()[place];
    }
    __syncthreads();
  }
  // The items of a bucket end where those of the first warp in the next bucket begin.
  for (int b = thread; b < most_buckets; b += Shared::threads)
    shared.places[b] += b + 1 < most_buckets ? static_cast<std::uint32_t>(shared.counts[0][b + 1])
                                             : static_cast<std::uint32_t>(length);
  if constexpr (Shared::value_bytes == 0) shared.await_next();
  __syncthreads();
}

template <class Shared>
__device__ __forceinline__ void move_items(std::uint64_t begin, std::uint64_t length) {
  const bool plain = shared_memory<Shared>().digits.plain();
  if constexpr (Shared::may_float) {
    // One function for full tiles and others: both together exceed the instruction cache.
    if (shared_memory<Shared>().digits.is_floating()) {
      while (length != 0) {
        const auto moved = static_cast<int>(min(length, std::uint64_t{Shared::tile}));
        const bool is_last = length <= Shared::tile;
        if (plain) {
          move_tile<Shared, false, true, true>(begin, moved, is_last);
        } else {
          move_tile<Shared, false, false, true>(begin, moved, is_last);
        }
        begin += Shared::tile;
        length -= static_cast<std::uint64_t>(moved);
      }
      return;
    }
  }
  for (; length >= Shared::tile; begin += Shared::tile, length -= Shared::tile) {
    if (plain) {
      move_tile<Shared, true, true, false>(begin, Shared::tile, length == Shared::tile);
    } else {
      move_tile<Shared, true, false, false>(begin, Shared::tile, length == Shared::tile);
    }
  }
  if (length != 0) move_tile<Shared, false, false, false>(begin, static_cast<int>(length), true);
}

}  // namespace sortie::segsort
