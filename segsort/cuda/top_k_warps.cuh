// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/top_k_lists.cuh"

/// Selection by one warp per segment.
namespace sortie::segsort {

/// Ranks `count` candidates, at most most_ranked and ordered by position, and writes the first.
template <class Key, class Word, class Position>
__device__ __forceinline__ void put_ranked(const TopKArguments<Key>& arguments, const Word* words,
                                           const Position* positions, int count,
                                           const Selection& s) {
  for (int i = static_cast<int>(lane()); i < count; i += 32) {
    const Word own = words[i];
    std::uint32_t rank = 0;
    for (int j = 0; j < count; ++j) rank += words[j] < own || (words[j] == own && j < i) ? 1 : 0;
    if (rank < s.wanted) arguments.put(s.out + rank, own, s.begin + positions[i]);
  }
}

/// Items that pass the bound of a segment which a warp reads in chunks, before they are reduced.
inline constexpr std::uint32_t most_streamed = 256;
/// Items of such a chunk: more would need more registers than the kernel has.
inline constexpr std::uint32_t stream_chunk = 512;

/// Shared memory of a warp that selects from one segment.
template <class Word>
union TopKTile {
  struct {
    Word words[most_streamed];
    std::uint32_t positions[most_streamed];
  } candidates;
  std::uint32_t selected[longest_of_warp];
};

/// What a warp has left in its tile: candidates to be ranked, or the positions of the selected.
struct Staged {
  std::uint32_t count;
  bool ranked;
};

/// Calls put(number, word, item) for the selected of the words in the registers of a warp, which
/// are numbered in the order of items. Word r of lane l is item 32 * r + l.
/// \return number of words selected
template <int Rows, class Word, class Selected, class Put>
__device__ __forceinline__ std::uint32_t for_each_selected(const Word (&words)[Rows],
                                                           const Selected& selected,
                                                           const Put& put) {
  std::uint32_t before = 0;
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const bool mine = selected(r);
    const unsigned int all = __ballot_sync(full_warp, mine);
    if (mine) put(before + rank_among(all), words[r], static_cast<std::uint32_t>(32 * r) + lane());
    before += lanes_of(all);
  }
  return before;
}

template <int Rows, class Key>
__device__ __forceinline__ Staged select_in_warp(const TopKArguments<Key>& arguments,
                                                 TopKTile<WordOf<Key>>& tile, const Selection& s) {
  using Word = WordOf<Key>;
  const auto length = static_cast<std::uint32_t>(s.length);
  const auto wanted = static_cast<std::uint32_t>(s.wanted);
  const Key* const keys = arguments.keys_in + s.begin;
  Word words[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const std::uint32_t i = 32 * r + lane();
    words[r] = i < length ? arguments.codec.encoded(keys[i]) : ~Word{0};
  }
  __syncwarp();  // the tile is free
  const auto stage = [&](std::uint32_t at, Word word, std::uint32_t i) {
    if (at >= most_ranked) return;
    tile.candidates.words[at] = word;
    tile.candidates.positions[at] = i;
  };
  const auto is_item = [&](int r) { return 32 * r + lane() < length; };
  constexpr int groups_of_lane = Rows >= 4 ? 2 : 1;
  // The wanted-th of the minima of groups of items bounds the wanted-th item from above. With small
  // groups and many wanted items, too many others are within the bound.
  const std::uint32_t most_by_minima = Rows == 1 ? 32 : Rows <= 4 ? 8 * groups_of_lane : 32;
  if (wanted <= most_by_minima && wanted < length) {
    Word minima[groups_of_lane];
#pragma unroll
    for (int g = 0; g < groups_of_lane; ++g) {
      minima[g] = words[g];
#pragma unroll
      for (int r = g; r < Rows; r += groups_of_lane) minima[g] = min(minima[g], words[r]);
    }
    Word bound = 0;
    if (wanted == 1) {
      bound =
          min_in_warp(groups_of_lane == 1 ? minima[0] : min(minima[0], minima[groups_of_lane - 1]));
    } else {
      bound = threshold_in_warp(minima, wanted).greatest();
    }
    const std::uint32_t count = for_each_selected(
        words, [&](int r) { return words[r] <= bound && is_item(r); }, stage);
    __syncwarp();
    if (count <= most_ranked) return {count, true};
  }
  Threshold<Word> threshold{~Word{0}, length};
  if (wanted < length) threshold = threshold_in_warp(words, wanted);
  std::uint32_t ties = 0;
  const auto selected = [&](int r) {
    const bool equal = words[r] == threshold.word && is_item(r);
    const unsigned int all = __ballot_sync(full_warp, equal);
    const bool mine =
        words[r] < threshold.word || (equal && ties + rank_among(all) < threshold.ties);
    ties += lanes_of(all);
    return mine;
  };
  if (arguments.sorted) {
    for_each_selected(words, selected, stage);
  } else {
    for_each_selected(words, selected,
                      [&](std::uint32_t at, Word, std::uint32_t i) { tile.selected[at] = i; });
  }
  return {wanted, arguments.sorted};
}

