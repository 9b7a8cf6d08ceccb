// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/tile_sort.cuh"
#include "segsort/cuda/work_lists.cuh"

/// The first kernel. A warp takes one chunk of neighbouring segments at a time, reads their
/// offsets, sorts those that fit its tile, and lists the longer ones. The items of segments of up
/// to longest_batched items are numbered consecutively over the chunk. As many of these segments as
/// fit the warp's tile form a batch, whatever their lengths; reads and writes are coalesced
/// wherever the segments are adjacent. Longer segments are ordered by length, and each of the
/// longest shares a tile with as many of the shortest as fit.
namespace sortie::segsort {

/// Most segments in a tile if all are longer than longest_batched.
inline constexpr int most_medium = warp_tile / (longest_batched + 1);

/// Kernel arguments that sort_short_segments() needs.
template <class Word>
struct ItemArrays {
  const Word* keys_in;
  Word* keys_out;
  const void* values_in;
  void* values_out;
  BitRangeCodec<Word> codec;
};

/// Shared memory of a warp for its chunk. Index has enough bits to count all items.
template <class WordType, int ValueBytes, class IndexType>
struct BatchShared {
  using T = Tile<WordType, ValueBytes, 1, warp_tile_items>;
  using Word = WordType;
  using Index = IndexType;
  T tile;
  ItemArrays<Word> arrays;
  /// From the front: for each batched segment, its first item minus the number of that item in the
  /// chunk. From the back: for each medium segment, length << 16 | index of the segment in the
  /// chunk; after ordering, its first item.
  Index base[most_segments_of_chunk];
  /// From the front: number of the first item of each batched segment. From the back: lengths of
  /// the medium segments, after ordering.
  std::uint16_t number[most_segments_of_chunk + 1];
  Index medium_base[most_medium];  ///< as base, for the segments of one tile
  std::uint16_t medium_number[most_medium + 1];

  __device__ Index& medium(int i) { return base[most_segments_of_chunk - 1 - i]; }
  __device__ std::uint16_t& medium_length(int i) { return number[most_segments_of_chunk - i]; }
};
static_assert(most_segments_of_chunk * longest_batched < 1 << 16);
static_assert(longest_batched <= longest_middle_run);

/// Copies segments of one item each.
template <class T, class Index>
__device__ __forceinline__ void copy_batch(const Arguments<typename T::Word>& arguments,
                                           const Index* base, Index first, int length) {
  using Value = typename T::Value;
  constexpr int ahead = 8;
  for (int begin = T::thread(); begin < length; begin += 32 * ahead) {
    Index index[ahead];
    typename T::Word keys[ahead];
    Value values[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
      const int e = begin + 32 * k;
      if (e >= length) continue;
      index[k] = base[e] + first + static_cast<Index>(e);
      keys[k] = arguments.keys_in[index[k]];
      if constexpr (T::value_bytes != 0)
        values[k] = static_cast<const Value*>(arguments.values_in)[index[k]];
    }
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
      if (begin + 32 * k >= length) continue;
      arguments.keys_out[index[k]] = keys[k];
      if constexpr (T::value_bytes != 0)
        static_cast<Value*>(arguments.values_out)[index[k]] = values[k];
    }
  }
}

/// Describes segments of up to `longest` items in a warp's tile. Bit l of `begins` is set if the
/// first word of lane l begins a segment. If all lanes, or every other lane, do so, each segment
/// lies within one thread or one pair of threads.
__device__ __forceinline__ TileSegments segments_of_tile(int longest, unsigned int begins) {
  if (begins == full_warp) return {longest, 0};
  constexpr unsigned int even_lanes = full_warp / 3;
  if (longest <= 2 * warp_tile_items && (begins & even_lanes) == even_lanes) return {longest, 1};
  // Anywhere else, the largest number of threads that a segment can touch.
  return {longest, (longest - 2) / warp_tile_items + 2};
}

/// Marks the first item of each segment: one byte per item, in the memory of the words.
template <class T>
__device__ __forceinline__ unsigned char* mark_heads(T& tile, const std::uint16_t* number,
                                                     int segments) {
  auto* const heads = reinterpret_cast<unsigned char*>(tile.words);
#pragma unroll
  for (int i = 0; i < T::capacity / 128; ++i) tile.words[i * 32 + T::thread()] = 0;
  __syncwarp();
  for (int i = T::thread(); i < segments; i += 32) heads[number[i] - number[0]] = 1;
  __syncwarp();
  return heads;
}

