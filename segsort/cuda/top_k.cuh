// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"
#include "primitives/key_codec.hpp"
#include "primitives/simd/exchange_network.hpp"
#include "segsort/cuda/arguments.cuh"

/// Selection of the k first keys of each segment. Keys are words that ascend in the requested order
/// (KeyCodec), so that the k least words are wanted, those at the lowest positions among equal ones.
///
/// | Length                  | By       | Method                                                     |
/// |-------------------------|----------|------------------------------------------------------------|
/// | up to 32 (8-byte: 16)   | a thread | the least, or a sorting network in registers               |
/// | up to 1024              | a warp   | threshold of all items in registers                        |
/// | up to 65536             | a block  | items below a threshold enter a buffer in shared memory;   |
/// |                         |          | when it is full, its k-th word is the next threshold       |
/// | longer                  | blocks   | parts as above; the last block of 32 merges their results  |
namespace sortie::segsort {

/// Longer segments of threads are listed for warps if a chunk has few of them.
inline constexpr int longest_of_any_thread = 8;
inline constexpr int longest_of_warp = 1024;
inline constexpr std::uint64_t longest_of_block = 65536;
/// Parts of longer segments: of at least this many items, at most 32 * 32 per segment.
inline constexpr std::uint64_t shortest_part = 16384;
inline constexpr std::uint64_t parts_of_group = 32;
inline constexpr std::uint64_t most_parts = parts_of_group * parts_of_group;

inline constexpr int top_k_warps = 4;
inline constexpr int top_k_block = 256;
inline constexpr int items_of_thread = 8;
/// Items that a block reads at a time.
inline constexpr int top_k_chunk = top_k_block * items_of_thread;
/// Greatest k of the selection kernels.
inline constexpr std::int64_t most_selected = 2048;
/// Up to this k, the kernels sort the results themselves.
inline constexpr std::int64_t most_sorted_in_kernel = 32;
/// Candidates that a warp ranks by comparing each with all.
inline constexpr int most_ranked = 64;

/// Items that a block's buffer needs for this k.
constexpr int buffer_capacity(std::int64_t k) {
  return top_k_chunk + (k > 512 ? 2 * static_cast<int>(most_selected) : 1024);
}

/// A segment of more than longest_of_block items.
struct LongSegment {
  std::uint64_t segment;
  std::uint64_t first_part;   ///< among the parts of all such segments
  std::uint64_t first_group;  ///< among all groups of parts
};

struct TopKCounters {
  unsigned long long warp_segments;
  unsigned long long block_segments;
  unsigned long long long_segments;
  unsigned long long parts;
  unsigned long long groups;
  unsigned long long next_task;
};

/// Arrays in temporary storage.
struct TopKLists {
  TopKCounters* counters;
  unsigned int* parts_done;      ///< of each group; 0 at first
  unsigned int* groups_done;     ///< of each long segment; 0 at first
  std::uint64_t* warp_segments;  ///< null: warps select from all segments
  std::uint64_t* block_segments;
  LongSegment* long_segments;
  std::uint32_t* part_owner;  ///< index of the long segment
  void* candidates;           ///< keys: k of each part, then k of each group
  std::uint64_t* positions;   ///< of the candidates
  std::uint64_t part_capacity;
  std::uint64_t* begins;  ///< extents of the results of each segment, for the sort of the results;
  std::uint64_t* ends;    ///< null: not wanted
};

template <class Word>
struct TopKArguments {
  const Word* keys_in;
  Word* keys_out;
  const void* values_in;
  void* values_out;
  int value_bytes;
  DeviceOffsets begin_offsets;
  DeviceOffsets end_offsets;
  DeviceOffsets output_offsets;
  std::uint64_t num_items;
  std::uint64_t num_segments;
  std::uint64_t row_length;  ///< without offsets: of each segment
  const std::int64_t* device_num_segments;
  std::uint64_t k;
  KeyCodec<Word> codec;
  bool sorted;         ///< by the kernels
  unsigned int chunk;  ///< segments that a warp takes at a time, at most 32
  int capacity;        ///< of a block's buffer
  TopKLists lists;

