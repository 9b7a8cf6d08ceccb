// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "papers/ics17/policy.cuh"

/// Lists that binning passes to the sorting kernels, in the temporary storage of the caller.
namespace sortie::segsort::ics17 {

/// A segment of the grid bin.
struct LongSegment {
  std::uint64_t begin;       ///< first item
  std::uint64_t length;      ///< items
  std::uint64_t first_tile;  ///< tiles of the preceding long segments
};

/// Counters, zeroed before each sort. Too few to need distribution over several blocks or lines.
struct Counters {
  unsigned int bin_size[bin_count];   ///< segments in each bin
  unsigned int bin_start[bin_count];  ///< exclusive scan of bin_size
  unsigned int bin_filled[bin_count];
  unsigned int merge_rounds;  ///< rounds that the longest segment needs
  /// Long segments (upper 32 bits) and their tiles (lower 32 bits) so far. They share one word, so
  /// that a single atomic reserves a list entry and a range of tiles, and tiles ascend in the list.
  unsigned long long long_segments_and_tiles;

  __device__ unsigned int long_segments() const {
    return static_cast<unsigned int>(long_segments_and_tiles >> 32);
  }
  __device__ unsigned int tiles() const {
    return static_cast<unsigned int>(long_segments_and_tiles);
  }
};

struct WorkLists {
  Counters* counters;
  std::uint32_t* segment_ids;   ///< one per segment, ordered by bin
  LongSegment* long_segments;   ///< at most num_items / (tile_size + 1)
  std::uint32_t* tile_segment;  ///< index into long_segments for each tile
  std::uint64_t* tile_split;    ///< items of run a that precede a tile's merge
};

/// Tiles of a long segment. rounds_of(): merge rounds that they need.
__host__ __device__ inline std::uint64_t tiles_of(std::uint64_t length) {
  return (length + tile_size - 1) / tile_size;
}
__host__ __device__ inline unsigned int rounds_of(std::uint64_t length) {
  unsigned int rounds = 0;
  while ((static_cast<std::uint64_t>(tile_size) << rounds) < length) ++rounds;
  return rounds;
}

}  // namespace sortie::segsort::ics17