/// Segment index of the calling lane's item in the next of successive rows.
/// \param is_head  the item begins a segment
/// \param before   segments that start before the row, minus one; advanced
__device__ __forceinline__ std::uint32_t segment_in_row(bool is_head, int& before) {
  const unsigned int starts = __ballot_sync(full_warp, is_head);
  const int segment = before + __popc(starts & 0xffffffffu >> (31 - threadIdx.x % 32));
  before += __popc(starts);
  return static_cast<std::uint32_t>(segment);
}

__device__ __forceinline__ int longest_of(const std::uint16_t* number, int segments) {
  int longest = 0;
  for (int i = static_cast<int>(threadIdx.x % 32); i < segments; i += 32)
    longest = max(longest, number[i + 1] - number[i]);
  return static_cast<int>(max_in_warp(static_cast<std::uint32_t>(longest)));
}

/// Sorts `segments` segments that are too long to be batched as one tile of the calling warp. Their
/// items have the numbers number[0] .. number[segments]-1; those of segment j start at number[j],
/// and item number i is at base[j] + i.
template <class T, class Index>
__device__ __forceinline__ void sort_medium(T& tile, const Arguments<typename T::Word>& arguments,
                                            const Index* base, const std::uint16_t* number,
                                            int segments) {
  using Word = typename T::Word;
  using Value = typename T::Value;
  const int lane = T::thread();
  const Index first = number[0];
  const int length = number[segments] - number[0];
  Word keys[T::items];
  std::uint32_t words[T::items];
  int segment_bits = 0;
  if (segments == 1) {
    const Index start = base[0] + first;
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const int e = r * 32 + lane;
      const Index index = start + static_cast<Index>(min(e, length - 1));
      keys[r] = arguments.keys_in[index];
      fetch_value(tile, e, value_at<T>(arguments.values_in, index));
      words[r] = e < length ? static_cast<std::uint32_t>(e) : 0xffffffffu;
    }
  } else {
    const unsigned char* const heads = mark_heads(tile, number, segments);
    segment_bits = bits_of(static_cast<std::uint32_t>(segments - 1));
    int before = -1;
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const int e = r * 32 + lane;
      const std::uint32_t segment = segment_in_row(heads[e] != 0, before);
      const Index index = base[segment] + first + static_cast<Index>(min(e, length - 1));
      keys[r] = arguments.keys_in[index];
      fetch_value(tile, e, value_at<T>(arguments.values_in, index));
      words[r] = e < length ? segment_field(segment, segment_bits) | static_cast<std::uint32_t>(e)
                            : 0xffffffffu;
    }
  }
  keep_keys(tile, keys, arguments.codec);
  static_cast<void>(sort_tile(tile, keys, words, length, segment_bits, arguments.codec));
  finish_values(tile);
  store_tile(tile, arguments.codec, length, arguments.keys_out,
             static_cast<Value*>(arguments.values_out), [&](std::uint32_t word, int r) {
               return base[segment_of(word, segment_bits)] + first +
                      static_cast<Index>(r * 32 + lane);
             });
  __syncwarp();
}

template <class Shared>
__device__ __forceinline__ Shared& shared_memory_of_warp() {
  return reinterpret_cast<Shared*>(dynamic_shared_memory())[threadIdx.x / 32];
}

