// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/policy.cuh"
#include "segsort/cuda/sampled_tile.cuh"
#include "segsort/cuda/tile.cuh"
#include "segsort/cuda/word_sort.cuh"

/// Sorts the items of one or more whole segments in one tile of a warp, a team or a block.
///
/// The items of all segments of the tile are numbered consecutively, e = 0 .. length-1. Each is
/// represented by one word (segsort/README.md, "One word per item"),
///
///     | index of its segment in the tile | window: highest bits of its key | e |
///
/// and the words are sorted. Keys are relative to the least key of the tile. Short runs of equal
/// windows are sorted by one thread each. If the windows spread the items too unevenly, or are
/// equal too often, sort_uneven_tile() sorts the tile with other windows, and if these do not help,
/// digit by digit, least significant first, with the window as the digit.
namespace sortie::segsort {

/// Longest run of equal windows that one thread sorts, in time quadratic in its length.
inline constexpr int longest_resolved_run = 16;

/// Properties of the segments of a tile that determine the network.
struct TileSegments {
  int longest;
  int merge_rounds;  ///< of sort_middle_runs()
};

/// Longest segments for which neighbours in a warp's tile are compared (sort_short_runs), given the
/// rounds of sort_middle_runs(), and for which neighbouring threads are merged (sort_middle_runs).
__device__ __forceinline__ constexpr int longest_short_run(int merge_rounds) {
  return merge_rounds >= 2 ? 20 : merge_rounds == 1 ? 14 : 8;
}
inline constexpr int longest_middle_run = 64;

/// Whether equal windows are in the order of their keys, as they are if the keys themselves are
/// equal: a segment with few distinct keys. A barrier.
template <class T>
__device__ __noinline__ bool has_ordered_ties(std::uint32_t tile_distance, int length,
                                              typename T::Word compare_mask) {
  T& tile = tile_at<T>(tile_distance);
  const auto key_of = [&](std::uint32_t word) {
    return static_cast<typename T::Word>(tile.keys[word & T::index_mask] & compare_mask);
  };
  // Each thread compares its own words, and the last one with the first of the next thread.
  const int items = min(length - 1 - T::thread() * T::items, T::items);
  const int beyond_own =
      min((T::thread() + 1) * T::items, T::capacity - 1);  // the last thread has none
  bool inverted = false;
  if (items > 0) {
    std::uint32_t word = tile.blocked(0);
    typename T::Word key = 0;
    bool is_key_of_word = false;
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const std::uint32_t next = r + 1 < T::items ? tile.blocked(r + 1) : tile.word(beyond_own);
      const bool is_tie = r < items && (word ^ next) <= T::index_mask;
      if (is_tie) {
        const auto next_key = key_of(next);
        inverted |= (is_key_of_word ? key : key_of(word)) > next_key;
        key = next_key;
      }
      is_key_of_word = is_tie;
      word = next;
    }
  }
  return !T::any(inverted);
}

/// Sorts a tile again by all bits, unless it is in order: one pass per digit of `window` bits,
/// least significant first. In tiles of several warps the passes overwrite the values.
/// \return whether there were passes
template <class T>
__device__ __forceinline__ bool sort_by_digits(T& tile, int length, int segment_bits, int window,
                                               typename T::Word base, typename T::Word compare_mask,
                                               int first_bit, int bits) {
  if (has_ordered_ties<T>(distance_of(tile), length, compare_mask)) return false;
  std::uint32_t words[T::items];
  for (int done = 0; done < bits; done += window) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const int position = r * T::threads + T::thread();
      words[r] = 0xffffffffu;
      if (position >= length) continue;
      const std::uint32_t word = tile.striped(r);
      const std::uint32_t e = word & T::index_mask;
      const typename T::Word key = (tile.keys[e] & compare_mask) - base;
      const auto digit =
          static_cast<std::uint32_t>(key >> (first_bit + done)) & ((1u << window) - 1);
      words[r] = segment_field(segment_of(word, segment_bits), segment_bits) |
                 digit << T::index_bits | (done == 0 ? e : static_cast<std::uint32_t>(position));
      if constexpr (T::warps > 1) tile.ids()[position] = static_cast<std::uint16_t>(e);
    }
    T::synchronise();
    if constexpr (T::warps == 1) {
      sort_in_warp(words, T::thread());
      if (done != 0) {
#pragma unroll
        for (int r = 0; r < T::items; ++r)
          if (T::thread() * T::items + r < length)  // the last item may equal padding
            words[r] = (words[r] & ~T::index_mask) |
                       (tile.word(static_cast<int>(words[r] & T::index_mask)) & T::index_mask);
        __syncwarp();
      }
#pragma unroll
      for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
    } else {
      sort_words(tile, words);
      if (done != 0) {
#pragma unroll
        for (int r = 0; r < T::items; ++r) {
          const std::uint32_t word = tile.striped(r);
          if (r * T::threads + T::thread() < length)
            tile.striped(r) = (word & ~T::index_mask) | tile.ids()[word & T::index_mask];
        }
      }
    }
    T::synchronise();
  }
  return true;
}

