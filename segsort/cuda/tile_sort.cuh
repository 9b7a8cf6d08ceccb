// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/policy.cuh"
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
/// windows are sorted by one thread each; if a run is long, the tile is sorted again digit by
/// digit, least significant first, with the window as the digit.
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
__device__ __forceinline__ bool has_ordered_ties(const T& tile, int length,
                                                 typename T::Word compare_mask) {
  bool inverted = false;
  for (int position = T::thread(); position + 1 < length; position += T::threads) {
    const std::uint32_t word = tile.word(position);
    const std::uint32_t next = tile.word(position + 1);
    inverted |=
        (word ^ next) <= T::index_mask && (tile.keys[word & T::index_mask] & compare_mask) >
                                              (tile.keys[next & T::index_mask] & compare_mask);
  }
  return !T::any(inverted);
}

/// Sorts a tile again by all bits, unless it is in order: one pass per digit of `window` bits,
/// least significant first. In tiles of several warps the passes overwrite the values.
/// \return whether there were passes
template <class T>
__device__ __noinline__ bool sort_by_digits(T& tile, int length, int segment_bits, int window,
                                            typename T::Word base, typename T::Word compare_mask,
                                            int first_bit, int bits) {
  // In the kernel of short segments, the check would cost registers that all segments need.
  if constexpr (T::warps > 1 || T::is_of_team)
    if (has_ordered_ties(tile, length, compare_mask)) return false;
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

/// Sorts runs of equal windows by whole keys: the thread that holds the first word of a run sorts
/// it. `words` are those that sort_words() left. Ends with a barrier, unless there are no ties.
/// Does nothing if any run is longer than longest_resolved_run.
template <class T>
__device__ __forceinline__ Ties resolve_ties(T& tile, const std::uint32_t (&words)[T::items],
                                             int length, typename T::Word compare_mask) {
  static_assert(longest_resolved_run <= 16 && T::items <= 16, "four bits a position");
  // Words differ, so equal windows leave a difference of 1 .. index_mask; padding leaves 0.
  const auto same = [](std::uint32_t a, std::uint32_t b) { return (a ^ b) - 1 < T::index_mask; };
  const int thread = T::thread();
  const std::uint32_t next =
      thread + 1 < T::threads ? tile.word((thread + 1) * T::items) : 0xffffffffu;
  std::uint32_t nearest = (words[T::items - 1] ^ next) - 1;
#pragma unroll
  for (int r = 0; r + 1 < T::items; ++r) nearest = min(nearest, (words[r] ^ words[r + 1]) - 1);
  if (!T::any(nearest < T::index_mask)) return Ties::none;

  bool long_run = false;
  std::uint32_t starts = 0;
  std::uint64_t lengths = 0;  // of the runs, minus one
  if (nearest < T::index_mask) {
    std::uint32_t equals_next = same(words[T::items - 1], next) ? 1u << (T::items - 1) : 0;
#pragma unroll
    for (int r = 0; r + 1 < T::items; ++r)
      if (same(words[r], words[r + 1])) equals_next |= 1u << r;
    // The word of the last item may equal padding, but padding is not an item.
    equals_next &= (1u << min(max(length - 1 - thread * T::items, 0), T::items)) - 1;
    std::uint32_t equals_previous = equals_next << 1;
    if (thread > 0 && same(tile.word(thread * T::items - 1), words[0])) equals_previous |= 1;
    starts = equals_next & ~equals_previous;
    for (std::uint32_t rest = starts; rest != 0; rest &= rest - 1) {
      const int r = __ffs(static_cast<int>(rest)) - 1;
      const int position = thread * T::items + r;
      const std::uint32_t word = tile.word(position);
      int run = 1;
      while (run <= longest_resolved_run && position + run < length &&
             same(word, tile.word(position + run)))
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
#pragma unroll
  for (int r = 0; r < T::items; ++r)
    words[r] |= (bits_below(keys[r] - base, span) >> segment_bits) & ~T::index_mask;
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
    bool sorted = false;
    if constexpr (T::warps > 1 || warps_distribute<typename T::Word, T::value_bytes>) {
      // Keys alone that agree in all bits are interchangeable, so the bins need not be sorted.
      const bool bins_are_equal =
          T::value_bytes == 0 && codec.ignored_bits == 0 && segment_bits + span <= T::bin_bits;
      sorted = sort_by_distribution(tile, words, length, bins_are_equal);
    }
    if (!sorted) sort_words(tile, words);
  }
  const int differing_bits = span - codec.ignored_bits;
  if (differing_bits <= window) return false;
  if (resolve_ties(tile, words, length, codec.compare_mask) != Ties::long_runs) return false;
  if constexpr (T::ids_alias_values) finish_values(tile);
  const bool has_moved = sort_by_digits(tile, length, segment_bits, window, base,
                                        codec.compare_mask, codec.ignored_bits, differing_bits);
  return T::ids_alias_values && has_moved;
}

}  // namespace sortie::segsort