/// Sorts batched segments from `first_segment` on, none longer than longest_batched, as one tile of
/// the calling warp. As sort_medium(), with simplifications that short segments allow. Not inlined,
/// because it needs all registers.
/// \tparam AreNeighbours  the segments are adjacent in memory
template <bool AreNeighbours, class Shared>
__device__ __noinline__ void sort_short_segments(int first_segment, int segments, int longest) {
  using T = typename Shared::T;
  using Word = typename Shared::Word;
  using Index = typename Shared::Index;
  Shared& shared = shared_memory_of_warp<Shared>();
  T& tile = shared.tile;
  const Index* const base = shared.base + first_segment;
  const std::uint16_t* const number = shared.number + first_segment;
  const Word* const keys_in = in_global_memory(shared.arrays.keys_in);
  const int lane = T::thread();
  const int length = number[segments] - number[0];
  const Index first = number[0];
  const Index start = base[0] + first;
  Word keys[T::items];
  std::uint32_t words[T::items];
  if constexpr (AreNeighbours)
    load_items(tile, keys, keys_in + start, value_at<T>(shared.arrays.values_in, start), length);
  const unsigned char* const heads = mark_heads(tile, number, segments);
  const TileSegments found = segments_of_tile(
      longest, __ballot_sync(full_warp, lane * T::items >= length || heads[lane * T::items] != 0));
  // At least one bit, so that one shift by the remaining bits is enough.
  const int segment_bits = bits_of(static_cast<std::uint32_t>(max(segments - 1, 1)));
  int before = -1;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * 32 + lane;
    const std::uint32_t segment = segment_in_row(heads[e] != 0, before);
    if constexpr (!AreNeighbours) {
      const Index index = base[segment] + first + static_cast<Index>(min(e, length - 1));
      keys[r] = keys_in[index];
      fetch_value(tile, e, value_at<T>(shared.arrays.values_in, index));
    }
    words[r] =
        e < length ? segment << (32 - segment_bits) | static_cast<std::uint32_t>(e) : 0xffffffffu;
  }
  const BitRangeCodec<Word> codec = shared.arrays.codec;
  keep_keys(tile, keys, codec);
  sort_tile<T, true>(tile, keys, words, length, segment_bits, codec, found);
  finish_values(tile);
  if constexpr (AreNeighbours) {
    store_items(tile, codec, length, in_global_memory(shared.arrays.keys_out) + start,
                value_at<T>(shared.arrays.values_out, start));
  } else {
    store_tile(tile, codec, length, in_global_memory(shared.arrays.keys_out),
               value_at<T>(shared.arrays.values_out, 0), [&](std::uint32_t word, int r) {
                 return base[word >> (32 - segment_bits)] + first +
                        static_cast<Index>(r * 32 + lane);
               });
  }
  __syncwarp();
}

/// Numbers of segments that a warp found in its chunk.
struct Chunk {
  int batched;
  int medium;
};

/// Reads `segments` segments from chunk_begin on. All lanes call list_long(segment, length)
/// together if any of their segments is longer than Longest.
template <int Longest, class Shared, class Word, class ListLong>
__device__ __forceinline__ Chunk read_chunk(Shared& shared, const Arguments<Word>& arguments,
                                            const ListLong& list_long, std::uint64_t chunk_begin,
                                            int segments) {
  using Index = typename Shared::Index;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const unsigned int lower = (1u << lane) - 1;
  // Two rows of offsets are prefetched, and the loop is not unrolled: four rows at a time would be
  // faster in isolation, but leave less of the instruction cache to the sort.
  const auto fetch = [&](int row) -> SegmentOffsets {
    if (row + lane >= segments) return {0, 0};
    const std::uint64_t segment = chunk_begin + static_cast<std::uint64_t>(row + lane);
    return {arguments.begin_offsets[segment], arguments.end_offsets[segment]};
  };
  SegmentOffsets next_row = fetch(0);
  SegmentOffsets next_but_one = fetch(32);
  Chunk chunk{};
  int items = 0;
#pragma unroll 1
  for (int row = 0; row < segments; row += 32) {
    const int segment = row + lane;
    const SegmentExtent found = next_row.extent();
    next_row = next_but_one;
    next_but_one = fetch(row + 64);
    const bool is_batched = found.length != 0 && found.length <= longest_batched;
    const int length = is_batched ? static_cast<int>(found.length) : 0;
    const unsigned int members = __ballot_sync(full_warp, is_batched);
    // If all segments of the row are adjacent in memory, offsets yield the prefix sums of the
    // lengths.
    const auto begin = static_cast<Index>(found.begin);
    const Index next = __shfl_down_sync(full_warp, begin, 1);
    const bool is_neighbour = found.length <= longest_batched && segment < segments &&
                              (lane == 31 || begin + static_cast<Index>(length) == next);
    int before = 0;
    int total = 0;
    if (__all_sync(full_warp, is_neighbour) != 0) {
      before = static_cast<int>(begin - __shfl_sync(full_warp, begin, 0));
      total = __shfl_sync(full_warp, before + length, 31);
    } else {
      before = inclusive_sum_in_warp(length);
      total = from_lane(before, 31);
      before -= length;
    }
    if (is_batched) {
      const int place = chunk.batched + __popc(members & lower);
      const int number = items + before;
      shared.number[place] = static_cast<std::uint16_t>(number);
      shared.base[place] = static_cast<Index>(found.begin) - static_cast<Index>(number);
    }
    items += total;
    chunk.batched += __popc(members);
    if (__any_sync(full_warp, found.length > longest_batched) == 0) continue;
    if constexpr (Longest > longest_batched) {
      const bool is_medium = found.length > longest_batched && found.length <= Longest;
      const unsigned int medium = __ballot_sync(full_warp, is_medium);
      if (is_medium)
        shared.medium(chunk.medium + __popc(medium & lower)) =
            static_cast<Index>(found.length << 16 | static_cast<std::uint64_t>(segment));
      chunk.medium += __popc(medium);
    }
    if (__any_sync(full_warp, found.length > Longest) != 0)
      list_long(static_cast<std::uint32_t>(chunk_begin) + static_cast<std::uint32_t>(segment),
                found.length);
  }
  if (lane == 0) shared.number[chunk.batched] = static_cast<std::uint16_t>(items);
  __syncwarp();
  return chunk;
}

