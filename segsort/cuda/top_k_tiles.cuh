// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "segsort/cuda/batch_sort.cuh"
#include "segsort/cuda/top_k_lists.cuh"

/// Selection by sorting: the segments of up to `tile_longest` items are sorted in the tiles of
/// warps, as batch_sort.cuh does, but only the first k of each are written, to their final places.
namespace sortie::segsort {

/// Segments that a warp reads together; a tile has at most as many.
inline constexpr int most_segments_of_tile_chunk = 256;
inline constexpr unsigned int top_k_tile_threads = 128;
/// Longest segment of a tile.
inline constexpr int longest_of_tile = warp_tile;

/// A warp's tile without values. The sort is stable, as if there were values: the index of an item
/// is its position.
template <class Word>
struct OrderedTile : Tile<Word, 0, 1, warp_tile_items> {
  static constexpr int value_bytes = sizeof(std::uint32_t);
};

/// Shared memory of a warp: a tile, and the segments of its chunk that are sorted in tiles. The
/// items of these segments are numbered consecutively over the chunk.
template <class Word>
struct SegmentTiles {
  OrderedTile<Word> tile;
  std::uint64_t base[most_segments_of_tile_chunk];        ///< first item minus its number
  std::uint64_t out[most_segments_of_tile_chunk];         ///< first result minus that number
  std::uint16_t number[most_segments_of_tile_chunk + 1];  ///< of the first item
  std::uint16_t end[most_segments_of_tile_chunk];  ///< number of the first place without a result
};

/// Shared memory of a block.
template <class Arguments>
inline constexpr std::size_t tile_kernel_bytes = top_k_tile_threads / 32 *
                                                 sizeof(SegmentTiles<typename Arguments::Word>);

/// Segments of a chunk: numbers of the items fit 16 bits.
constexpr unsigned int most_tile_chunk(int tile_longest) {
  const int by_numbers = 0xffff / tile_longest;
  return static_cast<unsigned int>(
      by_numbers < most_segments_of_tile_chunk ? by_numbers : most_segments_of_tile_chunk);
}

/// Segments of a chunk of `items` in `segments` segments: enough for several tiles, and few enough
/// for all warps.
constexpr unsigned int chunk_of_tiles(std::uint64_t items, std::uint64_t segments,
                                      int tile_longest) {
  constexpr std::uint64_t items_of_chunk_of_tiles = 4096;
  const std::uint64_t mean = items == 0 ? 1 : (items - 1) / segments + 1;
  const std::uint64_t wanted = items_of_chunk_of_tiles / mean;
  const std::uint64_t most = most_tile_chunk(tile_longest);
  return static_cast<unsigned int>(wanted < 1 ? 1 : wanted > most ? most : wanted);
}

/// What a warp has kept of a chunk.
struct TileChunk {
  int segments = 0;
  bool are_neighbours = true;  ///< each begins where the one before ends
};

/// Reads a chunk of segments, keeps those of tiles, and lists the others.
template <class Arguments, class Word>
__device__ __forceinline__ TileChunk read_tile_chunk(const Arguments& arguments,
                                                     SegmentTiles<Word>& shared,
                                                     std::uint64_t first, unsigned int segments) {
  TileChunk chunk;
  std::uint32_t items = 0;
  std::uint64_t first_base = 0;
  // The offsets of the next row are loaded while this one is handled.
  const auto read = [&](unsigned int row) {
    return row + lane() < segments ? selection_of(arguments, first + row + lane()) : Selection{};
  };
  Selection next = read(0);
#pragma unroll 1
  for (unsigned int row = 0; row < segments; row += 32) {
    const std::uint64_t segment = first + row + lane();
    const Selection s = next;
    next = read(row + 32);
    const bool is_kept =
        s.wanted != 0 && s.length <= static_cast<std::uint64_t>(arguments.tile_longest);
    const std::uint32_t length = is_kept ? static_cast<std::uint32_t>(s.length) : 0;
    const std::uint32_t up_to = inclusive_sum_in_warp(length);
    const unsigned int members = __ballot_sync(full_warp, is_kept);
    const std::uint32_t number = items + up_to - length;
    const std::uint64_t base = s.begin - number;
    if (chunk.segments == 0 && members != 0)
      first_base = __shfl_sync(full_warp, base, first_lane(members));
    chunk.are_neighbours &= __all_sync(full_warp, !is_kept || base == first_base) != 0;
    if (is_kept) {
      const int place = chunk.segments + static_cast<int>(rank_among(members));
      shared.number[place] = static_cast<std::uint16_t>(number);
      shared.end[place] = static_cast<std::uint16_t>(number + s.wanted);
      shared.base[place] = base;
      shared.out[place] = s.out - number;
    }
    items += from_lane(up_to, 31);
    chunk.segments += __popc(members);
    const bool is_listed = s.wanted != 0 && !is_kept;
    if (!__any_sync(full_warp, is_listed)) continue;
    list_beyond_tiles(arguments, segment, s, is_listed);
  }
  if (lane() == 0) shared.number[chunk.segments] = static_cast<std::uint16_t>(items);
  __syncwarp();
  return chunk;
}

/// The segments from `begin` on that fit a tile together: their end.
__device__ __forceinline__ int end_of_tile(const std::uint16_t* number, int begin, int all) {
  const int limit = number[begin] + warp_tile;
  const int mine = static_cast<int>(lane());
  // In steps of 16, then of one.
  const int far = begin + 16 * (mine + 1);
  const bool many = far <= all && number[min(far, all)] <= limit;
  const int most = begin + 16 * __popc(__ballot_sync(full_warp, many));
  const int near = most + mine + 1;
  const bool fits = near <= all && number[min(near, all)] <= limit;
  return most + __popc(__ballot_sync(full_warp, fits));
}

/// Writes the results of a sorted tile. Item p of the sorted tile has number first + p.
template <class Value, class Arguments, class Word>
__device__ __forceinline__ void put_tile(const Arguments& arguments, SegmentTiles<Word>& shared,
                                         int first_segment, int segment_bits, int length) {
  constexpr int ahead = 8;
  auto& tile = shared.tile;
  using T = OrderedTile<Word>;
  const std::uint32_t first = shared.number[first_segment];
  const Value* const values_in = static_cast<const Value*>(arguments.values_in);
  Value* const values_out = static_cast<Value*>(arguments.values_out);
  typename Arguments::Stored* const keys_out = arguments.keys_out;
  const bool has_values = arguments.value_bytes != 0;
#pragma unroll 1
  for (int begin = 0; begin < length; begin += 32 * ahead) {
    std::uint64_t places[ahead];
    Value values[ahead];
    std::uint32_t items[ahead];
    unsigned int wanted = 0;
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      const int p = begin + 32 * r + static_cast<int>(lane());
      if (p >= length) continue;
      const std::uint32_t word = tile.word(p);
      const auto segment = first_segment + static_cast<int>(segment_of(word, segment_bits));
      const std::uint32_t number = first + static_cast<std::uint32_t>(p);
      if (number >= shared.end[segment]) continue;
      wanted |= 1u << r;
      items[r] = word & T::index_mask;
      places[r] = shared.out[segment] + number;
      const std::uint64_t position = shared.base[segment] + first + items[r];
      if (has_values)
        values[r] = values_in == nullptr ? static_cast<Value>(position)
                                         : in_global_memory(values_in)[position];
    }
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      if ((wanted >> r & 1) == 0) continue;
      if (keys_out != nullptr)
        in_global_memory(keys_out)[places[r]] = arguments.stored(tile.keys[items[r]]);
      if (has_values) in_global_memory(values_out)[places[r]] = values[r];
    }
  }
}

