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
///
/// Narrow keys (narrow_tiles.cuh) and selections (top_k_tiles.cuh) use the same functions with
/// arguments and arrays of their own. A selection sorts whole segments too, but writes only the
/// first items of each, and elsewhere: ResultPlaces.
namespace sortie::segsort {

/// Most segments in a tile if all are longer than longest_batched.
inline constexpr int most_medium = warp_tile / (longest_batched + 1);

/// Kernel arguments that sort_short_segments() needs. Keys are widened when they are loaded, and
/// narrowed when they are stored, if Stored has fewer bits than Word.
/// \tparam Selects  only the first items of each segment are written, see ResultPlaces. The keys or
///                  the values need not be written, and without values_in, the values are positions
template <class Word, class StoredType = Word, class Codec = BitRangeCodec<Word>,
          bool Selects = false>
struct ItemArrays {
  using Stored = StoredType;
  static constexpr bool selects = Selects;
  static constexpr int most_segments = selects ? 256 : most_segments_of_chunk;

  const Stored* keys_in;
  Stored* keys_out;
  const void* values_in;
  void* values_out;
  Codec codec;
};
template <class Word>
using SelectedArrays = ItemArrays<Word, Word, BitRangeCodec<Word>, true>;

/// Where the first items of the segments of a chunk are written. The item of number i in the chunk,
/// after the sort, goes to out + i if i < end.
template <class Index, int Most>
struct ResultPlaces {
  Index out[Most];  ///< from the front: of batched segments; back: first place of medium ones
  std::uint16_t end[Most];        ///< from the back: how many items of a medium segment are written
  Index medium_out[most_medium];  ///< for the segments of one tile
  std::uint16_t medium_end[most_medium];