/// Range of the keys of a tile: from `base` to below base + 2^span.
template <class Word>
struct KeyRange {
  Word base;
  int span;
};

/// Range of the compared bits of the keys of a tile. For 64-bit keys the upper words decide unless
/// they are all equal: a base slightly below the least key only costs window bits.
template <class T>
__device__ __forceinline__ KeyRange<typename T::Word> key_range(
    T& tile, const typename T::Word (&keys)[T::items]) {
  using Word = typename T::Word;
  constexpr int upper = static_cast<int>(sizeof(Word)) * 8 - 32;
  std::uint32_t least = 0;
  std::uint32_t greatest = 0;
  // Bounds of 32 bits of the keys; each slot may be used once per tile.
  const auto find_bounds = [&](int shift, int slot) {
    least = 0xffffffffu;
    greatest = 0;
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      least = min(least, static_cast<std::uint32_t>(keys[r] >> shift));
      greatest = max(greatest, static_cast<std::uint32_t>(keys[r] >> shift));
    }
    least = min_in_warp(least);
    greatest = max_in_warp(greatest);
    if constexpr (T::warps > 1) {
      if (T::thread() == 0) {
        tile.least[slot] = 0xffffffffu;
        tile.greatest[slot] = 0;
      }
      T::synchronise();
      if (threadIdx.x % 32 == 0) {
        atomicMin(&tile.least[slot], least);
        atomicMax(&tile.greatest[slot], greatest);
      }
      T::synchronise();
      least = tile.least[slot];
      greatest = tile.greatest[slot];
    }
  };
  find_bounds(upper, 0);
  if constexpr (upper == 0) return {least, bits_of(greatest - least)};
  const Word base = static_cast<Word>(least) << upper;
  if (least != greatest) return {base, upper + bits_of(greatest - least)};
  find_bounds(0, 1);
  return {base | least, bits_of(greatest - least)};
}

enum class Ties { none, resolved, long_runs };

/// Whether words have equal windows: words differ, so that equal windows leave a difference of
/// 1 .. index_mask; padding leaves 0.
template <class T>
__device__ __forceinline__ bool is_tie(std::uint32_t a, std::uint32_t b) {
  return (a ^ b) - 1 < T::index_mask;
}

/// The first word of the next thread of the tile, or all ones.
template <class T>
__device__ __forceinline__ std::uint32_t word_of_next_thread(const T& tile) {
  return T::thread() + 1 < T::threads ? tile.word((T::thread() + 1) * T::items) : 0xffffffffu;
}

/// Whether any of the words of a thread has the window of the word that follows.
template <class T>
__device__ __forceinline__ bool has_ties(const T& tile, const std::uint32_t (&words)[T::items]) {
  std::uint32_t nearest = (words[T::items - 1] ^ word_of_next_thread(tile)) - 1;
#pragma unroll
  for (int r = 0; r + 1 < T::items; ++r) nearest = min(nearest, (words[r] ^ words[r + 1]) - 1);
  return nearest < T::index_mask;
}

