#pragma once

#include <cstdint>

#include "sortie/segsort/cuda/short_numbers.cuh"
#include "sortie/segsort/cuda/tile.cuh"

/// Sorts the words of a tile: by distribution where they spread evenly, else by the networks of its
/// warps and merges between them.
///
/// Register r of thread t has the word of item r * threads + t, or of any, before; that of position
/// t * items + r afterwards, when shared memory has all in order.
namespace sortie::segsort {

/// Merges the warps' runs in shared memory two by two (paper, section 3.3): thread i makes the
/// outputs i*items .. i*items+items-1 of a round. The merge path search (Green, McColl, Bader: ICS
/// 2012) tells which stretches of the two runs these are; read one forwards and the other
/// backwards, they are a bitonic sequence, which half cleaners in registers sort. On entry the runs
/// are in tile.words, on return the result is there and in `words`. Begins and ends with a barrier.
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

/// Lets each thread trade with its neighbours: half of its words with half of the next thread's,
/// so that both halves together are in order, and then its own two halves. On entry and on return
/// each thread's words are in order. Where a block does it, it contains barriers.
template <class T>
__device__ __forceinline__ void trade_with_neighbours(T& tile, std::uint32_t (&words)[T::items]) {
  constexpr int half = T::items / 2;
  const int lane = T::thread() % 32;
  const int warp = T::thread() / 32;
  // Halves that cross from warp to warp: down to the one before, up to the one behind.
  static_assert(T::warps == 1 || sizeof(tile.splits) >= 2 * T::warps * half * 4);
  auto* const down = reinterpret_cast<std::uint32_t*>(tile.splits);
  std::uint32_t* const up = down + T::warps * half;
  if constexpr (T::warps > 1) {
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
    if (lane == 31) next = warp + 1 < T::warps ? down[(warp + 1) * half + r] : 0xffffffffu;
    both[T::items - 1 - r] = next;
  }
  clean_in_thread(both);
  if constexpr (T::warps > 1) {
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
    } else if (warp != 0) {
      words[r] = up[(warp - 1) * half + r];
    }
    words[T::items - 1 - r] = both[r];
  }
  clean_in_thread(words);
}

/// Sorts the words by distribution, if they are spread evenly enough, and leaves them as
/// sort_words() does. On entry, item e = r * threads + thread is in register r; those from `length`
/// on are all ones.
///
/// Each word goes to one of half as many bins as the tile has items, or more, by its topmost bits;
/// then a thread's stretch has the items of some whole bins, and parts of one at each end. Where no
/// bin has more words than a thread, they are in order when each thread has sorted its own and has
/// traded with its neighbours: a bin lies over two threads at most, and what is on the wrong side
/// is in the neighbouring halves. Where all words of a bin are as good as equal, they are in order
/// at once, however many a bin has.
/// \param bins_are_equal  words of the same bin may be in any order
/// \return false, and the words as they were, where a bin has more words than a thread, or looks as
/// if it will after a quarter of the words
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
  ShortNumbers<T::items, 16> ranks;  // in the bin
  bool crowded = false;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    if (r == T::items / 4) {
      if (T::any(crowded)) return false;
    }
    const std::uint32_t rank = is_item(r) ? atomicAdd(&counter(bin_of(words[r])), 1) : 0;
    if (r < T::items / 4) crowded |= rank >= T::items / 2 && !bins_are_equal;
    ranks.set(r, rank);
  }
  T::synchronise();

  // A thread adds up a stretch of the counters.
  constexpr int stretch = (bins - 1) / T::threads + 1;
  std::uint32_t counts[stretch];
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < stretch; ++i) {
    const int bin = thread * stretch + i;
    counts[i] = bin < bins ? counter(bin) : 0;
    crowded |= counts[i] > T::items && !bins_are_equal;
    sum += counts[i];
  }
  std::uint32_t up_to = sum;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(full_warp, up_to, distance);
    if (thread % 32 >= distance) up_to += other;
  }
  if constexpr (T::warps > 1) {
    if (thread % 32 == 31) tile.splits[thread / 32] = static_cast<std::uint16_t>(up_to);
  }
  if (T::any(crowded)) return false;
  std::uint32_t before = up_to - sum;
  if constexpr (T::warps > 1) {
#pragma unroll
    for (int warp = 0; warp < T::warps; ++warp)
      if (warp < thread / 32) before += tile.splits[warp];
  }
#pragma unroll
  for (int i = 0; i < stretch; ++i) {
    const int bin = thread * stretch + i;
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
  trade_with_neighbours(tile, words);
  T::synchronise();
#pragma unroll
  for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
  T::synchronise();
  return true;
}

/// Sorts the words in the threads' registers, wherever each of them is; all ones stand for no item.
/// On return tile.words has them in order, and register r of thread t that of position
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

}  // namespace sortie::segsort
