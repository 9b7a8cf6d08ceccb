// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "segsort/cuda/batch_sort.cuh"
#include "segsort/cuda/top_k_lists.cuh"

/// Selection by sorting: the segments of up to `tile_longest` items are sorted in the tiles of
/// warps by batch_sort.cuh, but only the first k of each are written, to their final places.
namespace sortie::segsort {

inline constexpr unsigned int top_k_tile_threads = LargeTiles::batch_threads;
/// Longest segment of a tile.
inline constexpr int longest_of_tile = warp_tile;

template <class Key>
using SelectionArrays =
    std::conditional_t<(sizeof(Key) < 4), ItemArrays<WordOf<Key>, Key, NarrowCodec<Key>, true>,
                       SelectedArrays<WordOf<Key>>>;
template <class Key, int ValueBytes, class Index>
using SelectionTiles = BatchShared<WordOf<Key>, ValueBytes, Index, SelectionArrays<Key>>;

/// As batch_sort_kernel, with the places of the results beside each chunk. Segments of more than
/// tile_longest items are listed for the other kernels, and, if lists.begins is set, so are the
/// extents of their results.
template <class Key, int ValueBytes, class Index>
__global__ void __launch_bounds__(top_k_tile_threads,
                                  resident_batch_blocks<LargeTiles, WordOf<Key>, ValueBytes>)
    top_k_tile_kernel(const TopKArguments<Key> arguments, ChunkPlan chunks) {
  sort_chunks<longest_of_tile, SelectionTiles<Key, ValueBytes, Index>>(
      arguments, chunks, top_k_tile_threads / 32, arguments.lists.counters->next_chunk,
      [&](std::uint64_t segment, const SelectionOffsets& offsets) {
        const Selection s = offsets.selection();
        const bool is_listed =
            s.wanted != 0 && s.length > static_cast<std::uint64_t>(arguments.tile_longest);
        list_beyond_tiles(arguments, segment, s, is_listed);
      });
}

}  // namespace sortie::segsort