/// resolve_ties() of a tile of which `threads_with_ties` threads, at least one, have ties.
/// \param has_own_ties  whether this thread has
template <class T, bool IsLast>
__device__ __forceinline__ Ties resolve_found_ties(T& tile, const std::uint32_t (&words)[T::items],
                                                   bool has_own_ties, int threads_with_ties,
                                                   int length, typename T::Word compare_mask) {
  static_assert(longest_resolved_run <= 16 && T::items <= 16, "four bits a position");
  const int thread = T::thread();
  // In small tiles, different keys are rarely equal in their windows.
  if (threads_with_ties > T::threads / 2 || T::capacity <= 1024) {
    if (has_ordered_ties<T>(distance_of(tile), length, compare_mask)) return Ties::resolved;
    if (!IsLast && threads_with_ties > T::threads / 2) return Ties::long_runs;
  }

  bool long_run = false;
  std::uint32_t starts = 0;
  std::uint64_t lengths = 0;  // of the runs, minus one
  if (has_own_ties) {
    std::uint32_t equals_next =
        is_tie<T>(words[T::items - 1], word_of_next_thread(tile)) ? 1u << (T::items - 1) : 0;
#pragma unroll
    for (int r = 0; r + 1 < T::items; ++r)
      if (is_tie<T>(words[r], words[r + 1])) equals_next |= 1u << r;
    // The word of the last item may equal padding, but padding is not an item.
    equals_next &= (1u << min(max(length - 1 - thread * T::items, 0), T::items)) - 1;
    std::uint32_t equals_previous = equals_next << 1;
    if (thread > 0 && is_tie<T>(tile.word(thread * T::items - 1), words[0])) equals_previous |= 1;
    starts = equals_next & ~equals_previous;
    for (std::uint32_t rest = starts; rest != 0; rest &= rest - 1) {
      const int r = __ffs(static_cast<int>(rest)) - 1;
      const int position = thread * T::items + r;
      const std::uint32_t word = tile.word(position);
      int run = 1;
      while (run <= longest_resolved_run && position + run < length &&
             is_tie<T>(word, tile.word(position + run)))
        ++run;
      long_run |= run > longest_resolved_run;
      lengths |= static_cast<std::uint64_t>((run - 1) & 15) << (4 * r);
    }
  }
  if (T::any(long_run)) return Ties::long_runs;
  T::synchronise();
  for (; starts != 0; starts &= starts - 1) {
    const int r = __ffs(static_cast<int>(starts)) - 1;
    const int begin = thread * T::items + r;
    const int end = begin + static_cast<int>(lengths >> (4 * r) & 15);
    for (int i = begin + 1; i <= end; ++i) {  // insertion: the run is in the order of e
      const std::uint32_t word = tile.word(i);
      const auto key = tile.keys[word & T::index_mask] & compare_mask;
      int place = i;
      while (place > begin &&
             (tile.keys[tile.word(place - 1) & T::index_mask] & compare_mask) > key) {
        tile.words[banked(place)] = tile.word(place - 1);
        --place;
      }
      tile.words[banked(place)] = word;
    }
  }
  T::synchronise();
  return Ties::resolved;
}

/// Tiles of the shortest segments of teams: the loop of their kernel over the segments is faster the
/// less code it passes, so that rare steps are functions of their own.
template <class T>
inline constexpr bool has_short_loop = (T::capacity <= 256) && T::is_of_team;

/// resolve_found_ties() where uniform keys rarely need it.
template <class T, bool IsLast>
__device__ __noinline__ Ties resolve_rare_ties(std::uint32_t tile_distance, bool has_own_ties,
                                               int threads_with_ties, int length,
                                               typename T::Word compare_mask) {
  T& tile = tile_at<T>(tile_distance);
  std::uint32_t words[T::items];
#pragma unroll
  for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
  return resolve_found_ties<T, IsLast>(tile, words, has_own_ties, threads_with_ties, length,
                                       compare_mask);
}