  __device__ Index& medium(int i) { return out[Most - 1 - i]; }
  __device__ std::uint16_t& medium_wanted(int i) { return end[Most - 1 - i]; }
};
struct NoPlaces {};

/// Shared memory of a warp for its chunk. Index has enough bits to count all items. The places are
/// a base, not a member with [[no_unique_address]]: nvcc 13.0 then takes twice the size as the
/// distance of neighbours in an array.
template <class WordType, int ValueBytes, class IndexType, class ArraysType = ItemArrays<WordType>>
struct BatchShared
    : std::conditional_t<ArraysType::selects, ResultPlaces<IndexType, ArraysType::most_segments>,
                         NoPlaces> {
  using T = Tile<WordType, ValueBytes, 1, warp_tile_items>;
  using Word = WordType;
  using Index = IndexType;
  using Arrays = ArraysType;
  static constexpr int most_segments = Arrays::most_segments;
  T tile;
  Arrays arrays;
  /// From the front: for each batched segment, its first item minus the number of that item in the
  /// chunk. From the back: for each medium segment, length << 16 | index of the segment in the
  /// chunk; after ordering, its first item.
  Index base[most_segments];
  /// From the front: number of the first item of each batched segment. From the back: lengths of
  /// the medium segments, after ordering.
  std::uint16_t number[most_segments + 1];
  Index medium_base[most_medium];  ///< as base, for the segments of one tile
  std::uint16_t medium_number[most_medium + 1];

  __device__ ResultPlaces<Index, most_segments>& places() { return *this; }
  __device__ Index& medium(int i) { return base[most_segments - 1 - i]; }
  __device__ std::uint16_t& medium_length(int i) { return number[most_segments - i]; }
};
static_assert(most_segments_of_chunk * longest_batched < 1 << 16);
static_assert(longest_batched <= longest_middle_run);

/// Copies segments of one item each, the chunk's segments from first_segment on.
template <class Shared, class Arguments>
__device__ __forceinline__ void copy_batch(Shared& shared, const Arguments& arguments,
                                           int first_segment, int length) {
  using T = typename Shared::T;
  using Index = typename Shared::Index;
  using Value = typename T::Value;
  constexpr bool selects = Shared::Arrays::selects;
  const Index* const base = shared.base + first_segment;
  const Index first = shared.number[first_segment];
  const Index* places = base;
  if constexpr (selects) places = shared.places().out + first_segment;
  const bool has_keys = !selects || arguments.keys_out != nullptr;
  const bool has_positions = selects && arguments.values_in == nullptr;
  constexpr int ahead = 8;
  for (int begin = T::thread(); begin < length; begin += 32 * ahead) {
    Index index[ahead];
    typename Shared::Arrays::Stored keys[ahead];
    Value values[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
      const int e = begin + 32 * k;
      if (e >= length) continue;
      index[k] = base[e] + first + static_cast<Index>(e);
      keys[k] = arguments.keys_in[index[k]];
      if constexpr (T::value_bytes != 0)
        values[k] = has_positions ? static_cast<Value>(index[k])
                                  : static_cast<const Value*>(arguments.values_in)[index[k]];
    }
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
      if (begin + 32 * k >= length) continue;
      if constexpr (selects)
        index[k] = places[begin + 32 * k] + first + static_cast<Index>(begin + 32 * k);
      if (has_keys) arguments.keys_out[index[k]] = keys[k];
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

/// Starts to load the value of item e of a tile, which is at `index`.
template <class Arrays, class T, class Index>
__device__ __forceinline__ void load_value(T& tile, int e, const void* values_in, Index index) {
  if constexpr (Arrays::selects && T::value_bytes != 0) {
    if (values_in == nullptr) {
      tile.values[e] = static_cast<typename T::Value>(index);
      return;
    }
  }
  fetch_value(tile, e, value_at<T>(values_in, index));
}

/// Writes the selected items of a sorted tile. place_of(word, p, place) returns whether the item at
/// position p is selected, and sets its place. Either array may be null.
template <class T, class Arrays, class PlaceOf>
__device__ __forceinline__ void store_selected(T& tile, const Arrays& arrays, int length,
                                               const PlaceOf& place_of) {
  using Value = typename T::Value;
  auto* const keys_out = in_global_memory(arrays.keys_out);
  auto* const values_out = in_global_memory(static_cast<Value*>(arrays.values_out));
  const bool has_keys = arrays.keys_out != nullptr;
#pragma unroll 4
  for (int r = 0; r < T::items; ++r) {
    const int p = r * T::threads + T::thread();
    if (p >= length) continue;
    const std::uint32_t word = tile.striped(r);
    std::uint64_t place = 0;
    if (!place_of(word, p, place)) continue;
    const std::uint32_t e = word & T::index_mask;
    if (has_keys) keys_out[place] = arrays.codec.decode(tile.keys[e]);
    if constexpr (T::value_bytes != 0) values_out[place] = tile.values[e];
  }
}

/// Sorts `segments` segments that are too long to be batched as one tile of the calling warp. Their
/// items have the numbers medium_number[0] .. medium_number[segments] - 1; those of segment j start
/// at medium_number[j], and item number i is at medium_base[j] + i.
template <class Shared, class Arguments>
__device__ __forceinline__ void sort_medium(Shared& shared, const Arguments& arguments,
                                            int segments) {
  using T = typename Shared::T;
  using Index = typename Shared::Index;
  using Arrays = typename Shared::Arrays;
  using Word = typename T::Word;
  using Value = typename T::Value;
  T& tile = shared.tile;
  const Index* const base = shared.medium_base;
  const std::uint16_t* const number = shared.medium_number;
  const auto& codec = arguments.tile_codec();
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
      load_value<Arrays>(tile, e, arguments.values_in, index);
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
      load_value<Arrays>(tile, e, arguments.values_in, index);
      words[r] = e < length ? segment_field(segment, segment_bits) | static_cast<std::uint32_t>(e)
                            : 0xffffffffu;
    }
  }
  keep_keys(tile, keys, codec);
  static_cast<void>(sort_tile(tile, keys, words, length, segment_bits, codec));
  finish_values(tile);
  if constexpr (Arrays::selects) {
    store_selected(tile, shared.arrays, length,
                   [&](std::uint32_t word, int p, std::uint64_t& place) {
                     const std::uint32_t segment = segment_of(word, segment_bits);
                     if (p >= shared.places().medium_end[segment]) return false;
                     place = shared.places().medium_out[segment] + static_cast<Index>(p);
                     return true;
                   });
  } else {
    store_tile(tile, codec, length, arguments.keys_out, static_cast<Value*>(arguments.values_out),
               [&](std::uint32_t word, int r) {
                 return base[segment_of(word, segment_bits)] + first +
                        static_cast<Index>(r * 32 + lane);
               });
  }
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
/// \tparam AreWhole       so are their results: all items are written. Only if AreNeighbours
template <bool AreNeighbours, bool AreWhole, class Shared>
__device__ __noinline__ void sort_short_segments(int first_segment, int segments, int longest) {
  using T = typename Shared::T;
  using Word = typename Shared::Word;
  using Index = typename Shared::Index;
  using Arrays = typename Shared::Arrays;
  Shared& shared = shared_memory_of_warp<Shared>();
  T& tile = shared.tile;
  const Index* const base = shared.base + first_segment;
  const std::uint16_t* const number = shared.number + first_segment;
  const auto* const keys_in = in_global_memory(shared.arrays.keys_in);
  const int lane = T::thread();
  const int length = number[segments] - number[0];
  const Index first = number[0];
  const Index start = base[0] + first;
  Word keys[T::items];
  std::uint32_t words[T::items];
  if constexpr (AreNeighbours) {
    if (Arrays::selects && T::value_bytes != 0 && shared.arrays.values_in == nullptr) {
#pragma unroll
      for (int r = 0; r < T::items; ++r) {
        const int e = r * 32 + lane;
        const Index index = start + static_cast<Index>(min(e, length - 1));
        keys[r] = keys_in[index];
        tile.values[e] = static_cast<typename T::Value>(index);
      }
    } else {
      load_items(tile, keys, keys_in + start, value_at<T>(shared.arrays.values_in, start), length);
    }
  }
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
      load_value<Arrays>(tile, e, shared.arrays.values_in, index);
    }
    words[r] =
        e < length ? segment << (32 - segment_bits) | static_cast<std::uint32_t>(e) : 0xffffffffu;
  }
  const auto codec = shared.arrays.codec;
  keep_keys(tile, keys, codec);
  sort_tile<T, true>(tile, keys, words, length, segment_bits, codec, found);
  finish_values(tile);
  if constexpr (AreNeighbours && AreWhole) {
    Index start_out = start;
    if constexpr (Arrays::selects) start_out = shared.places().out[first_segment] + first;
    store_items(tile, codec, length, in_global_memory(shared.arrays.keys_out) + start_out,
                value_at<T>(shared.arrays.values_out, start_out));
  } else if constexpr (Arrays::selects) {
    store_selected(
        tile, shared.arrays, length, [&](std::uint32_t word, int p, std::uint64_t& place) {
          const auto segment = first_segment + static_cast<int>(word >> (32 - segment_bits));
          const Index number = first + static_cast<Index>(p);
          if (number >= shared.places().end[segment]) return false;
          place = shared.places().out[segment] + number;
          return true;
        });
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
/// together, with their segments and the offsets of these, if any is longer than Longest.
template <int Longest, class Shared, class Arguments, class ListLong>
__device__ __forceinline__ Chunk read_chunk(Shared& shared, const Arguments& arguments,
                                            const ListLong& list_long, std::uint64_t chunk_begin,
                                            int segments) {
  using Index = typename Shared::Index;
  using Offsets = decltype(arguments.offsets(0));
  constexpr bool selects = Shared::Arrays::selects;
  std::uint64_t longest = Longest;
  std::uint64_t batch_longest = longest_batched;
  if constexpr (selects) {
    longest = static_cast<std::uint64_t>(arguments.tile_longest);
    batch_longest = min(batch_longest, longest);
  }
  const int lane = static_cast<int>(threadIdx.x % 32);
  const unsigned int lower = (1u << lane) - 1;
  // Two rows of offsets are prefetched, and the loop is not unrolled: four rows at a time would be
  // faster in isolation, but leave less of the instruction cache to the sort.
  const auto fetch = [&](int row) -> Offsets {
    if (row + lane >= segments) return {};
    return arguments.offsets(chunk_begin + static_cast<std::uint64_t>(row + lane));
  };
  Offsets next_row = fetch(0);
  Offsets next_but_one = fetch(32);
  Chunk chunk{};
  int items = 0;
#pragma unroll 1
  for (int row = 0; row < segments; row += 32) {
    const int segment = row + lane;
    const Offsets offsets = next_row;
    const SegmentExtent found = offsets.extent();
    next_row = next_but_one;
    next_but_one = fetch(row + 64);
    const bool is_batched = found.length != 0 && found.length <= batch_longest;
    const int length = is_batched ? static_cast<int>(found.length) : 0;
    const unsigned int members = __ballot_sync(full_warp, is_batched);
    // If all segments of the row are adjacent in memory, offsets yield the prefix sums of the
    // lengths.
    const auto begin = static_cast<Index>(found.begin);
    const Index next = __shfl_down_sync(full_warp, begin, 1);
    const bool is_neighbour = found.length <= batch_longest && segment < segments &&
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
      if constexpr (selects) {
        shared.places().out[place] = static_cast<Index>(offsets.out) - static_cast<Index>(number);
        shared.places().end[place] =
            static_cast<std::uint16_t>(number + offsets.selection().wanted);
      }
    }
    items += total;
    chunk.batched += __popc(members);
    if (__any_sync(full_warp, found.length > batch_longest) == 0) continue;
    if constexpr (Longest > longest_batched) {
      const bool is_medium = found.length > batch_longest && found.length <= longest;
      const unsigned int medium = __ballot_sync(full_warp, is_medium);
      if (is_medium)
        shared.medium(chunk.medium + __popc(medium & lower)) =
            static_cast<Index>(found.length << 16 | static_cast<std::uint64_t>(segment));
      chunk.medium += __popc(medium);
    }
    if (__any_sync(full_warp, found.length > longest) != 0)
      list_long(chunk_begin + static_cast<std::uint64_t>(segment), offsets);
  }
  if (lane == 0) shared.number[chunk.batched] = static_cast<std::uint16_t>(items);
  __syncwarp();
  return chunk;
}

/// Orders up to 128 medium segments from `begin` on by length.
template <class Shared, class Arguments>
__device__ __forceinline__ void order_medium(Shared& shared, const Arguments& arguments,
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
    const std::uint64_t segment = chunk_begin + (words[r] & 0xffff);
    if constexpr (Shared::Arrays::selects) {
      const auto offsets = arguments.offsets(segment);
      shared.medium(begin + i) = static_cast<Index>(offsets.begin);
      shared.places().medium(begin + i) = static_cast<Index>(offsets.out);
      shared.places().medium_wanted(begin + i) =
          static_cast<std::uint16_t>(offsets.selection().wanted);
    } else {
      shared.medium(begin + i) = static_cast<Index>(arguments.begin_offsets[segment]);
    }
    shared.medium_length(begin + i) = static_cast<std::uint16_t>(words[r] >> 16);
  }
  __syncwarp();
}