  [[nodiscard]] __device__ std::uint64_t segments() const {
    if (device_num_segments == nullptr) return num_segments;
    return min(static_cast<std::uint64_t>(max(*device_num_segments, std::int64_t{0})),
               num_segments);
  }
  /// Writes a selected item. \param position  in the array
  __device__ void put(std::uint64_t at, Word word, std::uint64_t position) const {
    if (keys_out != nullptr) keys_out[at] = codec.decoded(word);
    if (value_bytes == 4) {
      static_cast<std::uint32_t*>(values_out)[at] =
          values_in == nullptr ? static_cast<std::uint32_t>(position)
                               : static_cast<const std::uint32_t*>(values_in)[position];
    } else if (value_bytes == 8) {
      static_cast<std::uint64_t*>(values_out)[at] =
          values_in == nullptr ? position : static_cast<const std::uint64_t*>(values_in)[position];
    }
  }
};

/// A segment, and the place of its results.
struct Selection {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t out = 0;
  std::uint64_t wanted = 0;  ///< k, at most the length
};

template <class Word>
__device__ Selection selection_of(const TopKArguments<Word>& arguments, std::uint64_t segment) {
  Selection s;
  if (arguments.begin_offsets.data == nullptr) {
    s.begin = segment * arguments.row_length;
    s.length = arguments.row_length;
  } else {
    s.begin = arguments.begin_offsets[segment];
    const std::uint64_t end = arguments.end_offsets[segment];
    s.length = end > s.begin ? end - s.begin : 0;
  }
  std::uint64_t k = arguments.k;
  s.out = segment * k;
  if (arguments.output_offsets.data != nullptr) {
    s.out = arguments.output_offsets[segment];
    k = min(k, arguments.output_offsets[segment + 1] - s.out);
  }
  s.wanted = min(k, s.length);
  return s;
}

/// Division of a long segment into parts.
struct Parts {
  std::uint64_t size;
  std::uint64_t count;
  std::uint64_t groups;

  __device__ explicit Parts(std::uint64_t length)
      : size(max(shortest_part, (length - 1) / most_parts + 1)),
        count((length - 1) / size + 1),
        groups((count - 1) / parts_of_group + 1) {}
};

__device__ __forceinline__ std::uint32_t total_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(full_warp, value);
#else
  return sum_in_warp(value);
#endif
}
__device__ __forceinline__ std::uint32_t bits_of_warp(std::uint32_t bits) {
  return or_in_warp(bits);
}
__device__ __forceinline__ std::uint64_t bits_of_warp(std::uint64_t bits) {
  return std::uint64_t{or_in_warp(static_cast<std::uint32_t>(bits >> 32))} << 32 |
         or_in_warp(static_cast<std::uint32_t>(bits));
}
/// Number of the highest bit that is set, -1 for 0.
template <class Word>
__device__ __forceinline__ int highest_bit(Word bits) {
  if constexpr (sizeof(Word) == 4) {
    return 31 - __clz(static_cast<int>(bits));
  } else {
    return 63 - __clzll(static_cast<long long>(bits));
  }
}

/// The words selected: those less than `word`, and the first `ties` of those equal to it.
template <class Word>
struct Threshold {
  Word word;
  std::uint32_t ties;

  /// The greatest selected word; the ties are then not restricted.
  [[nodiscard]] __device__ Word greatest() const { return ties == 0 ? word - 1 : word; }
};

/// The threshold of the `wanted` least words, by its bits from the highest that differs. Ends when
/// a prefix selects exactly `wanted`: for random words after about log2(n) + 2 bits.
///
/// \param low      the common bits of all words, followed by zeros
/// \param bit      the highest bit that differs, or -1
/// \param less     less(word): number of words that are less
template <class Word, class Less>
__device__ __forceinline__ Threshold<Word> find_threshold(Word low, int bit, std::uint32_t wanted,
                                                          const Less& less) {
  std::uint32_t below = 0;
  for (; bit >= 0; --bit) {
    const Word middle = low | Word{1} << bit;
    const std::uint32_t count = less(middle);
    if (count == wanted) return {middle, 0};
    if (count < wanted) {
      low = middle;
      below = count;
    }
  }
  return {low, wanted - below};
}

template <class Word>
__device__ __forceinline__ Word without_low_bits(Word word, int bit) {
  return bit < 0 ? word : static_cast<Word>(word >> bit >> 1 << bit << 1);
}

