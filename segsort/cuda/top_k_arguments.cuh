// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "primitives/key_codec.hpp"
#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/narrow_tiles.cuh"
#include "segsort/cuda/policy.cuh"

/// Selection of the k first keys of each segment. Keys are words that ascend in the requested order
/// (WordCodec), so that the k least words are wanted, those at the lowest positions among equal
/// ones. Keys of 1 and 2 bytes are widened to words of 4 when they are loaded.
///
/// | Length                  | By       | Method                                                     |
/// |-------------------------|----------|------------------------------------------------------------|
/// | up to 128, if that is   | a warp   | a tile of neighbouring segments, sorted; the first k of    |
/// | faster (tile_longest)   |          | each are written                                           |
/// | up to 32, k = 1         | a thread | the least of each of four segments (top_k_least.cuh)       |
/// | up to 8 k, 512 to 5120  | a team   | k > 32: a tile as above, of one segment                    |
/// | up to 256               | a team   | k = 32: the same                                           |
/// | up to 32 (8-byte: 16)   | a thread | the least, or a sorting network in registers               |
/// | up to 1024              | a warp   | threshold of all items in registers                        |
/// | up to 8192, k <= 32     | a warp   | items below a threshold enter a buffer                     |
/// | up to 65536             | a block  | items below a threshold enter a buffer in shared memory;   |
/// |                         |          | when it is full, its k-th word is the next threshold       |
/// | longer                  | blocks   | parts as above; the last block of 32 merges their results  |
/// | one segment, from 2^22  | warps    | items within a bound from a sample are listed, and ranked  |
/// | to 2^30 items           |          | (top_k_stream.cuh)                                         |
namespace sortie::segsort {

/// Longer segments of threads are listed for warps if a chunk has few of them.
inline constexpr int longest_of_any_thread = 8;
/// Items that a warp holds in registers.
inline constexpr int longest_of_warp = 1024;
/// Segments up to this length are read by warps, in chunks, if there are enough of them.
inline constexpr int longest_of_streaming_warp = 8192;
/// Segments up to this length are read by eight lanes if k = 1.
inline constexpr int longest_of_lanes = 256;
/// Segments up to this length are read by one thread if k = 1 and most are short.
inline constexpr int longest_of_least = 32;
inline constexpr std::uint64_t longest_of_block = 65536;
/// Parts of longer segments: of at least this many items, at most 32 * 32 per segment.
inline constexpr std::uint64_t shortest_part = 16384;
inline constexpr std::uint64_t parts_of_group = 32;
inline constexpr std::uint64_t most_parts = parts_of_group * parts_of_group;

/// Samples of a long segment that give a bound of its k-th word, and rows of each; lines of 32
/// items.
inline constexpr unsigned int sample_parts = 128;
inline constexpr unsigned int sample_rows = 64;
/// Segments of at least this many items are sampled, if more than most_sorted_in_kernel are wanted.
inline constexpr std::uint64_t shortest_sampled = 1 << 22;

/// One segment of at most this many items is streamed (top_k_stream.cuh). Of n items, about
/// wanted_of_sample() * n / 2^21 are within the bound, which must fit the list.
inline constexpr std::uint64_t longest_streamed = std::uint64_t{1} << 30;
inline constexpr unsigned int stream_capacity = 1 << 14;

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

/// Segments that are too long for tiles are sorted by teams of one or more warps, if k is large
/// compared with their length (team_longest): lists of segments by the block class of the tile. All
/// teams share blocks of so many warps.
inline constexpr int top_k_team_warps = 20;
inline constexpr int team_lists = 5;
__host__ __device__ constexpr int team_class(int list) {
  constexpr int classes[team_lists] = {block_class(256), block_class(512), block_class(1024),
                                       block_class(2048), block_class(5120)};
  return classes[list];
}
/// Of the first lists, each team is a warp.
inline constexpr int teams_of_one_warp = 2;
static_assert(team_warps(team_class(0)) == 1 && team_warps(team_class(1)) == 1);
static_assert(top_k_team_warps % team_warps(team_class(2)) == 0 &&
              top_k_team_warps % team_warps(team_class(3)) == 0 &&
              top_k_team_warps % team_warps(team_class(4)) == 0);
/// Shared memory that the tile of any team fits.
inline constexpr std::size_t shared_bytes_of_teams = 128 * 1024;
inline constexpr std::uint64_t longest_of_teams = block_capacity(team_class(team_lists - 1));

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
  unsigned long long next_chunk;  ///< first chunk of top_k_tile_kernel that no warp has claimed
  unsigned long long results;     ///< extents listed in begins and ends
  unsigned long long team_segments[team_lists];
  unsigned long long stream_bound;
  unsigned long long stream_tie_end;  ///< keys equal to the bound are listed before this place
  unsigned int stream_blocks_done;    ///< of the sample
  unsigned int has_stream_bound;
  unsigned int streamed;     ///< items within the bound
  unsigned int is_streamed;  ///< the results are written; nothing is left to do
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
  /// How many candidates of each part, then of each group, are items: the others are all ones.
  std::uint32_t* candidate_counts;
  std::uint64_t part_capacity;
  unsigned long long* bounds = nullptr;  ///< of each long segment; 0: none; null: not sampled
  /// Extents of the results of each segment, or, with tiles, of each segment that is not in a tile,
  /// for the sort of the results; null: not wanted.
  std::uint64_t* begins = nullptr;
  std::uint64_t* ends = nullptr;
  std::uint64_t* team_segments[team_lists] = {};
  void* stream_minima = nullptr;              ///< words; null: not streamed
  void* stream_words = nullptr;               ///< stream_capacity items within the bound
  std::uint32_t* stream_positions = nullptr;  ///< in the segment
};