/// Sorts runs of equal windows by whole keys: the thread that holds the first word of a run sorts
/// it. `words` are those that sort_words() left. Ends with a barrier, unless there are no ties.
/// Does nothing if any run is longer than longest_resolved_run.
/// \tparam IsLast  otherwise, if most threads have ties that are not in order, these count as long
///                 runs: other windows may have fewer
template <class T, bool IsLast>
__device__ __forceinline__ Ties resolve_ties(T& tile, const std::uint32_t (&words)[T::items],
                                             int length, typename T::Word compare_mask) {
  const bool has_own_ties = has_ties(tile, words);
  const int threads_with_ties = T::count(has_own_ties);
  if (threads_with_ties == 0) return Ties::none;
  if constexpr (has_short_loop<T>) {
    return resolve_rare_ties<T, IsLast>(distance_of(tile), has_own_ties, threads_with_ties, length,
                                        compare_mask);
  } else {
    return resolve_found_ties<T, IsLast>(tile, words, has_own_ties, threads_with_ties, length,
                                         compare_mask);
  }
}

/// Window of a number below 2^span, 1 <= span: its highest bits. Below them are those of its item
/// index, highest first, so that items with equal numbers have different windows.
template <class Word>
__device__ __forceinline__ std::uint32_t linear_window(Word number, int span,
                                                       std::uint32_t index_bits) {
  return bits_below(number, span) | (span < 32 ? index_bits >> span : 0);
}

/// As above, of one more than the number as a floating-point number, without loss of order: the
/// place of the highest bit, in `place_bits` bits, then the bits that follow, then those of the
/// index.
__device__ __forceinline__ std::uint32_t floating_window(std::uint32_t number, int place_bits,
                                                         std::uint32_t index_bits) {
  number = min(number, ~1U) + 1;
  const int zeros = __clz(static_cast<int>(number));
  const int place = 31 - zeros;
  const std::uint32_t rest = number << zeros << 1 | index_bits >> place;
  return static_cast<std::uint32_t>(place) << (32 - place_bits) | rest >> place_bits;
}
__device__ __forceinline__ std::uint32_t floating_window(std::uint64_t number, int place_bits,
                                                         std::uint32_t index_bits) {
  number = min(number, ~std::uint64_t{1}) + 1;
  const int zeros = __clzll(static_cast<long long>(number));
  const int place = 63 - zeros;
  const std::uint64_t rest = number << zeros << 1 | std::uint64_t{index_bits} << 32 >> place;
  return static_cast<std::uint32_t>(place) << (32 - place_bits) |
         static_cast<std::uint32_t>(rest >> 32 >> place_bits);
}

/// Bits of the place of the highest bit of one more than a number below 2^span.
template <class Word>
__device__ __forceinline__ int place_bits_of(int span) {
  return bits_of(static_cast<std::uint32_t>(min(span, static_cast<int>(8 * sizeof(Word)) - 1)));
}

/// What differs between the keys of a tile, relative to the base of their range.
template <class Word>
struct KeySpread {
  Word differing;  ///< union of their bits
  bool is_low;  ///< many more are in the lowest sixteenth of the range than of evenly spread keys
};

template <class T>
__device__ __forceinline__ KeySpread<typename T::Word> key_spread(
    T& tile, int length, const KeyRange<typename T::Word>& range, typename T::Word compare_mask) {
  using Word = typename T::Word;
  Word differing = 0;
  int low = 0;
#pragma unroll 4
  for (int e = T::thread(); e < length; e += T::threads) {
    const Word number = (tile.keys[e] & compare_mask) - range.base;
    differing |= number;
    low += number >> max(range.span - 4, 0) == 0 ? 1 : 0;
  }
  constexpr int upper = static_cast<int>(sizeof(Word)) * 8 - 32;
  std::uint32_t upper_bits = or_in_warp(static_cast<std::uint32_t>(differing >> upper));
  std::uint32_t lower_bits = or_in_warp(static_cast<std::uint32_t>(differing));
  low = sum_in_warp(low);
  if constexpr (T::warps > 1) {
    if (T::thread() == 0) tile.least[0] = tile.least[1] = tile.greatest[0] = 0;
    T::synchronise();
    if (threadIdx.x % 32 == 0) {
      atomicOr(&tile.least[0], upper_bits);
      atomicOr(&tile.least[1], lower_bits);
      atomicAdd(&tile.greatest[0], static_cast<std::uint32_t>(low));
    }
    T::synchronise();
    upper_bits = tile.least[0];
    lower_bits = tile.least[1];
    low = static_cast<int>(tile.greatest[0]);
  }
  return {static_cast<Word>(upper_bits) << upper | lower_bits, 8 * low >= 3 * length};
}
__device__ __forceinline__ int low_zeros(std::uint32_t word) {
  return __ffs(static_cast<int>(word)) - 1;
}
__device__ __forceinline__ int low_zeros(std::uint64_t word) {
  return __ffsll(static_cast<long long>(word)) - 1;
}