/// The threshold of words in the registers of a warp; words of lanes without one are all ones.
/// \pre 0 < wanted <= number of words
template <int Rows, class Word>
__device__ __forceinline__ Threshold<Word> threshold_in_warp(const Word (&words)[Rows],
                                                             std::uint32_t wanted) {
  const Word first = __shfl_sync(full_warp, words[0], 0);
  Word different = 0;
#pragma unroll
  for (int r = 0; r < Rows; ++r) different |= words[r] ^ first;
  const int bit = highest_bit(bits_of_warp(different));
  return find_threshold(without_low_bits(first, bit), bit, wanted, [&](Word middle) {
    std::uint32_t count = 0;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      // Votes take less time than the sum over a warp.
      count += Rows <= 2 ? lanes_of(__ballot_sync(full_warp, words[r] < middle))
                         : (words[r] < middle ? 1 : 0);
    }
    return Rows <= 2 ? count : total_of_warp(count);
  });
}

/// Ranks `count` candidates, at most most_ranked and ordered by position, and writes the first.
template <class Word, class Position>
__device__ __forceinline__ void put_ranked(const TopKArguments<Word>& arguments, const Word* words,
                                           const Position* positions, int count,
                                           const Selection& s) {
  for (int i = static_cast<int>(lane()); i < count; i += 32) {
    const Word own = words[i];
    std::uint32_t rank = 0;
    for (int j = 0; j < count; ++j) rank += words[j] < own || (words[j] == own && j < i) ? 1 : 0;
    if (rank < s.wanted) arguments.put(s.out + rank, own, s.begin + positions[i]);
  }
}

/// Longest segment of a thread.
template <class Word>
inline constexpr int longest_of_thread = sizeof(Word) == 4 ? 32 : 16;

/// Shared memory of a warp that selects from one segment.
template <class Word>
union TopKTile {
  struct {
    Word words[most_ranked];
    std::uint32_t positions[most_ranked];
  } candidates;
  std::uint32_t selected[longest_of_warp];
};

/// Places of a tile with a gap after each 32, against bank conflicts.
__device__ __forceinline__ int in_tile(int i) {
  return i + i / 32;
}

/// Shared memory of a warp whose threads select from segments of up to Longest items.
template <class Word, int Longest>
struct ThreadTile {
  static constexpr int most_items = 32 * Longest;
  static constexpr int most_results = most_items;
  static constexpr std::uint16_t no_item = 0xffff;
  Word items[most_items + Longest];
  std::uint16_t results[most_results + most_results / 32];  ///< items of the tile
};

/// What a warp has left in its tile: candidates to be ranked, or the positions of the selected.
struct Staged {
  std::uint32_t count;
  bool ranked;
};

/// Calls put(number, word, item) for the selected of the words in the registers of a warp, which are
/// numbered in the order of items. Word r of lane l is item 32 * r + l.
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

