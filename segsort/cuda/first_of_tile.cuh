// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/bin_counts.cuh"
#include "segsort/cuda/tile_sort.cuh"

/// The first items of a tile of several warps, for selections: the others are not sorted.
namespace sortie::segsort {

/// Tiles of one segment of which sort_first() sorts the first items: in larger ones, few warps would
/// have work.
template <class T>
inline constexpr bool sorts_first = T::warps > 1 && T::warps <= 4;

/// Most items that sort_first() is asked for: with those that share the last bin, they fit a warp.
template <class T>
inline constexpr int most_first = 28 * T::items;

/// Sorts the `wanted` first items of a tile of one segment, as sort_tile() does, but for the items
/// behind them: from there on, tile.words is unspecified. Ends with a barrier.
///
///   registers of thread t   words of items t, threads + t, ...
///   tile.words              items in each bin of the highest bits; the first place of each bin; in the
///                           end, the words of the bins that have wanted items, in order
///
/// Items are counted by bin. The words of all bins up to that of the last wanted item go to their
/// bins, whose places are below those of one warp; that warp sorts them. No more than the numbers of
/// words differ from sort_by_distribution(): a bin spans at most two threads.
/// \param keys    as for sort_tile()
/// \return false if the keys are too unevenly spread. tile.keys and tile.values are then unchanged.
/// \pre 0 < wanted <= most_first<T>, wanted <= length
template <class T, class Codec>
__device__ __forceinline__ bool sort_first(T& tile, const typename T::Word (&keys)[T::items],
                                           int length, int wanted, const Codec& codec) {
  constexpr int bins = 1 << T::bin_bits;
  static_assert(bins % T::threads == 0);
  constexpr int window = 32 - T::index_bits;
  constexpr std::uint32_t nowhere = 0xffff;
  const int thread = T::thread();
  const auto [base, span] = key_range(tile, keys);
  if (span == 0) return false;
  const auto counter = [&](int bin) -> std::uint32_t& { return tile.words[banked(bin)]; };
  const auto bin_of = [](std::uint32_t word) {
    return static_cast<int>(word >> (32 - T::bin_bits));
  };
  const auto is_item = [&](int r) { return r * T::threads + thread < length; };

  for (int bin = thread; bin < bins; bin += T::threads) counter(bin) = 0;
  std::uint32_t words[T::items];
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const auto e = static_cast<std::uint32_t>(r * T::threads + thread);
    const std::uint32_t index_bits = span < T::bin_bits ? e << (32 - T::index_bits) >> span : 0;
    words[r] = ((bits_below(static_cast<typename T::Word>(keys[r] - base), span) | index_bits) &
                ~T::index_mask) |
               e;
  }
  T::synchronise();
#pragma unroll
  for (int r = 0; r < T::items; ++r)
    if (is_item(r)) atomicAdd(&counter(bin_of(words[r])), 1);
  T::synchronise();

  std::uint32_t counts[bins_of_thread<T>];
  std::uint32_t before = sum_counters(tile, counts);
  T::synchronise();
  before += sum_over_warps_before(tile);
  const auto limit = static_cast<std::uint32_t>(wanted);
  bool is_uneven = false;
#pragma unroll
  for (int i = 0; i < bins_of_thread<T>; ++i) {
    const int bin = thread * bins_of_thread<T> + i;
    counter(bin) = before;
    is_uneven |= before < limit && counts[i] > T::items;
    if (before < limit && before + counts[i] >= limit) {  // on one thread
      tile.least[0] = static_cast<std::uint32_t>(bin);
      tile.least[1] = before + counts[i];
    }
    before += counts[i];
  }
  if (T::any(is_uneven)) return false;
  const int last_bin = static_cast<int>(tile.least[0]);
  const int kept = static_cast<int>(tile.least[1]);  // fewer than wanted + T::items

  ShortNumbers<T::items, 16> places;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const bool is_kept = is_item(r) && bin_of(words[r]) <= last_bin;
    places.set(r, is_kept ? atomicAdd(&counter(bin_of(words[r])), 1) : nowhere);
  }
  T::synchronise();
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    if (places[r] != nowhere) tile.words[banked(static_cast<int>(places[r]))] = words[r];
    if (r * T::threads + thread >= kept) tile.striped(r) = 0xffffffffu;
  }
  T::synchronise();
  const bool is_sorting = thread < 32;
#pragma unroll
  for (int r = 0; r < T::items; ++r) words[r] = 0xffffffffu;
  if (is_sorting) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) words[r] = tile.blocked(r);
    sort_in_thread(words);
    exchange_with_neighbours<T, true>(tile, words);
    __syncwarp();
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.blocked(r) = words[r];
  }
  T::synchronise();
  return span - codec.ignored_bits <= window ||
         resolve_ties<T, false>(tile, words, kept, codec.compare_mask) != Ties::long_runs;
}

}  // namespace sortie::segsort
