// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "primitives/key_codec.hpp"
#include "segsort/cuda/batch_sort.cuh"

/// Segments of keys of 1 or 2 bytes in the tiles of warps, by batch_sort.cuh. Keys are widened when
/// they are loaded, and narrowed when they are stored. Segments of more than longest_narrow_tile
/// items are listed, for teams of warps (narrow_digits.cuh) or for all blocks (narrow_long.cuh).
namespace sortie::segsort {

inline constexpr unsigned int narrow_tile_threads = LargeTiles::batch_threads;
inline constexpr int longest_narrow_tile = warp_tile;

/// Segments that exceed a warp's tile are sorted by teams of 2, 4, 8 or 16 warps (list 0 .. 3), if
/// they are not longer than 512 items a warp. A block has as many teams as fit it.
inline constexpr int digit_lists = 4;
inline constexpr int digit_block_warps = 16;
__host__ __device__ constexpr std::uint64_t longest_of_digit_list(int list) {
  return list < 0 ? longest_narrow_tile : std::uint64_t{2 * longest_narrow_tile} << list;
}
/// Shared memory of the tile of any team that sorts words (narrow_teams.cuh).
inline constexpr std::size_t shared_bytes_of_narrow_teams = 140 * 1024;
inline constexpr std::uint64_t longest_of_digit_teams = longest_of_digit_list(digit_lists - 1);

struct NarrowCounters {
  unsigned long long next_chunk;  ///< first chunk of segments that no warp has claimed
  unsigned long long of_team[digit_lists];
  unsigned long long segments;       ///< listed because they exceed teams
  unsigned long long pieces;         ///< of these segments
  unsigned long long next_piece[2];  ///< of each pass, the first piece that no block has claimed
};

/// Items of a piece of a segment that exceeds teams: what a team of all warps of a block holds.
inline constexpr std::uint64_t narrow_piece = longest_of_digit_teams;

/// Listed segments, in temporary storage.
struct NarrowLists {
  NarrowCounters* counters;
  SegmentExtent* of_team[digit_lists];
  std::uint64_t* begins;  ///< of segments that exceed teams
  std::uint64_t* ends;
  std::uint64_t* first_piece;
  std::uint32_t* owner;  ///< of each piece: the index of its segment in the lists
  /// Of each of these segments, for each digit of its keys: how often each value occurs, later the
  /// position of the first in the segment. 0 at first.
  unsigned long long* starts;
  unsigned long long* statuses;  ///< see radix::Status: one row per piece; 0 at first
};

/// Keys as the lowest bits of words, in place of a BitRangeCodec.
template <class Narrow>
struct NarrowCodec {
  static constexpr std::uint32_t compare_mask = ~std::uint32_t{0};
  static constexpr int ignored_bits = 0;
  static constexpr bool plain = false;

  KeyCodec<Narrow> codec;

  [[nodiscard]] __device__ std::uint32_t encode(std::uint32_t key) const {
    return codec.encoded(static_cast<Narrow>(key));
  }
  [[nodiscard]] __device__ Narrow decode(std::uint32_t word) const {
    return codec.decoded(static_cast<Narrow>(word));
  }
};

/// Arguments of a sort of segments of narrow keys.
template <class Narrow>
struct NarrowArguments {
  using Word = std::uint32_t;
  using Stored = Narrow;

  const Narrow* keys_in;
  Narrow* keys_out;
  const void* values_in;
  void* values_out;
  int value_bytes;
  DeviceOffsets begin_offsets;
  DeviceOffsets end_offsets;
  std::uint64_t num_segments;
  const std::int64_t* device_num_segments;
  KeyCodec<Narrow> codec;
  NarrowLists lists;

  [[nodiscard]] __device__ std::uint64_t segments() const {
    if (device_num_segments == nullptr) return num_segments;
    return min(static_cast<std::uint64_t>(max(*device_num_segments, std::int64_t{0})),
               num_segments);
  }
  [[nodiscard]] __device__ SegmentOffsets offsets(std::uint64_t segment) const {
    return {begin_offsets[segment], end_offsets[segment]};
  }
  /// Prefetches the offsets of up to 512 segments. Called by a warp.
  __device__ void prefetch_offsets(std::uint64_t first, std::uint64_t count,
                                   std::uint64_t all) const {
    begin_offsets.prefetch(first, count, all);
  }
  [[nodiscard]] __device__ NarrowCodec<Narrow> tile_codec() const { return {codec}; }
};

/// Lists the lane's segment, if it takes part, and divides it into pieces. All lanes call.
template <class Narrow>
__device__ __forceinline__ void list_beyond_tiles(const NarrowArguments<Narrow>& arguments,
                                                  const SegmentExtent& s, bool is_listed) {
  const NarrowLists& lists = arguments.lists;
  const bool of_team = is_listed && s.length <= longest_of_digit_teams;
#pragma unroll
  for (int list = 0; list < digit_lists; ++list) {
    const bool mine = of_team && s.length <= longest_of_digit_list(list) &&
                      s.length > longest_of_digit_list(list - 1);
    const unsigned int all = __ballot_sync(full_warp, mine);
    if (all == 0) continue;
    unsigned long long place = 0;
    if (lane() == 0) place = atomicAdd(&lists.counters->of_team[list], lanes_of(all));
    place = __shfl_sync(full_warp, place, 0);
    if (mine) lists.of_team[list][place + rank_among(all)] = {s.begin, s.length};
  }
  for (unsigned int rest = __ballot_sync(full_warp, is_listed && !of_team); rest != 0;
       rest &= rest - 1) {
    const int owner = first_lane(rest);
    const std::uint64_t begin = __shfl_sync(full_warp, s.begin, owner);
    const std::uint64_t length = __shfl_sync(full_warp, s.length, owner);
    const std::uint64_t pieces = (length - 1) / narrow_piece + 1;
    unsigned long long index = 0;
    unsigned long long first = 0;
    if (lane() == 0) {
      index = atomicAdd(&lists.counters->segments, 1);
      first = atomicAdd(&lists.counters->pieces, static_cast<unsigned long long>(pieces));
      lists.begins[index] = begin;
      lists.ends[index] = begin + length;
      lists.first_piece[index] = first;
    }
    index = __shfl_sync(full_warp, index, 0);
    first = __shfl_sync(full_warp, first, 0);
    for (std::uint64_t p = lane(); p < pieces; p += 32)
      lists.owner[first + p] = static_cast<std::uint32_t>(index);
  }
}

template <class Narrow, int ValueBytes, class Index>
using NarrowTiles = BatchShared<std::uint32_t, ValueBytes, Index,
                                ItemArrays<std::uint32_t, Narrow, NarrowCodec<Narrow>>>;

/// As batch_sort_kernel: shared memory and registers are the same.
template <class Narrow, int ValueBytes, class Index>
__global__ void __launch_bounds__(narrow_tile_threads,
                                  resident_batch_blocks<LargeTiles, std::uint32_t, ValueBytes>)
    narrow_tile_kernel(const NarrowArguments<Narrow> arguments, ChunkPlan chunks) {
  sort_chunks<longest_narrow_tile, NarrowTiles<Narrow, ValueBytes, Index>>(
      arguments, chunks, narrow_tile_threads / 32, arguments.lists.counters->next_chunk,
      [&](std::uint64_t, const SegmentOffsets& offsets) {
        const SegmentExtent s = offsets.extent();
        list_beyond_tiles(arguments, s, s.length > longest_narrow_tile);
      });
}

}  // namespace sortie::segsort