template <int Rows, class Word>
__device__ __forceinline__ Staged select_in_warp(const TopKArguments<Word>& arguments,
                                                 TopKTile<Word>& tile, const Selection& s) {
  const auto length = static_cast<std::uint32_t>(s.length);
  const auto wanted = static_cast<std::uint32_t>(s.wanted);
  const Word* const keys = arguments.keys_in + s.begin;
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
  // The wanted-th of the minima of groups of items bounds the wanted-th item from above. In small
  // groups, the bound of many passes too much.
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

/// Writes what a warp has staged.
template <class Word>
__device__ __forceinline__ void put_staged(const TopKArguments<Word>& arguments,
                                           const TopKTile<Word>& tile, const Selection& s,
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
template <class Word, int Longest, class AfterLoad>
__device__ __forceinline__ void select_in_threads(const TopKArguments<Word>& arguments,
                                                  ThreadTile<Word, Longest>& tile,
                                                  const Selection& s, unsigned int lanes,
                                                  bool in_order, const AfterLoad& after_load) {
  const std::uint64_t end = s.begin + s.length;
  const int first_one = first_lane(lanes);
  const int last_one = highest_bit(lanes);
  const int longest = max_in_warp(static_cast<int>(s.length));
  if (!in_order) {
    after_load();
    const Word* const keys = arguments.keys_in + s.begin;
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
                        span <= static_cast<std::uint64_t>(ThreadTile<Word, Longest>::most_results);
  __syncwarp();  // the tile is free
  for (int i = static_cast<int>(lane()); i < items; i += 32)
    copy_async(&tile.items[in_tile(i)], arguments.keys_in + base + i);
  const auto results = collects ? static_cast<int>(span) : 0;
  for (int o = static_cast<int>(lane()); o < results; o += 32)
    tile.results[in_tile(o)] = ThreadTile<Word, Longest>::no_item;
  wait_for_copies();
  __syncwarp();
  after_load();
  const auto first = static_cast<int>(s.begin - base);
  const auto first_out = static_cast<int>(s.out - out_base);
  const auto word_of_item = [&](int i) { return arguments.codec.encoded(tile.items[in_tile(i)]); };
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
    if (item != ThreadTile<Word, Longest>::no_item)
      arguments.put(out_base + o, word_of_item(item), base + item);
  }
}

/// Lists the lane's segment for the blocks. All lanes of the warp take part.
template <class Word>
__device__ __forceinline__ void list_for_blocks(const TopKArguments<Word>& arguments,
                                                std::uint64_t segment, const Selection& s) {
  const TopKLists& lists = arguments.lists;
  const bool listed = s.wanted != 0 && s.length > longest_of_warp;
  const bool is_long = listed && s.length > longest_of_block;
  const unsigned int of_block = __ballot_sync(full_warp, listed && !is_long);
  if (of_block != 0) {
    unsigned long long place = 0;
    if (lane() == 0) place = atomicAdd(&lists.counters->block_segments, lanes_of(of_block));
    place = __shfl_sync(full_warp, place, 0);
    if (listed && !is_long) lists.block_segments[place + rank_among(of_block)] = segment;
  }
  for (unsigned int rest = __ballot_sync(full_warp, is_long); rest != 0; rest &= rest - 1) {
    const int owner = first_lane(rest);
    const Parts parts(__shfl_sync(full_warp, s.length, owner));
    unsigned long long index = 0;
    unsigned long long first_part = 0;
    if (static_cast<int>(lane()) == owner) {
      index = atomicAdd(&lists.counters->long_segments, 1);
      first_part = atomicAdd(&lists.counters->parts, static_cast<unsigned long long>(parts.count));
      const auto first_group =
          atomicAdd(&lists.counters->groups, static_cast<unsigned long long>(parts.groups));
      lists.long_segments[index] = {segment, first_part, first_group};
    }
    index = __shfl_sync(full_warp, index, owner);
    first_part = __shfl_sync(full_warp, first_part, owner);
    for (std::uint64_t p = lane(); p < parts.count; p += 32)
      lists.part_owner[first_part + p] = static_cast<std::uint32_t>(index);
  }
}

/// Prefetches the keys of the lanes' segments, and values of which many will be wanted.
/// \param together  short segments, most likely side by side, share lines
template <class Word>
__device__ __forceinline__ void prefetch_selection(const TopKArguments<Word>& arguments,
                                                   const Selection& s, bool together) {
  const bool mine = s.wanted != 0 && s.length <= longest_of_warp;
  std::uint64_t begin = mine ? s.begin : 0;
  std::uint64_t length = mine ? s.length : 0;
  bool has_values = arguments.values_in != nullptr && 8 * s.wanted >= s.length;
  unsigned int thread = 0;
  unsigned int threads = 1;
  if (together) {
    const unsigned int lanes = __ballot_sync(full_warp, mine);
    begin = __shfl_sync(full_warp, begin, first_lane(lanes) & 31);
    const std::uint64_t end = __shfl_sync(full_warp, s.begin + s.length, highest_bit(lanes) & 31);
    constexpr std::uint64_t most = 32 * longest_of_thread<Word>;
    length = lanes != 0 && end > begin ? min(end - begin, most) : 0;
    has_values = __any_sync(full_warp, has_values && mine) != 0;
    thread = lane();
    threads = 32;
  }
  prefetch_lines(arguments.keys_in + begin, length * sizeof(Word), thread, threads);
  if (has_values) {
    const auto bytes = static_cast<std::uint64_t>(arguments.value_bytes);
    prefetch_lines(static_cast<const char*>(arguments.values_in) + begin * bytes, length * bytes,
                   thread, threads);
  }
}

/// Of the lane's segment: its selection, and the extent of its results if wanted.
template <class Word>
__device__ __forceinline__ Selection read_selection(const TopKArguments<Word>& arguments,
                                                    std::uint64_t segment) {
  const Selection s = selection_of(arguments, segment);
  if (arguments.lists.begins != nullptr) {
    arguments.lists.begins[segment] = s.out;
    arguments.lists.ends[segment] = s.out + s.wanted;
  }
  return s;
}

/// Segments that fit a thread; lists the others. Each warp takes chunks of segments.
/// \tparam Longest  longest segment of a thread
template <class Word, int Longest>
__global__ void __launch_bounds__(32 * top_k_warps, Longest == 8 ? 8 : 5)
    top_k_thread_kernel(const TopKArguments<Word> arguments) {
  __shared__ ThreadTile<Word, Longest> tiles[top_k_warps];
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
    if (__any_sync(full_warp, s.length > longest_of_warp))
      list_for_blocks(arguments, first + lane(), s);
    if (s.length > longest_of_warp) s.length = s.wanted = 0;
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
    constexpr std::uint64_t most = ThreadTile<Word, Longest>::most_items;
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

/// Segments of up to longest_of_warp items: those listed, or if there is no list, all; then lists
/// the longer ones. Each warp takes chunks of segments.
template <class Word>
__global__ void __launch_bounds__(32 * top_k_warps, sizeof(Word) == 4 ? 7 : 4)
    top_k_warp_kernel(const TopKArguments<Word> arguments) {
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
    if (__any_sync(full_warp, s.length > longest_of_warp))
      list_for_blocks(arguments, first + lane(), s);
    prefetch_selection(arguments, next, false);
    for (unsigned int rest = __ballot_sync(full_warp, s.wanted != 0 && s.length <= longest_of_warp);
         rest != 0; rest &= rest - 1) {
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
      } else {
        staged = select_in_warp<32>(arguments, tile, one);
      }
      put_staged(arguments, tile, one, staged);
    }
  }
}

/// Shared memory of a block; behind it, its buffer: `capacity` words, then their positions.
template <class Word>
struct TopKShared {
  Word minima[2 * top_k_block];
  std::uint32_t counts[64];
  std::uint32_t warp_counts[2][top_k_block / 32];
  std::uint32_t warp_ties[top_k_block / 32];
  Word different;
  Word bound;
  Threshold<Word> threshold;
  unsigned long long task;
  bool is_last;
};

template <class Word>
constexpr std::size_t top_k_shared_bytes(int capacity) {
  return sizeof(TopKShared<Word>) +
         static_cast<std::size_t>(capacity) * (sizeof(Word) + sizeof(std::uint32_t));
}

/// Items in the shared memory of a block, ordered by position.
template <class Word>
struct TopKBuffer {
  TopKShared<Word>& shared;
  Word* words;
  std::uint32_t* positions;
  std::uint32_t count = 0;  ///< the same in all threads

  /// Keeps the `wanted` first items. Called by all threads. \pre wanted < count
  /// \return the greatest word kept
  __device__ Word reduce(std::uint32_t wanted) {
    __syncthreads();
    if (count <= top_k_block) {
      if (threadIdx.x < 32) {
        Word own[items_of_thread];
#pragma unroll
        for (int r = 0; r < items_of_thread; ++r) {
          const std::uint32_t i = 32 * r + threadIdx.x;
          own[r] = i < count ? words[i] : ~Word{0};
        }
        const Threshold<Word> found = threshold_in_warp(own, wanted);
        if (threadIdx.x == 0) shared.threshold = found;
      }
    } else {
      if (threadIdx.x < 64) shared.counts[threadIdx.x] = 0;
      if (threadIdx.x == 0) shared.different = 0;
      __syncthreads();
      const Word first = words[0];
      Word different = 0;
      for (std::uint32_t i = threadIdx.x; i < count; i += top_k_block)
        different |= words[i] ^ first;
      different = bits_of_warp(different);
      if (lane() == 0) {
        using Bits = std::conditional_t<sizeof(Word) == 4, unsigned int, unsigned long long>;
        atomicOr(reinterpret_cast<Bits*>(&shared.different), Bits{different});
      }
      __syncthreads();
      const int bit = highest_bit(shared.different);
      int step = 0;
      const Threshold<Word> found =
          find_threshold(without_low_bits(first, bit), bit, wanted, [&](Word middle) {
            std::uint32_t less = 0;
            for (std::uint32_t i = threadIdx.x; i < count; i += top_k_block)
              less += words[i] < middle ? 1 : 0;
            less = total_of_warp(less);
            if (lane() == 0) atomicAdd(&shared.counts[step], less);
            __syncthreads();
            return shared.counts[step++];
          });
      if (threadIdx.x == 0) shared.threshold = found;
    }
    __syncthreads();
    const Threshold<Word> threshold = shared.threshold;
    // Stable compaction, one item per thread at a time: items move to lower places only.
    std::uint32_t all_less = 0;
    std::uint32_t all_ties = 0;
    for (std::uint32_t base = 0; base < count; base += top_k_block) {
      const std::uint32_t i = base + threadIdx.x;
      const Word word = i < count ? words[i] : ~Word{0};
      const std::uint32_t position = i < count ? positions[i] : 0;
      const bool is_less = word < threshold.word;
      const bool is_tie = i < count && word == threshold.word;
      const unsigned int less = __ballot_sync(full_warp, is_less);
      const unsigned int equal = __ballot_sync(full_warp, is_tie);
      if (lane() == 0) {
        shared.warp_counts[0][threadIdx.x / 32] = lanes_of(less);
        shared.warp_ties[threadIdx.x / 32] = lanes_of(equal);
      }
      __syncthreads();
      std::uint32_t less_before = 0;
      std::uint32_t ties_before = 0;
#pragma unroll
      for (unsigned int w = 0; w < top_k_block / 32; ++w) {
        if (w == threadIdx.x / 32) {
          less_before = all_less + rank_among(less);
          ties_before = all_ties + rank_among(equal);
        }
        all_less += shared.warp_counts[0][w];
        all_ties += shared.warp_ties[w];
      }
      if (is_less || (is_tie && ties_before < threshold.ties)) {
        const std::uint32_t place = less_before + min(ties_before, threshold.ties);
        words[place] = word;
        positions[place] = position;
      }
      __syncthreads();
    }
    count = wanted;
    return threshold.word;
  }
};

/// What a block selects from: keys of the caller, or candidates.
template <class Word>
struct BlockSource {
  const Word* words;
  std::uint64_t begin;
  std::uint32_t length;
  KeyCodec<Word> codec;
};

/// The wanted-th of 32 * Rows minima in shared memory. Called by a warp.
template <int Rows, class Word>
__device__ __forceinline__ Word bound_by_minima(const Word* shared_minima, std::uint32_t wanted) {
  Word minima[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) minima[r] = shared_minima[32 * r + lane()];
  return threshold_in_warp(minima, wanted).greatest();
}

/// Leaves the `wanted` first items in the buffer. Called by all threads of a block.
///
/// Each warp reads consecutive rows. Items up to `bound`, an upper bound of the wanted-th word,
/// enter the buffer. After a full buffer has been reduced, the bound is the word before its last,
/// since later items lose against equal ones.
template <class Word>
__device__ __forceinline__ void select_in_block(const BlockSource<Word>& source,
                                                std::uint32_t wanted, int capacity,
                                                TopKBuffer<Word>& buffer) {
  constexpr unsigned int warps = top_k_block / 32;
  // At most half as many as there are minima: the bound passes about 1.4 * wanted items.
  constexpr std::uint32_t most_by_minima = top_k_block;
  TopKShared<Word>& shared = buffer.shared;
  const unsigned int warp = threadIdx.x / 32;
  Word bound = ~Word{0};
  int parity = 0;
  buffer.count = 0;
  for (std::uint32_t base = 0; base < source.length; base += top_k_chunk) {
    if (buffer.count + top_k_chunk > static_cast<std::uint32_t>(capacity)) {
      const Word last = buffer.reduce(wanted);
      if (last == 0) return;
      bound = last - 1;
    }
    // The chunk after the next, which no register holds a place for.
    constexpr std::uint32_t line_items = 128 / sizeof(Word);
    if (const std::uint32_t ahead = base + 2 * top_k_chunk + threadIdx.x * line_items;
        threadIdx.x < top_k_chunk / line_items && ahead < source.length)
      prefetch_line(source.words + source.begin + ahead);
    Word words[items_of_thread];
    const std::uint32_t first = base + warp * 32 * items_of_thread + lane();
#pragma unroll
    for (int r = 0; r < items_of_thread; ++r) {
      const std::uint32_t i = first + 32 * r;
      words[r] =
          i < source.length ? source.codec.encoded(source.words[source.begin + i]) : ~Word{0};
    }
    if (base == 0 && wanted <= most_by_minima && source.length >= top_k_chunk) {
      constexpr int half = items_of_thread / 2;
      Word least[2] = {words[0], words[half]};
#pragma unroll
      for (int r = 1; r < half; ++r) {
        least[0] = min(least[0], words[r]);
        least[1] = min(least[1], words[half + r]);
      }
      const bool in_halves = wanted > top_k_block / 2;
      __syncthreads();
      shared.minima[threadIdx.x] = in_halves ? least[0] : min(least[0], least[1]);
      if (in_halves) shared.minima[top_k_block + threadIdx.x] = least[1];
      __syncthreads();
      if (warp == 0) {
        const Word found = in_halves ? bound_by_minima<2 * warps>(shared.minima, wanted)
                                     : bound_by_minima<warps>(shared.minima, wanted);
        if (lane() == 0) shared.bound = found;
      }
      __syncthreads();
      bound = shared.bound;
    }
    unsigned int passing[items_of_thread];
    std::uint32_t of_warp = 0;
#pragma unroll
    for (int r = 0; r < items_of_thread; ++r) {
      passing[r] = __ballot_sync(full_warp, words[r] <= bound && first + 32 * r < source.length);
      of_warp += lanes_of(passing[r]);
    }
    if (lane() == 0) shared.warp_counts[parity][warp] = of_warp;
    __syncthreads();
    std::uint32_t place = buffer.count;
#pragma unroll
    for (unsigned int w = 0; w < warps; ++w) {
      const std::uint32_t of_other = shared.warp_counts[parity][w];
      if (w < warp) place += of_other;
      buffer.count += of_other;
    }
    parity ^= 1;
    if (of_warp == 0) continue;
#pragma unroll
    for (int r = 0; r < items_of_thread; ++r) {
      if ((passing[r] >> lane() & 1) != 0) {
        const std::uint32_t at = place + rank_among(passing[r]);
        buffer.words[at] = words[r];
        buffer.positions[at] = first + 32 * r;
      }
      place += lanes_of(passing[r]);
    }
  }
  if (buffer.count > wanted) {
    buffer.reduce(wanted);
  } else {
    __syncthreads();
  }
}

/// Segments of more than longest_of_warp items, and the parts of long ones. The block that finishes
/// the last part of a group merges their results, and so on.
template <class Word>
__global__ void __launch_bounds__(top_k_block, 4)
    top_k_block_kernel(const TopKArguments<Word> arguments) {
  auto& shared = *reinterpret_cast<TopKShared<Word>*>(dynamic_shared_memory());
  auto* const words = reinterpret_cast<Word*>(&shared + 1);
  TopKBuffer<Word> buffer{shared, words,
                          reinterpret_cast<std::uint32_t*>(words + arguments.capacity)};
  const TopKLists& lists = arguments.lists;
  auto* const candidates = static_cast<Word*>(lists.candidates);
  const std::uint64_t all_parts = lists.counters->parts;
  const std::uint64_t tasks = all_parts + lists.counters->block_segments;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) shared.task = atomicAdd(&lists.counters->next_task, 1);
    __syncthreads();
    const std::uint64_t task = shared.task;
    if (task >= tasks) return;

    const bool in_parts = task < all_parts;
    LongSegment owner{};
    std::uint32_t owner_index = 0;
    if (in_parts) {
      owner_index = lists.part_owner[task];
      owner = lists.long_segments[owner_index];
    } else {
      owner.segment = lists.block_segments[task - all_parts];
    }
    const Selection whole = selection_of(arguments, owner.segment);
    const Parts parts(whole.length);
    const std::uint64_t part = in_parts ? task - owner.first_part : 0;
    const std::uint64_t last_part = whole.length - (parts.count - 1) * parts.size;
    std::uint64_t begin = whole.begin + part * parts.size;
    std::uint64_t length = whole.length;
    if (in_parts) length = part + 1 == parts.count ? last_part : parts.size;
    // Where candidates go; all parts and groups but the last have whole.wanted of them.
    std::uint64_t place = owner.first_part * arguments.k + part * whole.wanted;
    const std::uint64_t group = part / parts_of_group;
    const std::uint64_t group_candidates = (lists.part_capacity + owner.first_group) * arguments.k;
    bool merges = false;
    for (int level = in_parts ? 0 : 2;; ++level) {
      // Made anew at each level: a pointer that is assigned at the end of the loop stays keys_in in
      // the code of nvcc 13.0.
      const BlockSource<Word> source{merges ? in_global_memory(candidates) : arguments.keys_in,
                                     begin, static_cast<std::uint32_t>(length),
                                     merges ? KeyCodec<Word>{} : arguments.codec};
      const auto wanted = static_cast<std::uint32_t>(min(whole.wanted, length));
      select_in_block(source, wanted, arguments.capacity, buffer);
      const bool is_result = level == 2 || (level == 1 && parts.groups == 1);
      for (std::uint32_t i = threadIdx.x; i < wanted; i += top_k_block) {
        const Word word = buffer.words[i];
        const std::uint64_t at = begin + buffer.positions[i];
        const std::uint64_t position = merges ? lists.positions[at] : at;
        if (!is_result) {
          candidates[place + i] = word;
          lists.positions[place + i] = position;
          continue;
        }
        std::uint32_t rank = i;
        if (arguments.sorted) {
          rank = 0;
          for (std::uint32_t j = 0; j < wanted; ++j)
            rank += buffer.words[j] < word || (buffer.words[j] == word && j < i) ? 1 : 0;
        }
        arguments.put(whole.out + rank, word, position);
      }
      if (is_result) break;
      const std::uint64_t first_of_group = group * parts_of_group;
      const std::uint64_t members =
          level == 0 ? min(parts_of_group, parts.count - first_of_group) : parts.groups;
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) {
        unsigned int& done = level == 0 ? lists.parts_done[owner.first_group + group]
                                        : lists.groups_done[owner_index];
        shared.is_last = atomicAdd(&done, 1u) + 1 == members;
      }
      __syncthreads();
      if (!shared.is_last) break;
      __threadfence();
      // The last member has fewer candidates only if it is the last part itself.
      const bool ends_with_part =
          level == 0 ? first_of_group + members == parts.count : parts.count % parts_of_group == 1;
      const std::uint64_t last = ends_with_part ? min(whole.wanted, last_part) : whole.wanted;
      merges = true;
      begin = level == 0 ? owner.first_part * arguments.k + first_of_group * whole.wanted
                         : group_candidates;
      length = (members - 1) * whole.wanted + last;
      place = group_candidates + group * whole.wanted;
    }
  }
}