template <class Shared, class Arguments>
__device__ __forceinline__ void keep_arrays(Shared& shared, const Arguments& arguments) {
  if (threadIdx.x % 32 == 0)
    shared.arrays = {arguments.keys_in, arguments.keys_out, arguments.values_in,
                     arguments.values_out, arguments.tile_codec()};
  __syncwarp();
}

/// Sorts the `medium` segments of a chunk that are too long to be batched.
template <class Shared, class Arguments>
__device__ __forceinline__ void sort_all_medium(Shared& shared, const Arguments& arguments,
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
    if constexpr (Shared::Arrays::selects) {
      auto& places = shared.places();
      if (lane < segments) {
        places.medium_out[lane] = places.medium(mine) - static_cast<Index>(begin_number);
        places.medium_end[lane] =
            static_cast<std::uint16_t>(begin_number + places.medium_wanted(mine));
      }
    }
    --longest;
    __syncwarp();
    sort_medium(shared, arguments, segments);
  }
}

/// Sorts the `batched` segments of a chunk.
template <bool AreNeighbours, bool AreWhole, class Shared, class Arguments>
__device__ __forceinline__ void sort_batches(Shared& shared, const Arguments& arguments,
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
      copy_batch(shared, arguments, begin, length);
      __syncwarp();
    } else {
      sort_short_segments<AreNeighbours, AreWhole, Shared>(begin, segments,
                                                           longest_of(number, segments));
    }
    begin = end;
  }
}

