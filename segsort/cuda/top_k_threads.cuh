// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "primitives/simd/exchange_network.hpp"
#include "segsort/cuda/top_k_lists.cuh"

/// Selection by one thread per segment.
namespace sortie::segsort {

/// Places of a tile with a gap after each 32, against bank conflicts.
__device__ __forceinline__ int in_tile(int i) {
  return i + i / 32;
}

/// Shared memory of a warp whose threads select from segments of up to Longest items.
template <class Key, int Longest>
struct ThreadTile {
  using Word = WordOf<Key>;
  static constexpr int most_items = 32 * Longest;
  static constexpr int most_results = most_items;
  static constexpr std::uint16_t no_item = 0xffff;
  Word items[most_items + Longest];                         ///< keys as in memory, widened
  std::uint16_t results[most_results + most_results / 32];  ///< items of the tile
};

/// Whether item (a, i) precedes item (b, j).
__device__ __forceinline__ bool precedes(std::uint32_t a, std::uint32_t i, std::uint32_t b,
                                         std::uint32_t j) {
  return (std::uint64_t{a} << 32 | i) < (std::uint64_t{b} << 32 | j);
}
__device__ __forceinline__ bool precedes(std::uint64_t a, std::uint32_t i, std::uint64_t b,
                                         std::uint32_t j) {
  return a < b || (a == b && i < j);
}

/// Sorts words, equal ones by their indices.
template <class Word, std::size_t Items, std::size_t... I>
__device__ __forceinline__ void sort_items(Word (&words)[Items], std::uint32_t (&indices)[Items],
                                           std::index_sequence<I...>) {
  constexpr auto network = comparators<Items>;
  const auto exchange = [&](std::size_t a, std::size_t b) {
    const bool swap = precedes(words[b], indices[b], words[a], indices[a]);
    const Word word = swap ? words[b] : words[a];
    const std::uint32_t index = swap ? indices[b] : indices[a];
    words[b] = swap ? words[a] : words[b];
    indices[b] = swap ? indices[a] : indices[b];
    words[a] = word;
    indices[a] = index;
  };
  (exchange(network[I].first, network[I].second), ...);
}

/// One segment per lane, by a network; lanes without one have length 0.
/// \param word_of  word_of(i): word of item i of the lane's segment
/// \param put      put(rank, word, i)
template <int Items, class Word, class WordOf, class Put>
__device__ __forceinline__ void select_by_network(const Selection& s, const WordOf& word_of,
                                                  const Put& put) {
  Word words[Items];
  std::uint32_t indices[Items];
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    const bool is_item = static_cast<std::uint64_t>(i) < s.length;
    words[i] = is_item ? word_of(i) : ~Word{0};
    indices[i] = is_item ? static_cast<std::uint32_t>(i) : ~std::uint32_t{0};
  }
  sort_items(words, indices, std::make_index_sequence<count_comparators<Items>()>());
#pragma unroll
  for (int i = 0; i < Items; ++i)
    if (static_cast<std::uint64_t>(i) < s.wanted) put(i, words[i], static_cast<int>(indices[i]));
}

/// Calls put(rank, word, i) for the selected items of one segment per lane.
/// \param longest  greatest length of the lanes, at most Longest
template <class Word, int Longest, class WordOf, class Put>
__device__ __forceinline__ void select_in_thread(const Selection& s, int longest,
                                                 const WordOf& word_of, const Put& put) {
  if (__all_sync(full_warp, s.wanted <= 1)) {
    if (s.wanted == 0) return;
    Word least = word_of(0);
    int place = 0;
    const auto length = static_cast<int>(s.length);
    for (int i = 1; i < length; ++i) {
      const Word word = word_of(i);
      if (word < least) place = i;
      least = min(least, word);
    }
    put(0, least, place);
  } else if (longest <= 4) {
    select_by_network<4, Word>(s, word_of, put);
  } else if (longest <= 8) {
    select_by_network<8, Word>(s, word_of, put);
  } else if constexpr (Longest >= 16) {
    if (longest <= 16) return select_by_network<16, Word>(s, word_of, put);
    if constexpr (Longest >= 32) select_by_network<32, Word>(s, word_of, put);
  }
}

/// Whether the ranges [begin, end) of the lanes in `lanes` ascend without overlap.
__device__ __forceinline__ bool in_a_row(unsigned int lanes, std::uint64_t begin,
                                         std::uint64_t end) {
  const unsigned int lower = lanes & lanes_below();
  const std::uint64_t end_before = __shfl_sync(full_warp, end, highest_bit(lower) & 31);
  const bool first = lower == 0 || (lanes >> lane() & 1) == 0;
  return __all_sync(full_warp, first || end_before <= begin) != 0;
}