/// A segment, and the place of its results.
struct Selection {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t out = 0;
  std::uint64_t wanted = 0;  ///< k, at most the length
};

/// What is loaded of a segment. Nothing is computed from it until extent() or selection() is called,
/// so that loads can be in flight meanwhile.
struct SelectionOffsets {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t out = 0;
  std::uint64_t out_end = 0;
  std::uint64_t k = 0;

  [[nodiscard]] __device__ Selection selection() const {
    const std::uint64_t length = end > begin ? end - begin : 0;
    return {begin, length, out, min(min(k, out_end - out), length)};
  }
  /// Of length 0 if nothing is wanted.
  [[nodiscard]] __device__ SegmentExtent extent() const {
    const Selection s = selection();
    return {s.begin, s.wanted == 0 ? 0 : s.length};
  }
};

/// A key in registers and shared memory.
template <class Key>
using WordOf = std::conditional_t<(sizeof(Key) < 4), std::uint32_t, Key>;

/// Keys in memory, and the words that they are compared as. A word of a narrow key has the encoded
/// key in its lowest bits, and zeros.
template <class Key>
struct WordCodec {
  using Word = WordOf<Key>;

  KeyCodec<Key> codec;

  [[nodiscard]] __device__ __forceinline__ Word encoded(Key key) const {
    return codec.encoded(key);
  }
  [[nodiscard]] __device__ __forceinline__ Key decoded(Word word) const {
    return codec.decoded(static_cast<Key>(word));
  }
};

/// \tparam Key  unsigned, of the width of the keys in memory
template <class Key>
struct TopKArguments {
  using Word = WordOf<Key>;
  using Stored = Key;
  const Key* keys_in;
  Key* keys_out;
  const void* values_in;
  void* values_out;
  int value_bytes;
  DeviceOffsets begin_offsets;
  DeviceOffsets end_offsets;
  DeviceOffsets output_offsets;
  std::uint64_t num_items;
  std::uint64_t num_segments;
  std::uint64_t num_outputs;
  std::uint64_t row_length;  ///< without offsets: of each segment
  const std::int64_t* device_num_segments;
  std::uint64_t k;
  WordCodec<Key> codec;
  bool sorted;         ///< by the kernels
  unsigned int chunk;  ///< segments that a warp takes at a time, at most 32; not of tiles
  int capacity;        ///< of a block's buffer
  TopKLists lists;
  std::uint64_t warp_longest = longest_of_warp;  ///< longest segment that a warp selects from
  int tile_longest = 0;            ///< longest segment that is sorted in a tile; 0: no tiles
  std::uint64_t team_longest = 0;  ///< longer ones up to this length are sorted by teams; 0: none

  [[nodiscard]] __device__ std::uint64_t segments() const {
    if (lists.stream_words != nullptr && lists.counters->is_streamed != 0) return 0;
    if (device_num_segments == nullptr) return num_segments;
    return min(static_cast<std::uint64_t>(max(*device_num_segments, std::int64_t{0})),
               num_segments);
  }
  [[nodiscard]] __device__ SelectionOffsets offsets(std::uint64_t segment) const {
    SelectionOffsets found;
    if (begin_offsets.data == nullptr) {
      found.begin = segment * row_length;
      found.end = found.begin + row_length;
    } else {
      found.begin = begin_offsets[segment];
      found.end = end_offsets[segment];
    }
    if (output_offsets.data == nullptr) {
      found.out = segment * k;
      found.out_end = found.out + k;
    } else {
      found.out = output_offsets[segment];
      found.out_end = output_offsets[segment + 1];
    }
    found.k = k;
    return found;
  }
  /// Prefetches the offsets of up to 256 segments. Called by a warp.
  __device__ void prefetch_offsets(std::uint64_t first, std::uint64_t count,
                                   std::uint64_t all) const {
    if (begin_offsets.data != nullptr) begin_offsets.prefetch(first, count, all);
    if (output_offsets.data != nullptr) output_offsets.prefetch(first, count, all);
  }
  [[nodiscard]] __device__ auto tile_codec() const {
    if constexpr (sizeof(Key) < 4) {
      return NarrowCodec<Key>{codec.codec};
    } else {
      return BitRangeCodec<Key>{codec.codec, ~Key{0}, 0, 0, codec.codec.is_identity()};
    }
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

template <class Key>
__device__ Selection selection_of(const TopKArguments<Key>& arguments, std::uint64_t segment) {
  return arguments.offsets(segment).selection();
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

/// Longest segment of a thread.
template <class Word>
inline constexpr int longest_of_thread = sizeof(Word) == 4 ? 32 : 16;

}  // namespace sortie::segsort