/// As above, by one method for the whole chunk: a choice per tile would let the warps execute the
/// code of both at the same time, which exceeds the instruction cache.
template <class Shared, class Arguments>
__device__ __forceinline__ void sort_all_batched(Shared& shared, const Arguments& arguments,
                                                 int batched) {
  constexpr bool selects = Shared::Arrays::selects;
  bool are_neighbours = true;
  bool are_whole = !selects || arguments.keys_out != nullptr;
  for (int i = static_cast<int>(threadIdx.x % 32); i < batched; i += 32) {
    are_neighbours &= shared.base[i] == shared.base[0];
    if constexpr (selects)
      are_whole &= shared.places().end[i] == shared.number[i + 1] &&
                   shared.places().out[i] == shared.places().out[0];
  }
  if (__all_sync(full_warp, are_neighbours) == 0) {
    sort_batches<false, false>(shared, arguments, batched);
  } else if (!selects || __all_sync(full_warp, are_whole) != 0) {
    sort_batches<true, true>(shared, arguments, batched);
  } else if constexpr (selects) {
    sort_batches<true, false>(shared, arguments, batched);
  }
}

/// Sorts the segments of up to Longest items of a chunk in the tile of the calling warp, and lists
/// the others. \pre keep_arrays() has been called
template <int Longest, class Shared, class Arguments, class ListLong>
__device__ __forceinline__ void sort_chunk(Shared& shared, const Arguments& arguments,
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

/// Takes chunks of segments from a counter until none is left, and sorts those segments that fit
/// tiles. \param list_long  as for read_chunk()
template <int Longest, class Shared, class Arguments, class Counter, class ListLong>
__device__ __forceinline__ void sort_chunks(const Arguments& arguments, const ChunkPlan& chunks,
                                            unsigned int warps, Counter& next_chunk,
                                            const ListLong& list_long) {
  Shared& shared = shared_memory_of_warp<Shared>();
  keep_arrays(shared, arguments);
  const std::uint64_t all = arguments.segments();
  while (true) {
    unsigned int chunk = 0;
    if (threadIdx.x % 32 == 0) chunk = static_cast<unsigned int>(atomicAdd(&next_chunk, 1));
    chunk = __shfl_sync(full_warp, chunk, 0);
    const std::uint64_t begin = chunks.begin(chunk);
    if (begin >= all) break;
    const unsigned int size = chunks.size(chunk);
    // Chunks are claimed in ascending order, so the offsets as many chunks ahead as there are warps
    // are needed soon.
    arguments.prefetch_offsets(begin + std::uint64_t{size} * gridDim.x * warps / 2, size, all);
    sort_chunk<Longest>(shared, arguments, list_long, begin,
                        static_cast<int>(min(std::uint64_t{size}, all - begin)));
  }
}

///   shared memory, per warp   its chunk (BatchShared) and a tile of 512 items: keys, values, words
///   registers of lane l       while loading and storing: items l, 32 + l, 64 + l, ... of the tile;
///                             while sorting: the words of positions 16 l .. 16 l + 15
template <class Word, int ValueBytes, class Index, int Longest = longest_in_warp,
          class Tiles = LargeTiles>
__global__ void __launch_bounds__(Tiles::batch_threads,
                                  resident_batch_blocks<Tiles, Word, ValueBytes>)
    batch_sort_kernel(Arguments<Word> arguments, WorkLists lists, ChunkPlan chunks) {
  using Shared = BatchShared<Word, ValueBytes, Index>;
  sort_chunks<Longest, Shared>(
      arguments, chunks, Tiles::batch_threads / 32, lists.counters->next_chunk,
      [&](std::uint64_t segment, const SegmentOffsets& offsets) {
        const std::uint64_t length = offsets.extent().length;
        const int list = length > Longest ? long_class<Tiles>(length) : -1;
        const std::uint32_t place = take_places(lists.counters->segments, list);
        if (list >= 0) lists.segment(list, place) = static_cast<std::uint32_t>(segment);
      });
}

}  // namespace sortie::segsort