/// Keeps the `wanted` first of `count` candidates, which are ordered by position.
/// \pre 0 < wanted < count <= most_streamed
/// \return the greatest word kept
template <class Word>
__device__ __forceinline__ Word reduce_in_warp_tile(TopKTile<Word>& tile, std::uint32_t count,
                                                    std::uint32_t wanted) {
  constexpr int rows = most_streamed / 32;
  __syncwarp();
  Word words[rows];
  std::uint32_t positions[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::uint32_t i = 32 * r + lane();
    words[r] = i < count ? tile.candidates.words[i] : ~Word{0};
    positions[r] = i < count ? tile.candidates.positions[i] : 0;
  }
  const Threshold<Word> threshold = threshold_in_warp(words, wanted);
  __syncwarp();
  std::uint32_t kept = 0;
  std::uint32_t ties = 0;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const bool equal = words[r] == threshold.word && 32 * r + lane() < count;
    const unsigned int all_equal = __ballot_sync(full_warp, equal);
    const bool mine =
        words[r] < threshold.word || (equal && ties + rank_among(all_equal) < threshold.ties);
    ties += lanes_of(all_equal);
    const unsigned int all = __ballot_sync(full_warp, mine);
    if (mine) {
      const std::uint32_t at = kept + rank_among(all);
      tile.candidates.words[at] = words[r];
      tile.candidates.positions[at] = positions[r];
    }
    kept += lanes_of(all);
  }
  __syncwarp();
  return threshold.greatest();
}

/// Selects from a segment of more than longest_of_warp items, which the warp reads in chunks. Items
/// up to a bound enter the tile; when that is full, its wanted-th word gives the next bound.
/// \pre wanted <= most_sorted_in_kernel
template <class Key>
__device__ __forceinline__ Staged stream_in_warp(const TopKArguments<Key>& arguments,
                                                 TopKTile<WordOf<Key>>& tile, const Selection& s) {
  using Word = WordOf<Key>;
  constexpr int rows = stream_chunk / 32;
  const auto length = static_cast<std::uint32_t>(s.length);
  const auto wanted = static_cast<std::uint32_t>(s.wanted);
  const Key* const keys = arguments.keys_in + s.begin;
  Word bound = ~Word{0};
  std::uint32_t count = 0;
  bool is_full = false;  // nothing more can pass
  __syncwarp();          // the tile is free
#pragma unroll 1
  for (std::uint32_t begin = 0; begin < length && !is_full; begin += stream_chunk) {
    Word words[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::uint32_t i = begin + 32 * r + lane();
      words[r] = i < length ? arguments.codec.encoded(keys[i]) : ~Word{0};
    }
    if (begin == 0) {
      Word minima[2] = {words[0], words[1]};
#pragma unroll
      for (int r = 2; r < rows; ++r) minima[r % 2] = min(minima[r % 2], words[r]);
      bound = wanted == 1 ? min_in_warp(min(minima[0], minima[1]))
                          : threshold_in_warp(minima, wanted).greatest();
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::uint32_t i = begin + 32 * r + lane();
      unsigned int passing = __ballot_sync(full_warp, words[r] <= bound && i < length);
      if (passing == 0 || is_full) continue;
      if (count + 32 > most_streamed) {
        const Word last = reduce_in_warp_tile(tile, count, wanted);
        count = wanted;
        // Later items lose against equal ones.
        is_full = last == 0;
        bound = last - 1;
        passing = is_full ? 0 : __ballot_sync(full_warp, words[r] <= bound && i < length);
      }
      if ((passing >> lane() & 1) != 0) {
        const std::uint32_t at = count + rank_among(passing);
        tile.candidates.words[at] = words[r];
        tile.candidates.positions[at] = i;
      }
      count += lanes_of(passing);
    }
  }
  if (count > most_ranked) {
    reduce_in_warp_tile(tile, count, wanted);
    count = wanted;
  }
  return {count, true};
}