/// Sorts a tile whose words sort_tile() could not sort, or whose ties it could not. Windows are made
/// again without the low bits in which all keys agree, and with those of the item index instead;
/// and if many keys are near the least, as floating-point numbers. Not inlined, because it is
/// rarely called, and most kernels are as large as the instruction cache.
/// \param is_sorted  tile.words is in order, apart from ties; otherwise in that of the items
/// \return true if the values in the tile have been overwritten
template <class T>
__device__ __noinline__ bool sort_uneven_tile(std::uint32_t tile_distance, int length,
                                              int segment_bits, KeyRange<typename T::Word> range,
                                              typename T::Word compare_mask, int ignored_bits,
                                              bool is_sorted) {
  using Word = typename T::Word;
  T& tile = tile_at<T>(tile_distance);
  const int window = 32 - T::index_bits - segment_bits;
  const KeySpread<Word> spread = key_spread(tile, length, range, compare_mask);
  const int zeros = low_zeros(spread.differing);
  std::uint32_t words[T::items];
  bool is_exact = false;  // the windows leave no ties
  if (!is_sorted || spread.is_low || zeros > ignored_bits) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) words[r] = tile.striped(r);
    if (is_sorted) {  // back to the order of the items
      T::synchronise();
#pragma unroll
      for (int r = 0; r < T::items; ++r)
        if (r * T::threads + T::thread() < length)
          tile.words[banked(static_cast<int>(words[r] & T::index_mask))] = words[r];
      T::synchronise();
#pragma unroll
      for (int r = 0; r < T::items; ++r) words[r] = tile.striped(r);
    }
    const std::uint32_t kept = segment_field(~0U, segment_bits) | T::index_mask;
    const int span = range.span - zeros;
    const int place_bits = place_bits_of<Word>(span);
    is_exact = !spread.is_low && span <= window;
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const int e = r * T::threads + T::thread();
      words[r] = e < length ? words[r] : 0xffffffffu;
      if (e >= length) continue;
      const Word number = ((tile.keys[e] & compare_mask) - range.base) >> zeros;
      const std::uint32_t index_bits = static_cast<std::uint32_t>(e) << (32 - T::index_bits);
      const std::uint32_t bits = spread.is_low ? floating_window(number, place_bits, index_bits)
                                               : linear_window(number, span, index_bits);
      words[r] = (words[r] & kept) | (bits >> segment_bits & ~kept);
    }
    T::synchronise();
    const Distribution distribution = sort_by_distribution(tile, words, length, false);
    bool is_distributed = distribution == Distribution::sorted;
    if constexpr (has_fine_bins<T>) {
      if (distribution == Distribution::dense) {
#pragma unroll
        for (int r = 0; r < T::items; ++r) tile.striped(r) = words[r];
        is_distributed = sort_dense_words<T>(tile_distance, length);
#pragma unroll
        for (int r = 0; r < T::items; ++r)
          words[r] = is_distributed ? tile.blocked(r) : tile.striped(r);
        // All words are read before sort_words() writes others in their place.
        if (!is_distributed) T::synchronise();
      }
    }
    if (!is_distributed) sort_words(tile, words);
  } else {
#pragma unroll
    for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
  }
  if (is_exact) return false;
  if (resolve_ties<T, true>(tile, words, length, compare_mask) != Ties::long_runs) return false;
  if constexpr (T::ids_alias_values) finish_values(tile);
  const bool has_moved = sort_by_digits(tile, length, segment_bits, window, range.base,
                                        compare_mask, ignored_bits, range.span - ignored_bits);
  return T::ids_alias_values && has_moved;
}