/// Orders up to 128 medium segments from `begin` on by length.
template <class Shared, class Word>
__device__ __forceinline__ void order_medium(Shared& shared, const Arguments<Word>& arguments,
                                             std::uint64_t chunk_begin, int begin, int count) {
  using Index = typename Shared::Index;
  constexpr int each = 4;
  const int lane = static_cast<int>(threadIdx.x % 32);
  std::uint32_t words[each];
#pragma unroll
  for (int r = 0; r < each; ++r) {
    const int i = r * 32 + lane;
    words[r] = i < count ? static_cast<std::uint32_t>(shared.medium(begin + i)) : 0xffffffffu;
  }
  sort_in_warp(words, lane);
  __syncwarp();
#pragma unroll
  for (int r = 0; r < each; ++r) {
    const int i = lane * each + r;
    if (i >= count) continue;
    shared.medium(begin + i) =
        static_cast<Index>(arguments.begin_offsets[chunk_begin + (words[r] & 0xffff)]);
    shared.medium_length(begin + i) = static_cast<std::uint16_t>(words[r] >> 16);
  }
  __syncwarp();
}

template <class Shared>
__device__ __forceinline__ void keep_arrays(Shared& shared,
                                            const Arguments<typename Shared::Word>& arguments) {
  if (threadIdx.x % 32 == 0)
    shared.arrays = {arguments.keys_in, arguments.keys_out, arguments.values_in,
                     arguments.values_out, arguments.codec};
  __syncwarp();
}

/// Sorts the `medium` segments of a chunk that are too long to be batched.
template <class Shared, class Word>
__device__ __forceinline__ void sort_all_medium(Shared& shared, const Arguments<Word>& arguments,
                                                std::uint64_t chunk_begin, int medium) {
  using Index = typename Shared::Index;
  constexpr int most_ordered = 128;
  const int lane = static_cast<int>(threadIdx.x % 32);
  int ordered = 0;   // segments ordered so far
  int shortest = 0;  // shortest and longest ordered segment left
  int longest = -1;
#pragma unroll 1
  while (shortest <= longest || ordered < medium) {
    if (shortest > longest) {
      const int count = min(most_ordered, medium - ordered);
      order_medium(shared, arguments, chunk_begin, ordered, count);
      shortest = ordered;
      ordered += count;
      longest = ordered - 1;
    }
    const int first = shortest;
    int length = shared.medium_length(longest);
    while (shortest < longest && length + shared.medium_length(shortest) <= warp_tile)
      length += shared.medium_length(shortest++);
    const int segments = shortest - first + 1;
    const int mine = lane == 0 ? longest : first + lane - 1;
    const int own_length = lane < segments ? shared.medium_length(mine) : 0;
    int begin_number = 0;
#pragma unroll
    for (int i = 0; i < most_medium; ++i) {
      const int other = __shfl_sync(full_warp, own_length, i);
      if (i < lane) begin_number += other;
    }
    if (lane < segments)
      shared.medium_base[lane] = shared.medium(mine) - static_cast<Index>(begin_number);
    if (lane <= segments) shared.medium_number[lane] = static_cast<std::uint16_t>(begin_number);
    --longest;
    __syncwarp();
    sort_medium(shared.tile, arguments, shared.medium_base, shared.medium_number, segments);
  }
}

/// Sorts the `batched` segments of a chunk.
template <bool AreNeighbours, class Shared, class Word>
__device__ __forceinline__ void sort_batches(Shared& shared, const Arguments<Word>& arguments,
                                             int batched) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll 1
  for (int begin = 0; begin < batched;) {
    // As many segments as fit: search in steps of 16, then of one.
    const int limit = shared.number[begin] + warp_tile;
    int end = min(begin + 16 * (lane + 1), batched);
    const bool many = begin + 16 * (lane + 1) <= batched && shared.number[end] <= limit;
    const int most = begin + 16 * __popc(__ballot_sync(full_warp, many));
    end = min(most + lane + 1, batched);
    const bool fits = most + lane + 1 <= batched && shared.number[end] <= limit;
    end = most + __popc(__ballot_sync(full_warp, fits));
    const std::uint16_t* const number = shared.number + begin;
    const int segments = end - begin;
    const int length = number[segments] - number[0];
    if (segments == length) {
      copy_batch<typename Shared::T>(arguments, shared.base + begin,
                                     static_cast<typename Shared::Index>(number[0]), length);
      __syncwarp();
    } else {
      sort_short_segments<AreNeighbours, Shared>(begin, segments, longest_of(number, segments));
    }
    begin = end;
  }
}