/// The first k items of each sorted segment, for k beyond most_selected. One block per segment at a
/// time. `keys_in` and `values_in` hold the sorted items.
template <class Word>
__global__ void __launch_bounds__(top_k_block)
    copy_first_kernel(const TopKArguments<Word> arguments) {
  const std::uint64_t segments = arguments.segments();
  for (std::uint64_t segment = blockIdx.x; segment < segments; segment += gridDim.x) {
    const Selection s = selection_of(arguments, segment);
    for (std::uint64_t i = threadIdx.x; i < s.wanted; i += top_k_block)
      arguments.put(s.out + i, arguments.codec.encoded(arguments.keys_in[s.begin + i]),
                    s.begin + i);
  }
}

/// Numbers 0 to items - 1 as values of 4 or 8 bytes, and the segments + 1 offsets of rows of equal
/// length. Either array may be null.
template <class Index>
__global__ void __launch_bounds__(top_k_block)
    number_items_kernel(Index* indices, std::uint64_t items, std::uint64_t* offsets,
                        std::uint64_t segments, std::uint64_t row_length) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * top_k_block + threadIdx.x;
  const std::uint64_t step = std::uint64_t{gridDim.x} * top_k_block;
  for (std::uint64_t s = first; offsets != nullptr && s <= segments; s += step)
    offsets[s] = s * row_length;
  for (std::uint64_t i = first; indices != nullptr && i < items; i += step)
    indices[i] = static_cast<Index>(i);
}

}  // namespace sortie::segsort