/// Sorts a tile of one segment with few keys, as sort_tile() does. Not inlined: see
/// sort_uneven_tile().
template <class T>
__device__ __noinline__ bool sort_few_keys(std::uint32_t tile_distance, int length,
                                           KeyRange<typename T::Word> range,
                                           typename T::Word compare_mask, int ignored_bits) {
  T& tile = tile_at<T>(tile_distance);
  const int differing_bits = range.span - ignored_bits;
  sort_by_counting(tile, length, range.base, range.span, compare_mask, differing_bits);
  if (differing_bits <= min(32 - T::index_bits, counted_bits)) return false;
  std::uint32_t words[T::items];
#pragma unroll
  for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
  if (resolve_ties<T, false>(tile, words, length, compare_mask) != Ties::long_runs) return false;
  return sort_uneven_tile<T>(tile_distance, length, 0, range, compare_mask, ignored_bits, true);
}

/// Sorts a tile with dense bins, as sort_tile() and sort_uneven_tile() do. tile.striped() holds its
/// words.
/// \return true if the values in the tile have been overwritten
template <class T>
__device__ __noinline__ bool sort_dense_tile(std::uint32_t tile_distance, int length,
                                             int segment_bits, KeyRange<typename T::Word> range,
                                             typename T::Word compare_mask, int ignored_bits,
                                             bool has_exact_windows) {
  T& tile = tile_at<T>(tile_distance);
  const bool is_sorted = sort_dense_words<T>(tile_distance, length);
  if (is_sorted) {
    if (has_exact_windows) return false;
    std::uint32_t words[T::items];
#pragma unroll
    for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
    if (resolve_ties<T, false>(tile, words, length, compare_mask) != Ties::long_runs) return false;
  }
  return sort_uneven_tile<T>(tile_distance, length, segment_bits, range, compare_mask, ignored_bits,
                             is_sorted);
}

/// Whether sort_tile() looks at a sample of the keys first: in tiles of a team or a block, which
/// have one segment.
template <class T>
inline constexpr bool samples_keys = T::is_of_team || (T::warps > 1);

/// Writes the words of a tile of one segment, in the order of the items, with windows of keys that
/// are not evenly spread. Each thread writes those that it loaded.
/// \param is_low  windows are floating-point numbers; otherwise linear ones with index bits
template <class T>
__device__ __noinline__ void set_uneven_windows(std::uint32_t tile_distance, int length,
                                                KeyRange<typename T::Word> range,
                                                typename T::Word compare_mask, bool is_low) {
  T& tile = tile_at<T>(tile_distance);
  const int place_bits = place_bits_of<typename T::Word>(range.span);
#pragma unroll 4
  for (int r = 0; r < T::items; ++r) {
    const int e = r * T::threads + T::thread();
    std::uint32_t word = 0xffffffffu;
    if (e < length) {
      const typename T::Word number = (tile.keys[e] & compare_mask) - range.base;
      const std::uint32_t index_bits = static_cast<std::uint32_t>(e) << (32 - T::index_bits);
      const std::uint32_t window = is_low ? floating_window(number, place_bits, index_bits)
                                          : linear_window(number, range.span, index_bits);
      word = (window & ~T::index_mask) | static_cast<std::uint32_t>(e);
    }
    tile.striped(r) = word;
  }
}