/// Selects in one segment of each lane in `lanes`; the others have length 0. All lanes of the warp
/// take part.
/// \param in_order  the segments ascend and, with what is between them, fit the tile: they are read
///                  in whole lines, and results are written in whole lines
/// \param after_load  called by all lanes when most items have been read
template <class Key, int Longest, class AfterLoad>
__device__ __forceinline__ void select_in_threads(const TopKArguments<Key>& arguments,
                                                  ThreadTile<Key, Longest>& tile,
                                                  const Selection& s, unsigned int lanes,
                                                  bool in_order, const AfterLoad& after_load) {
  using Word = WordOf<Key>;
  const std::uint64_t end = s.begin + s.length;
  const int first_one = first_lane(lanes);
  const int last_one = highest_bit(lanes);
  const int longest = max_in_warp(static_cast<int>(s.length));
  if (!in_order) {
    after_load();
    const Key* const keys = arguments.keys_in + s.begin;
    select_in_thread<Word, Longest>(
        s, longest, [&](int i) { return arguments.codec.encoded(keys[i]); },
        [&](int rank, Word word, int i) { arguments.put(s.out + rank, word, s.begin + i); });
    return;
  }
  const std::uint64_t base = __shfl_sync(full_warp, s.begin, first_one);
  const auto items = static_cast<int>(__shfl_sync(full_warp, end, last_one) - base);
  const std::uint64_t out_end = s.out + s.wanted;
  const std::uint64_t out_base = __shfl_sync(full_warp, s.out, first_one);
  const std::uint64_t span = __shfl_sync(full_warp, out_end, last_one) - out_base;
  const bool collects = in_a_row(lanes, s.out, out_end) &&
                        span <= static_cast<std::uint64_t>(ThreadTile<Key, Longest>::most_results);
  __syncwarp();  // the tile is free
  for (int i = static_cast<int>(lane()); i < items; i += 32) {
    if constexpr (sizeof(Key) < 4) {
      tile.items[in_tile(i)] = arguments.keys_in[base + i];
    } else {
      copy_async(&tile.items[in_tile(i)], arguments.keys_in + base + i);
    }
  }
  const auto results = collects ? static_cast<int>(span) : 0;
  for (int o = static_cast<int>(lane()); o < results; o += 32)
    tile.results[in_tile(o)] = ThreadTile<Key, Longest>::no_item;
  wait_for_copies();
  __syncwarp();
  after_load();
  const auto first = static_cast<int>(s.begin - base);
  const auto first_out = static_cast<int>(s.out - out_base);
  const auto word_of_item = [&](int i) {
    return arguments.codec.encoded(static_cast<Key>(tile.items[in_tile(i)]));
  };
  select_in_thread<Word, Longest>(
      s, longest, [&](int i) { return word_of_item(first + i); },
      [&](int rank, Word word, int i) {
        if (collects) {
          tile.results[in_tile(first_out + rank)] = static_cast<std::uint16_t>(first + i);
        } else {
          arguments.put(s.out + rank, word, s.begin + i);
        }
      });
  __syncwarp();
  for (int o = static_cast<int>(lane()); o < results; o += 32) {
    const std::uint16_t item = tile.results[in_tile(o)];
    if (item != ThreadTile<Key, Longest>::no_item)
      arguments.put(out_base + o, word_of_item(item), base + item);
  }
}

/// Segments that fit a thread; lists the others. Each warp takes chunks of segments.
/// \tparam Longest  longest segment of a thread
template <class Key, int Longest>
__global__ void __launch_bounds__(32 * top_k_warps, Longest == 8 ? 8 : 5)
    top_k_thread_kernel(const TopKArguments<Key> arguments) {
  wait_for_preceding_kernels();
  __shared__ ThreadTile<Key, Longest> tiles[top_k_warps];
  const TopKLists& lists = arguments.lists;
  const std::uint64_t segments = arguments.segments();
  const std::uint64_t step = std::uint64_t{gridDim.x} * top_k_warps * 32;
  std::uint64_t first = (std::uint64_t{blockIdx.x} * top_k_warps + threadIdx.x / 32) * 32;
  const auto read = [&](std::uint64_t chunk) {
    const std::uint64_t segment = chunk + lane();
    return segment < segments ? read_selection(arguments, segment) : Selection{};
  };
  Selection next = read(first);
  prefetch_selection(arguments, next, true);
  for (; first < segments; first += step) {
    Selection s = next;
    next = read(first + step);
    if (s.wanted == 0) s.length = 0;
    if (__any_sync(full_warp, s.length > arguments.warp_longest))
      list_for_blocks(arguments, first + lane(), s);
    if (s.length > arguments.warp_longest) s.length = s.wanted = 0;
    // Few segments longer than the others are left to warps.
    constexpr int fewest_wide = 5;
    const bool wide = s.length > longest_of_any_thread && s.length <= Longest;
    const bool wide_in_threads = __popc(__ballot_sync(full_warp, wide)) >= fewest_wide;
    const bool for_warp = s.length > longest_of_any_thread && !(wide && wide_in_threads);
    if (const unsigned int listed = __ballot_sync(full_warp, for_warp); listed != 0) {
      unsigned long long place = 0;
      if (lane() == 0) place = atomicAdd(&lists.counters->warp_segments, lanes_of(listed));
      place = __shfl_sync(full_warp, place, 0);
      if (for_warp) {
        lists.warp_segments[place + rank_among(listed)] = first + lane();
        s.length = s.wanted = 0;
      }
    }
    bool prefetched = false;
    const auto prefetch_next = [&] {
      if (!prefetched) prefetch_selection(arguments, next, true);
      prefetched = true;
    };
    // Segments that fit the tile together, with what is between them.
    constexpr std::uint64_t most = ThreadTile<Key, Longest>::most_items;
    const std::uint64_t end = s.begin + s.length;
    unsigned int rest = __ballot_sync(full_warp, s.length != 0);
    const bool in_order = in_a_row(rest, s.begin, end);
    while (rest != 0) {
      const std::uint64_t base = __shfl_sync(full_warp, s.begin, first_lane(rest));
      const bool fits = (rest >> lane() & 1) != 0 && (!in_order || end - base <= most);
      const unsigned int group = __ballot_sync(full_warp, fits);
      const Selection own = fits ? s : Selection{};
      select_in_threads(arguments, tiles[threadIdx.x / 32], own, group, in_order, prefetch_next);
      rest &= ~group;
    }
    prefetch_next();
  }
}

}  // namespace sortie::segsort