/// As above, by one method for the whole chunk: a choice per tile would let the warps execute the
/// code of both at the same time, which exceeds the instruction cache.
template <class Shared, class Word>
__device__ __forceinline__ void sort_all_batched(Shared& shared, const Arguments<Word>& arguments,
                                                 int batched) {
  bool are_neighbours = true;
  for (int i = static_cast<int>(threadIdx.x % 32); i < batched; i += 32)
    are_neighbours &= shared.base[i] == shared.base[0];
  if (__all_sync(full_warp, are_neighbours) != 0) {
    sort_batches<true>(shared, arguments, batched);
  } else {
    sort_batches<false>(shared, arguments, batched);
  }
}

/// Sorts the segments of up to Longest items of a chunk in the tile of the calling warp, and lists
/// the others. \pre keep_arrays() has been called
template <int Longest, class Shared, class Word, class ListLong>
__device__ __forceinline__ void sort_chunk(Shared& shared, const Arguments<Word>& arguments,
                                           const ListLong& list_long, std::uint64_t chunk_begin,
                                           int chunk_segments) {
  static_assert(Longest >= longest_batched && Longest <= warp_tile);
  const Chunk chunk =
      read_chunk<Longest>(shared, arguments, list_long, chunk_begin, chunk_segments);
  if constexpr (Longest > longest_batched)
    sort_all_medium(shared, arguments, chunk_begin, chunk.medium);
  sort_all_batched(shared, arguments, chunk.batched);
}

/// Division of the segments into chunks. The last chunks are smaller, so that all warps end at
/// about the same time.
struct ChunkPlan {
  unsigned int large_chunks;
  unsigned int large;  ///< segments per large chunk
  unsigned int small;

  [[nodiscard]] __device__ unsigned int size(unsigned int chunk) const {
    return chunk < large_chunks ? large : small;
  }
  [[nodiscard]] __device__ std::uint64_t begin(unsigned int chunk) const {
    return std::uint64_t{min(chunk, large_chunks)} * large +
           std::uint64_t{max(chunk, large_chunks) - large_chunks} * small;
  }
};

///   shared memory, per warp   its chunk (BatchShared) and a tile of 512 items: keys, values, words
///   registers of lane l       while loading and storing: items l, 32 + l, 64 + l, ... of the tile;
///                             while sorting: the words of positions 16 l .. 16 l + 15
template <class Word, int ValueBytes, class Index, int Longest = longest_in_warp,
          class Tiles = LargeTiles>
__global__ void __launch_bounds__(Tiles::batch_threads,
                                  resident_batch_blocks<Tiles, Word, ValueBytes>)
    batch_sort_kernel(Arguments<Word> arguments, WorkLists lists, ChunkPlan chunks) {
  using Shared = BatchShared<Word, ValueBytes, Index>;
  Shared& shared = shared_memory_of_warp<Shared>();
  keep_arrays(shared, arguments);
  const std::uint64_t all = arguments.segments();
  while (true) {
    unsigned int chunk = 0;
    if (threadIdx.x % 32 == 0) chunk = atomicAdd(&lists.counters->next_chunk, 1);
    chunk = __shfl_sync(full_warp, chunk, 0);
    const std::uint64_t begin = chunks.begin(chunk);
    if (begin >= all) break;
    const unsigned int size = chunks.size(chunk);
    // Chunks are claimed in ascending order, so the offsets as many chunks ahead as there are warps
    // are needed soon.
    arguments.begin_offsets.prefetch(
        begin + std::uint64_t{size} * gridDim.x * (Tiles::batch_threads / 32) / 2, size, all);
    sort_chunk<Longest>(
        shared, arguments,
        [&](std::uint32_t segment, std::uint64_t length) {
          const int list = length > Longest ? long_class<Tiles>(length) : -1;
          const std::uint32_t place = take_places(lists.counters->segments, list);
          if (list >= 0) lists.segment(list, place) = segment;
        },
        begin, static_cast<int>(min(std::uint64_t{size}, all - begin)));
  }
}

}  // namespace sortie::segsort