/// Sorts segments first_segment .. first_segment + segments - 1 of the chunk in the warp's tile,
/// and writes their results.
template <class Arguments, class Word>
__device__ __forceinline__ void select_in_tile(const Arguments& arguments,
                                               SegmentTiles<Word>& shared, int first_segment,
                                               int segments, bool are_neighbours) {
  using Stored = typename Arguments::Stored;
  using T = OrderedTile<Word>;
  const Stored* const all_keys = in_global_memory(arguments.keys_in);
  T& tile = shared.tile;
  const std::uint64_t* const base = shared.base + first_segment;
  const std::uint16_t* const number = shared.number + first_segment;
  const std::uint32_t first = number[0];
  const int length = number[segments] - number[0];
  const int longest = longest_of(number, segments);
  const auto thread = static_cast<int>(lane());
  // At least one bit, so that one shift by the remaining bits is enough.
  const int segment_bits = bits_of(static_cast<std::uint32_t>(max(segments - 1, 1)));
  Word keys[T::items];
  std::uint32_t words[T::items];
  if (are_neighbours) {
    const Stored* const keys_in = all_keys + base[0] + first;
#pragma unroll
    for (int r = 0; r < T::items; ++r)
      keys[r] = arguments.loaded(keys_in[min(r * 32 + thread, length - 1)]);
  }
  const unsigned char* const heads = mark_heads(tile, number, segments);
  const TileSegments found = segments_of_tile(
      longest,
      __ballot_sync(full_warp, thread * T::items >= length || heads[thread * T::items] != 0));
  int before = -1;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * 32 + thread;
    const std::uint32_t segment = segment_in_row(heads[e] != 0, before);
    words[r] =
        e < length ? segment << (32 - segment_bits) | static_cast<std::uint32_t>(e) : 0xffffffffu;
  }
  if (!are_neighbours) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const std::uint32_t e = static_cast<std::uint32_t>(min(r * 32 + thread, length - 1));
      const std::uint32_t segment =
          words[r] == 0xffffffffu ? segments - 1 : segment_of(words[r], segment_bits);
      keys[r] = arguments.loaded(all_keys[base[segment] + first + e]);
    }
  }
  const BitRangeCodec<Word> codec = arguments.tile_codec();
  keep_keys(tile, keys, codec);
  if (longest <= 1) {  // in order
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.striped(r) = words[r];
  } else if (longest <= longest_batched) {
    static_cast<void>(sort_tile<T, true>(tile, keys, words, length, segment_bits, codec, found));
  } else {
    static_cast<void>(sort_tile(tile, keys, words, length, segment_bits, codec));
  }
  __syncwarp();
  if (arguments.value_bytes == 8) {
    put_tile<std::uint64_t>(arguments, shared, first_segment, segment_bits, length);
  } else {
    put_tile<std::uint32_t>(arguments, shared, first_segment, segment_bits, length);
  }
  __syncwarp();
}