/// Selects the least item of each of the lanes' segments that has up to longest_of_lanes items and
/// wants one: eight lanes read one segment, four segments at a time.
/// \return the lanes whose segments are done
template <class Key>
__device__ __forceinline__ unsigned int put_least_of_each(const TopKArguments<Key>& arguments,
                                                          const Selection& s) {
  using Word = WordOf<Key>;
  constexpr int lanes_each = 8;
  constexpr int at_once = 32 / lanes_each;
  constexpr int ahead = 8;
  const bool mine = s.wanted == 1 && s.length <= longest_of_lanes;
  const unsigned int all = __ballot_sync(full_warp, mine);
  const std::uint32_t own_length = mine ? static_cast<std::uint32_t>(s.length) : 0;
  const std::uint32_t member = lane() % lanes_each;
#pragma unroll 1
  for (int first = 0; first < 32; first += at_once) {
    if ((all >> first & ((1u << at_once) - 1)) == 0) continue;
    const int owner = first + static_cast<int>(lane() / lanes_each);
    const std::uint64_t begin = __shfl_sync(full_warp, s.begin, owner);
    const std::uint64_t out = __shfl_sync(full_warp, s.out, owner);
    const std::uint32_t length = __shfl_sync(full_warp, own_length, owner);
    const Key* const keys = arguments.keys_in + begin;
    Word least = ~Word{0};
    std::uint32_t place = member < length ? member : ~std::uint32_t{0};
    for (std::uint32_t base = member; base < length; base += lanes_each * ahead) {
      Word words[ahead];
#pragma unroll
      for (int r = 0; r < ahead; ++r)
        words[r] = base + lanes_each * r < length
                       ? arguments.codec.encoded(keys[base + lanes_each * r])
                       : ~Word{0};
#pragma unroll
      for (int r = 0; r < ahead; ++r) {
        if (words[r] < least) place = base + lanes_each * r;
        least = min(least, words[r]);
      }
    }
    __syncwarp();
#pragma unroll
    for (int distance = lanes_each / 2; distance > 0; distance /= 2) {
      const Word other = __shfl_xor_sync(full_warp, least, distance);
      const std::uint32_t other_place = __shfl_xor_sync(full_warp, place, distance);
      if (other < least || (other == least && other_place < place)) place = other_place;
      least = min(least, other);
    }
    if (member == 0 && length != 0) arguments.put(out, least, begin + place);
  }
  return all;
}

/// Writes what a warp has staged.
template <class Key>
__device__ __forceinline__ void put_staged(const TopKArguments<Key>& arguments,
                                           const TopKTile<WordOf<Key>>& tile, const Selection& s,
                                           const Staged& staged) {
  __syncwarp();
  if (staged.ranked) {
    put_ranked(arguments, tile.candidates.words, tile.candidates.positions,
               static_cast<int>(staged.count), s);
    return;
  }
  for (std::uint32_t i = lane(); i < staged.count; i += 32) {
    const std::uint64_t position = s.begin + tile.selected[i];
    arguments.put(s.out + i, arguments.codec.encoded(arguments.keys_in[position]), position);
  }
}

/// Segments of up to warp_longest items: those listed, or if there is no list, all; then lists the
/// longer ones. Each warp takes chunks of segments.
template <class Key>
__global__ void __launch_bounds__(32 * top_k_warps, sizeof(Key) <= 4 ? 7 : 4)
    top_k_warp_kernel(const TopKArguments<Key> arguments) {
  wait_for_preceding_kernels();
  using Word = WordOf<Key>;
  __shared__ TopKTile<Word> tiles[top_k_warps];
  TopKTile<Word>& tile = tiles[threadIdx.x / 32];
  const std::uint64_t* const list = arguments.lists.warp_segments;
  const std::uint64_t segments =
      list == nullptr ? arguments.segments() : arguments.lists.counters->warp_segments;
  const std::uint64_t step = std::uint64_t{gridDim.x} * top_k_warps * arguments.chunk;
  std::uint64_t first =
      (std::uint64_t{blockIdx.x} * top_k_warps + threadIdx.x / 32) * arguments.chunk;
  const auto read = [&](std::uint64_t chunk) {
    const std::uint64_t i = chunk + lane();
    if (lane() >= arguments.chunk || i >= segments) return Selection{};
    return list == nullptr ? read_selection(arguments, i) : selection_of(arguments, list[i]);
  };
  Selection next = read(first);
  prefetch_selection(arguments, next, false);
  for (; first < segments; first += step) {
    Selection s = next;
    next = read(first + step);
    const std::uint64_t longest = arguments.warp_longest;
    if (__any_sync(full_warp, s.length > longest)) list_for_blocks(arguments, first + lane(), s);
    prefetch_selection(arguments, next, false);
    unsigned int rest = __ballot_sync(full_warp, s.wanted != 0 && s.length <= longest);
    if (arguments.k == 1) rest &= ~put_least_of_each(arguments, s);
    for (; rest != 0; rest &= rest - 1) {
      const int owner = first_lane(rest);
      const Selection one{
          __shfl_sync(full_warp, s.begin, owner), __shfl_sync(full_warp, s.length, owner),
          __shfl_sync(full_warp, s.out, owner), __shfl_sync(full_warp, s.wanted, owner)};
      Staged staged;
      if (one.length <= 32) {
        staged = select_in_warp<1>(arguments, tile, one);
      } else if (one.length <= 64) {
        staged = select_in_warp<2>(arguments, tile, one);
      } else if (one.length <= 128) {
        staged = select_in_warp<4>(arguments, tile, one);
      } else if (one.length <= 256) {
        staged = select_in_warp<8>(arguments, tile, one);
      } else if (one.length <= 512) {
        staged = select_in_warp<16>(arguments, tile, one);
      } else if (one.length <= longest_of_warp) {
        staged = select_in_warp<32>(arguments, tile, one);
      } else {
        staged = stream_in_warp(arguments, tile, one);
      }
      put_staged(arguments, tile, one, staged);
    }
  }
}

}  // namespace sortie::segsort