/// Sorts a tile. On entry, item e = r * threads + thread is in register r: `keys` holds the
/// compared bits of its key (tile.keys its encoded key), and `words` its segment field and e. From
/// `length` on, the words are all ones, and the keys are those of any item. On return tile.words is
/// in order. Ends with a barrier.
/// \tparam AreShort  the tile belongs to a warp, and no segment is longer than longest_middle_run;
///                   `segments` describes the segments
/// \return true if the values in the tile have been overwritten
template <class T, bool AreShort = false, class Codec>
__device__ __forceinline__ bool sort_tile(T& tile, const typename T::Word (&keys)[T::items],
                                          std::uint32_t (&words)[T::items], int length,
                                          int segment_bits, const Codec& codec,
                                          const TileSegments& segments = {}) {
  const int window = 32 - T::index_bits - segment_bits;
  const auto [base, span] = key_range(tile, keys);
  if (span == 0) {  // all keys are equal: already in order
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.striped(r) = words[r];
    T::synchronise();
    return false;
  }
  const int differing_bits = span - codec.ignored_bits;
  // Keys alone that agree in all bits are interchangeable, so the bins need not be sorted.
  const bool bins_are_equal =
      T::value_bytes == 0 && codec.ignored_bits == 0 && segment_bits + span <= T::bin_bits;
  SampledKeys sampled = SampledKeys::spread;
  if constexpr (T::warps > 1) {
    if (!bins_are_equal) sampled = sampled_keys(tile, length, base, span, codec.compare_mask);
  } else {
    // Whether keys are near the least: in two rows, since half of the keys may be equal. Short
    // segments whose linear windows differ are not worth others.
    const std::uint32_t both =
        bits_below(keys[0] - base, span) | bits_below(keys[T::items / 2] - base, span);
    const bool is_worth_it = samples_keys<T> ? !bins_are_equal : differing_bits > window;
    if (is_worth_it && has_low_keys(both)) sampled = SampledKeys::low;
  }
  bool has_exact_windows = differing_bits <= window;
  if constexpr (counts_few_keys<T>) {
    if (sampled == SampledKeys::few)
      return sort_few_keys<T>(distance_of(tile), length, {base, span}, codec.compare_mask,
                              codec.ignored_bits);
  }
  const int place_bits = place_bits_of<typename T::Word>(span);
  const bool is_low = sampled == SampledKeys::low;
  if (is_low) has_exact_windows = place_bits + span - 1 <= window;
  // Of fewer key values than bins, few bins would have all words.
  const bool adds_index = samples_keys<T> && span < T::bin_bits && !bins_are_equal;
  if (has_short_loop<T> && (is_low || adds_index)) {
    set_uneven_windows<T>(distance_of(tile), length, {base, span}, codec.compare_mask, is_low);
#pragma unroll
    for (int r = 0; r < T::items; ++r) words[r] = tile.striped(r);
    T::synchronise();
  } else {
    const auto index_bits = [](int r) {
      return static_cast<std::uint32_t>(r * T::threads + T::thread()) << (32 - T::index_bits);
    };
    if (is_low) {
#pragma unroll
      for (int r = 0; r < T::items; ++r) {
        const typename T::Word number = keys[r] - base;
        words[r] |=
            (floating_window(number, place_bits, index_bits(r)) >> segment_bits) & ~T::index_mask;
      }
    } else {
      if (adds_index) {
#pragma unroll
        for (int r = 0; r < T::items; ++r) words[r] |= (index_bits(r) >> span) & ~T::index_mask;
      }
#pragma unroll
      for (int r = 0; r < T::items; ++r)
        words[r] |= (bits_below(keys[r] - base, span) >> segment_bits) & ~T::index_mask;
    }
  }
  if constexpr (AreShort) {  // the words are already ordered by segment
    static_assert(T::warps == 1);
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.striped(r) = words[r];
    __syncwarp();
#pragma unroll
    for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
    if (segments.longest <= longest_short_run(segments.merge_rounds)) {
      sort_short_runs(words, T::thread(), segments.longest);
    } else {
      sort_middle_runs(words, T::thread(), segments.merge_rounds);
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
    __syncwarp();
  } else {
    if constexpr (T::warps > 1 || warps_distribute<typename T::Word, T::value_bytes>) {
      const Distribution distribution = sort_by_distribution(tile, words, length, bins_are_equal);
      if (distribution != Distribution::sorted) {
#pragma unroll
        for (int r = 0; r < T::items; ++r) tile.striped(r) = words[r];
        if constexpr (has_fine_bins<T>) {
          if (distribution == Distribution::dense)
            return sort_dense_tile<T>(distance_of(tile), length, segment_bits, {base, span},
                                      codec.compare_mask, codec.ignored_bits, has_exact_windows);
        }
        return sort_uneven_tile<T>(distance_of(tile), length, segment_bits, {base, span},
                                   codec.compare_mask, codec.ignored_bits, false);
      }
    } else {
      sort_words(tile, words);
    }
  }
  if (has_exact_windows) return false;
  // Ties of short segments are rarely worth other windows.
  if (resolve_ties<T, AreShort>(tile, words, length, codec.compare_mask) != Ties::long_runs)
    return false;
  return sort_uneven_tile<T>(distance_of(tile), length, segment_bits, {base, span},
                             codec.compare_mask, codec.ignored_bits, true);
}

}  // namespace sortie::segsort