/// Prefetches what the segments from `begin` to `end` of the chunk need. The lines from the first
/// to the last of them, if they are close together.
template <class Arguments, class Word>
__device__ __forceinline__ void prefetch_tile(const Arguments& arguments,
                                              const SegmentTiles<Word>& shared, int begin,
                                              int end) {
  const std::uint64_t from = shared.base[begin] + shared.number[begin];
  const std::uint64_t to = shared.base[end - 1] + shared.number[end];
  const std::uint64_t items = to > from ? min(to - from, std::uint64_t{2 * warp_tile}) : 0;
  prefetch_lines(arguments.keys_in + from, items * sizeof(*arguments.keys_in), lane(), 32);
  // A line of values is worth prefetching if a result from it is likely.
  if (arguments.values_in == nullptr || arguments.value_bytes == 0 || arguments.k * 16 < items)
    return;
  const auto bytes = static_cast<std::uint64_t>(arguments.value_bytes);
  prefetch_lines(static_cast<const char*>(arguments.values_in) + from * bytes, items * bytes,
                 lane(), 32);
}

/// Takes chunks of segments until none is left.
template <class Arguments>
__device__ __forceinline__ void select_in_tiles(const Arguments& arguments) {
  using Word = typename Arguments::Word;
  SegmentTiles<Word>& shared = shared_memory_of_warp<SegmentTiles<Word>>();
  const std::uint64_t all = arguments.segments();
  const auto claim = [&] {
    unsigned long long chunk = 0;
    if (lane() == 0) chunk = atomicAdd(&arguments.lists.counters->next_chunk, 1);
    return std::uint64_t{__shfl_sync(full_warp, chunk, 0)} * arguments.chunk;
  };
  std::uint64_t next = claim();
  while (next < all) {
    const std::uint64_t first = next;
    next = claim();
    arguments.prefetch_offsets(next, arguments.chunk, all);

    const auto segments =
        static_cast<unsigned int>(min(std::uint64_t{arguments.chunk}, all - first));
    const auto [kept, are_neighbours] = read_tile_chunk(arguments, shared, first, segments);
    int begin = 0;
    int end = kept == 0 ? 0 : end_of_tile(shared.number, 0, kept);
    while (begin < kept) {
      const int next_end = end < kept ? end_of_tile(shared.number, end, kept) : end;
      if (begin == 0) prefetch_tile(arguments, shared, begin, end);
      if (end < kept) prefetch_tile(arguments, shared, end, next_end);
      select_in_tile(arguments, shared, begin, end - begin, are_neighbours);
      begin = end;
      end = next_end;
    }
    __syncwarp();
  }
}

///   shared memory, per warp   its chunk of segments and a tile of 512 items (SegmentTiles)
///   registers of lane l       while loading: items l, 32 + l, 64 + l, ... of the tile; while
///                             sorting: the words of positions 16 l .. 16 l + 15
///
/// Segments of more than tile_longest items are listed for the other kernels, and, if
/// lists.begins is set, so are the extents of their results.
template <class Word>
__global__ void __launch_bounds__(top_k_tile_threads, sizeof(Word) == 4 ? 4 : 3)
    top_k_tile_kernel(const TopKArguments<Word> arguments) {
  select_in_tiles(arguments);
}

}  // namespace sortie::segsort
