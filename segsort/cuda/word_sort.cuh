// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/tile.cuh"

/// Sorts the words of a tile: by distribution if they are evenly spread, otherwise by the networks
/// of its warps and merges between them. Before the sort, register r of thread t holds the word of
/// item r * threads + t, or of any item. Afterwards shared memory holds all words in order, and
/// register r of thread t the word of position t * items + r.
namespace sortie::segsort {

/// Merges the runs of the warps in shared memory in pairs (paper, section 3.3). Thread i produces
/// outputs i*items .. i*items+items-1 of a round. The merge path search (Green, McColl, Bader: ICS
/// 2012) finds the corresponding ranges of the two runs. Read one forwards and the other backwards,
/// these ranges form a bitonic sequence, which half cleaners in registers sort. On entry the runs
/// are in tile.words; on return the result is there and in `words`. Begins and ends with a barrier.
template <class T>
__device__ __forceinline__ void merge_runs(T& tile, std::uint32_t (&words)[T::items]) {
  const int thread = T::thread();
#pragma unroll 1
  for (int run = 32 * T::items; run < T::capacity; run *= 2) {
    T::synchronise();
    const int pair = thread * T::items / (2 * run) * (2 * run);
    const int a_size = min(run, T::capacity - pair);
    const int b_size = min(run, T::capacity - pair - a_size);
    const int diagonal = thread * T::items - pair;
    int low = max(0, diagonal - b_size);
    int high = min(diagonal, a_size);
    while (low < high) {
      const int middle = (low + high) >> 1;
      if (tile.word(pair + middle) < tile.word(pair + a_size + diagonal - 1 - middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    tile.splits[thread] = static_cast<std::uint16_t>(low);
    T::synchronise();
    const bool last = diagonal + T::items == a_size + b_size;
    const int from_a = (last ? a_size : tile.splits[thread + 1]) - low;
    // Item r is word a + r of the first run, or word b - r of the second.
    const int a = pair + low;
    const int b = pair + a_size + diagonal - low + T::items - 1;
#pragma unroll
    for (int r = 0; r < T::items; ++r) words[r] = tile.word(r < from_a ? a + r : b - r);
    clean_in_thread(words);
    T::synchronise();
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
  }
  T::synchronise();
}

/// Each thread merges half of its words with half of those of the next thread, and then merges the
/// two halves it holds. On entry and on return the words of each thread are sorted. In tiles of
/// several warps it contains barriers.
/// \tparam InWarp  not between warps, and without barriers
template <class T, bool InWarp = T::warps == 1>
__device__ __forceinline__ void exchange_with_neighbours(T& tile,
                                                         std::uint32_t (&words)[T::items]) {
  constexpr int half = T::items / 2;
  const int lane = T::thread() % 32;
  const int warp = T::thread() / 32;
  // Halves exchanged between warps: `down` to the preceding warp, `up` to the next.
  static_assert(T::warps == 1 || sizeof(tile.splits) >= 2 * T::warps * half * 4);
  auto* const down = reinterpret_cast<std::uint32_t*>(tile.splits);
  std::uint32_t* const up = down + T::warps * half;
  if constexpr (!InWarp) {
#pragma unroll
    for (int r = 0; r < half; ++r)
      if (lane == 0) down[warp * half + r] = words[r];
    T::synchronise();
  }
  std::uint32_t both[T::items];
#pragma unroll
  for (int r = 0; r < half; ++r) {
    both[r] = words[half + r];
    std::uint32_t next = __shfl_down_sync(full_warp, words[r], 1);
    if (lane == 31)
      next = !InWarp && warp + 1 < T::warps ? down[(warp + 1) * half + r] : 0xffffffffu;
    both[T::items - 1 - r] = next;
  }
  clean_in_thread(both);
  if constexpr (!InWarp) {
#pragma unroll
    for (int r = 0; r < half; ++r)
      if (lane == 31) up[warp * half + r] = both[half + r];
    T::synchronise();
  }
#pragma unroll
  for (int r = 0; r < half; ++r) {
    const std::uint32_t previous = __shfl_up_sync(full_warp, both[half + r], 1);
    if (lane != 0) {
      words[r] = previous;
    } else if (!InWarp && warp != 0) {
      words[r] = up[(warp - 1) * half + r];
    }
    words[T::items - 1 - r] = both[r];
  }
  clean_in_thread(words);
}

/// Sorts the words in the registers of all threads, in any distribution; all ones stand for no
/// item. On return tile.words holds them in order, and register r of thread t the word of position
/// t * items + r.
template <class T>
__device__ __forceinline__ void sort_words(T& tile, std::uint32_t (&words)[T::items]) {
  sort_in_warp(words, T::thread() % 32);
#pragma unroll
  for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
  if constexpr (T::warps > 1) {
    merge_runs(tile, words);
  } else {
    __syncwarp();
  }
}

/// Tiles of more warps part shared bins. In smaller ones the bins of few keys have so few words
/// that exchanges alone are faster.
inline constexpr int most_warps_without_parts = 8;
/// Different windows in a bin by which a warp parts its words, at most.
inline constexpr int most_windows_of_bin = 6;

/// Parts the words of bins with several windows: those of the least window come first, then those
/// of the next, each in the order of before. Where two of a few keys share a bin, their words are
/// mixed; once they are parted, no word is far from its place.
///
/// A bin is parted if all words of a thread are of it, and the first and the last differ in their
/// windows and keys; by the warp of the first such thread. Larger bins than the words of a warp,
/// and smaller ones, are left as they are. So are bins of one key, whose windows differ in bits of
/// the index only (linear_window()): atomics have numbered their words nearly in that order. On
/// entry, tile.words and the registers hold words that are in order within each thread, those of
/// each bin next to each other; on return those in tile.words are not in order within threads.
/// Begins after a barrier and ends with one.
///
///   lane l          of a warp: word 32 i + l of the bin in register i
///   lane k          the range of the bin that the warp parts as number k
///   tile.splits[w]  whether warp w parts the bin of its last word
///
/// \return whether any bin may have been parted
template <class T>
__device__ __forceinline__ bool part_shared_bins(T& tile, const std::uint32_t (&own)[T::items]) {
  static_assert(T::warps > 1);
  constexpr int rows = T::items;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = T::thread() / 32;
  const int first_of_warp = warp * 32 * T::items;
  const auto bin_of = [](std::uint32_t word) { return word >> (32 - T::bin_bits); };

  const auto key_of = [&](std::uint32_t word) {  // of all ones, any key
    return tile.keys[min(word & T::index_mask, T::capacity - 1u)];
  };
  const std::uint32_t differing = own[0] ^ own[T::items - 1];
  const bool is_mixed = bin_of(differing) == 0 && differing > T::index_mask &&
                        key_of(own[0]) != key_of(own[T::items - 1]);
  if (!T::any(is_mixed)) return false;
  const std::uint32_t own_bin = bin_of(own[0]);
  const std::uint32_t bin_before =
      warp == 0 ? ~0u : bin_of(tile.word(first_of_warp - 1));  // all ones: no bin
  const std::uint32_t last_bin = bin_of(tile.word(first_of_warp + 32 * T::items - 1));
  unsigned int mixed = __ballot_sync(full_warp, is_mixed);
  const bool parts_last_bin = __any_sync(full_warp, is_mixed && own_bin == last_bin) != 0;
  if (lane == 0) tile.splits[warp] = parts_last_bin ? 1 : 0;
  int bins = 0;
  int bin_begin = 0;
  int bin_length = 0;
  bool begins_before = false;  // the first bin begins with the warp before
#pragma unroll 1
  while (mixed != 0) {
    const std::uint32_t bin = __shfl_sync(full_warp, own_bin, first_lane(mixed));
    const unsigned int threads = mixed & __ballot_sync(full_warp, own_bin == bin);
    mixed &= ~threads;
    int begin = first_of_warp + first_lane(threads) * T::items;
    int end = first_of_warp + (32 - __clz(static_cast<int>(threads))) * T::items;
    // From a position on in a direction, the words of the bin among the next 32.
    const auto words_of_bin = [&](int from, int direction) {
      const int position = from + direction * lane;
      const bool is_inside = position >= 0 && position < T::capacity;
      const unsigned int others = __ballot_sync(
          full_warp, !is_inside || bin_of(tile.word(is_inside ? position : begin)) != bin);
      return others == 0 ? 32 : first_lane(others);
    };
    for (int found = 32; found == 32 && end - begin <= 32 * rows; begin -= found)
      found = words_of_bin(begin - 1, -1);
    for (int found = 32; found == 32 && end - begin <= 32 * rows; end += found)
      found = words_of_bin(end, 1);
    if (end - begin > 32 * rows) continue;
    if (bin == bin_before) begins_before = true;
    if (lane == bins) {
      bin_begin = begin;
      bin_length = end - begin;
    }
    ++bins;
  }
  T::synchronise();
  const bool is_parted_before = begins_before && tile.splits[max(warp - 1, 0)] != 0;
#pragma unroll 1
  for (int k = is_parted_before ? 1 : 0; k < bins; ++k) {
    const int begin = __shfl_sync(full_warp, bin_begin, k);
    const int length = __shfl_sync(full_warp, bin_length, k);
    std::uint32_t words[rows];
    std::uint32_t rest = 0;  // rows whose word has no new place yet
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      const bool is_word = 32 * i + lane < length;
      words[i] = is_word ? tile.word(begin + 32 * i + lane) : 0;
      if (is_word) rest |= 1u << i;
    }
    __syncwarp();
    int placed = 0;
#pragma unroll 1
    for (int window = 1; placed < length; ++window) {
      std::uint32_t least = 0xffffffffu;  // window, and all ones below
      if (window < most_windows_of_bin) {
#pragma unroll
        for (int i = 0; i < rows; ++i)
          if ((rest >> i & 1) != 0) least = min(least, words[i] | T::index_mask);
        least = min_in_warp(least);
      }
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        if (32 * i >= length) break;
        const bool is_next = (rest >> i & 1) != 0 && words[i] <= least;
        const unsigned int next = __ballot_sync(full_warp, is_next);
        if (is_next) {
          tile.words[banked(begin + placed + static_cast<int>(rank_among(next)))] = words[i];
          rest &= ~(1u << i);
        }
        placed += static_cast<int>(lanes_of(next));
      }
    }
    __syncwarp();
  }
  T::synchronise();
  return true;
}

/// Exchanges that a warp tries, one after the other, to sort its words, and how often it does so.
inline constexpr int most_exchanges_in_warp = 12;
inline constexpr int most_exchanges_of_warps = 4;

/// Sorts words in tile.words that are nearly in order, and in order within each thread: in large
/// tiles, parts the words of bins with several windows; exchanges halves within the warps with
/// misplaced words, and then between all. If this ends too late, the words are sorted by the
/// networks. Not inlined, because uniform keys hardly need it. Begins after a
/// barrier and ends with one.
template <class T>
__device__ __noinline__ void exchange_until_sorted(std::uint32_t tile_distance) {
  T& tile = tile_at<T>(tile_distance);
  const int thread = T::thread();
  std::uint32_t words[T::items];
#pragma unroll
  for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
  if constexpr (T::warps > most_warps_without_parts) {
    if (part_shared_bins(tile, words)) {
#pragma unroll
      for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
      sort_in_thread(words);
    }
  }
#pragma unroll 1
  for (int again = 0; again < most_exchanges_of_warps; ++again) {
#pragma unroll 1
    for (int i = 0; i < most_exchanges_in_warp; ++i) {
      const std::uint32_t previous = __shfl_up_sync(full_warp, words[T::items - 1], 1);
      if (__any_sync(full_warp, thread % 32 != 0 && previous > words[0]) == 0) break;
      exchange_with_neighbours<T, true>(tile, words);
    }
    T::synchronise();
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
    T::synchronise();
    const bool inverted = thread > 0 && tile.word(thread * T::items - 1) > words[0];
    if (!T::any(inverted)) return;
    if constexpr (T::warps > 1) exchange_with_neighbours(tile, words);
  }
  sort_words(tile, words);
}

/// Words of a bin in the first eighth of the words of a tile from which on its warps count row by
/// row. Bins of keys in order have fewer there; of 100 random keys in 4096 to 8192 items, some have
/// more.
inline constexpr std::uint32_t dense_bin = 10;

/// Sorts the words by distribution if they are evenly enough spread, and leaves them as
/// sort_words() does. On entry, item e = r * threads + thread is in register r; words from `length`
/// on are all ones.
///
/// Each word goes to one of at least half as many bins as the tile has items, by its highest bits.
/// If no bin has more words than a thread, then sorting within each thread and exchanging halves
/// with the neighbours sorts all words: a bin spans at most two threads, and misplaced words are in
/// the neighbouring halves. If some have, halves are exchanged until the words are in order. These
/// are few exchanges even for large bins of equal keys, since atomics number the words of a bin
/// nearly in their order: if a bin is dense, barriers keep the rows of the items apart. If all
/// words of a bin count as equal, they are in order at once.
/// \param bins_are_equal  words of the same bin may be in any order
/// \return false, with the words unchanged, if a bin has half of the words; found out after an
/// eighth of the words if one has half of them
template <class T>
__device__ __forceinline__ bool sort_by_distribution(T& tile, std::uint32_t (&words)[T::items],
                                                     int length, bool bins_are_equal) {
  constexpr int bin_bits = T::bin_bits;
  constexpr int bins = 1 << bin_bits;
  static_assert(bins <= T::capacity, "the counters take the place of the words");
  const int thread = T::thread();
  const auto counter = [&](int bin) -> std::uint32_t& { return tile.words[banked(bin)]; };
  const auto bin_of = [](std::uint32_t word) { return static_cast<int>(word >> (32 - bin_bits)); };
  const auto is_item = [&](int r) { return r * T::threads + thread < length; };

  for (int bin = thread; bin < bins; bin += T::threads) counter(bin) = 0;
  T::synchronise();
  static_assert(T::capacity <= 1 << 16);
  ShortNumbers<T::items, 16> ranks;  // within the bin
  constexpr int rows_at_first = T::items / 8;
  constexpr std::uint32_t crowded = rows_at_first * T::threads / 2;
  static_assert(T::warps == 1 || crowded >= dense_bin);
  std::uint32_t greatest_rank = 0;
  bool is_dense = false;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    if (r == rows_at_first) {
      constexpr std::uint32_t limit = T::warps == 1 ? crowded : dense_bin;
      is_dense = T::any(greatest_rank >= limit && !bins_are_equal);
      if (is_dense && (T::warps == 1 || T::any(greatest_rank >= crowded))) return false;
    } else if (T::warps > 1 && r > rows_at_first && is_dense) {
      T::synchronise();
    }
    const std::uint32_t rank = is_item(r) ? atomicAdd(&counter(bin_of(words[r])), 1) : 0;
    if (r < rows_at_first) greatest_rank = max(greatest_rank, rank);
    ranks.set(r, rank);
  }
  T::synchronise();

  // Each thread sums up a range of counters.
  constexpr int counters_per_thread = (bins - 1) / T::threads + 1;
  std::uint32_t counts[counters_per_thread];
  std::uint32_t sum = 0;
  std::uint32_t most = 0;
#pragma unroll
  for (int i = 0; i < counters_per_thread; ++i) {
    const int bin = thread * counters_per_thread + i;
    counts[i] = bin < bins ? counter(bin) : 0;
    most = max(most, counts[i]);
    sum += counts[i];
  }
  const std::uint32_t up_to = inclusive_sum_in_warp(sum);
  if constexpr (T::warps > 1) {
    if (thread % 32 == 31) tile.splits[thread / 32] = static_cast<std::uint16_t>(up_to);
  }
  const bool exceeds_thread = T::any(most > T::items) && !bins_are_equal;
  if (exceeds_thread) {
    if (T::any(most > T::capacity / 2)) return false;
  }
  std::uint32_t before = up_to - sum;
  if constexpr (T::warps > 1) {
#pragma unroll
    for (int warp = 0; warp < T::warps; ++warp)
      if (warp < thread / 32) before += tile.splits[warp];
  }
#pragma unroll
  for (int i = 0; i < counters_per_thread; ++i) {
    const int bin = thread * counters_per_thread + i;
    if (bin < bins) counter(bin) = before;
    before += counts[i];
  }
  T::synchronise();
  ShortNumbers<T::items, 16> places;
#pragma unroll
  for (int r = 0; r < T::items; ++r)
    places.set(r, is_item(r) ? ranks[r] + counter(bin_of(words[r]))
                             : static_cast<std::uint32_t>(r * T::threads + thread));
  T::synchronise();
#pragma unroll
  for (int r = 0; r < T::items; ++r) tile.words[banked(static_cast<int>(places[r]))] = words[r];
  T::synchronise();
  if (bins_are_equal) return true;
#pragma unroll
  for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
  sort_in_thread(words);
  exchange_with_neighbours(tile, words);
  T::synchronise();
#pragma unroll
  for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
  T::synchronise();
  if (exceeds_thread) {
    exchange_until_sorted<T>(distance_of(tile));
#pragma unroll
    for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
  }
  return true;
}

}  // namespace sortie::segsort
