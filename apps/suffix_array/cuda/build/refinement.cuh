// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

/// Refinement after a sort: a pass over the sorted items that finds the groups of equal items, and
/// keeps the items that are not alone, with their groups, for the next round.
///
/// An item stays if a neighbour in its previous group has the same key. Apart from that it needs
/// three numbers from the items before it: how many items stay, how many of their groups begin, and
/// where its own group begins. A warp computes these for a tile of 256 items by votes. A first
/// kernel computes the totals of each tile, a scan adds them up, and a second kernel repeats the
/// votes and writes the remaining items. This reads the keys twice, but is faster than one scan
/// over all items, because a warp issues all of its loads at once.
namespace sortie::suffix_array::cuda {

/// The items of the first sort: all suffixes, in one group, sorted by the keys of PrefixCode. Items
/// are in suffix array order already, so item j has slot j.
template <class Index, class Key>
struct FirstSortItems {
  const Key* keys;
  const Index* positions;

  __device__ bool is_head(Index j) const { return j == 0; }
  __device__ Key key(Index j) const { return keys[j]; }
  /// Odd keys belong to suffixes in their final order.
  __device__ bool is_final(Key key) const { return (key & 1U) != 0; }
  __device__ Index item(Index j) const { return positions[j]; }
  __device__ Index slot(Index j) const { return j; }
};

/// The items of SuffixGroups after sort_groups.
template <class Index, class Key>
struct GroupItems {
  const Key* keys;
  GroupsView<Index> list;
  /// Keys in which all of these bits are 0 contain the end of a record: suffixes with equal such
  /// keys are in their final order. All bits set if keys are not windows; keys must not be 0 then.
  Key end_mask;

  __device__ bool is_head(Index j) const { return list.heads[j] != 0; }
  __device__ Key key(Index j) const { return keys[j]; }
  __device__ bool is_final(Key key) const { return (key & end_mask) == 0; }
  __device__ Index item(Index j) const { return list.items[j]; }
  __device__ Index slot(Index j) const { return list.slots[j]; }
};

/// Totals of a range of items, or of all items before one.
template <class Index>
struct RefinementTotals {
  Index members;     ///< items that stay
  Index groups;      ///< groups of these
  Index last_begin;  ///< begin of the last group, whether it stays or not; 0 for none

  friend __host__ __device__ RefinementTotals operator+(const RefinementTotals& left,
                                                        const RefinementTotals& right) {
    // Begins ascend. 0 means none, and is also the begin that item 0 adds.
    return {static_cast<Index>(left.members + right.members),
            static_cast<Index>(left.groups + right.groups),
            left.last_begin > right.last_begin ? left.last_begin : right.last_begin};
  }
};

inline constexpr unsigned lanes = 32;
inline constexpr unsigned tile_chunks = 8;
inline constexpr unsigned refinement_tile = tile_chunks * lanes;

/// The item of the last vote among 32 items; there must be one.
template <class Index>
__device__ Index last_of(std::uint64_t first, unsigned votes) {
  return static_cast<Index>(first + lanes - 1 -
                            static_cast<unsigned>(__clz(static_cast<int>(votes))));
}

/// The flags of a tile as votes, one for each 32 items: the same in all lanes.
///
///   item   tile * 256 + chunk * 32 + lane   is bit `lane` of word `chunk`
struct TileFlags {
  unsigned begins[tile_chunks];  ///< first items of their groups; set beyond the last item
  unsigned stays[tile_chunks];

  template <class Items>
  __device__ TileFlags(const Items& items, std::uint64_t count, std::uint64_t tile, unsigned lane) {
    using Index = decltype(items.slot(0));
    using Key = decltype(items.key(0));
    const std::uint64_t first = tile * refinement_tile;
    Key keys[tile_chunks];
    bool heads[tile_chunks];
#pragma unroll
    for (unsigned chunk = 0; chunk < tile_chunks; ++chunk) {
      const std::uint64_t j = first + chunk * lanes + lane;
      keys[chunk] = j < count ? items.key(static_cast<Index>(j)) : Key{0};
      heads[chunk] = j < count ? items.is_head(static_cast<Index>(j)) : true;
    }
    // One key before the tile, and one after it.
    Key before = 0;
    bool next_begins = true;
    if (lane == 0 && first > 0) before = items.key(static_cast<Index>(first - 1));
    const std::uint64_t next = first + refinement_tile;
    if (lane == lanes - 1 && next < count) {
      const Key next_key = items.key(static_cast<Index>(next));
      next_begins = items.is_head(static_cast<Index>(next)) || next_key != keys[tile_chunks - 1] ||
                    items.is_final(next_key);
    }
    const unsigned behind = __ballot_sync(full_warp, lane == lanes - 1 && next_begins);
#pragma unroll
    for (unsigned chunk = 0; chunk < tile_chunks; ++chunk) {
      Key previous = __shfl_up_sync(full_warp, keys[chunk], 1);
      if (lane == 0) previous = before;
      begins[chunk] = __ballot_sync(
          full_warp, heads[chunk] || keys[chunk] != previous || items.is_final(keys[chunk]));
      before = __shfl_sync(full_warp, keys[chunk], lanes - 1);
    }
#pragma unroll
    for (unsigned chunk = 0; chunk < tile_chunks; ++chunk) {
      const unsigned next_chunk =
          chunk + 1 < tile_chunks ? begins[chunk + 1] << (lanes - 1) : behind;
      stays[chunk] = ~(begins[chunk] & (begins[chunk] >> 1 | next_chunk));
      const std::uint64_t from = first + chunk * lanes;
      if (from + lanes > count) {
        stays[chunk] &= from < count ? (1U << (count - from)) - 1 : 0U;
      }
    }
  }

  /// Totals of the items of the tile.
  template <class Index>
  __device__ RefinementTotals<Index> totals(std::uint64_t tile, std::uint64_t count) const {
    RefinementTotals<Index> sum{};
#pragma unroll
    for (unsigned chunk = 0; chunk < tile_chunks; ++chunk) {
      sum.members += static_cast<Index>(__popc(stays[chunk]));
      sum.groups += static_cast<Index>(__popc(stays[chunk] & begins[chunk]));
      const std::uint64_t from = tile * refinement_tile + chunk * lanes;
      if (from >= count) continue;
      const unsigned within =
          from + lanes > count ? begins[chunk] & ((1U << (count - from)) - 1) : begins[chunk];
      if (within != 0) {
        sum.last_begin = last_of<Index>(from, within);
      }
    }
    return sum;
  }
};

__device__ inline std::uint64_t tile_of_thread() {
  return (std::uint64_t{blockIdx.x} * element_threads + threadIdx.x) / lanes;
}

// Warp w computes the totals of tile w.
template <class Items, class Index>
__global__ void __launch_bounds__(element_threads)
    total_kernel(Items items, std::uint64_t count, std::uint64_t tiles,
                 RefinementTotals<Index>* totals) {
  const std::uint64_t tile = tile_of_thread();
  if (tile >= tiles) return;
  const unsigned lane = threadIdx.x % lanes;
  const TileFlags flags(items, count, tile, lane);
  if (lane == 0) totals[tile] = flags.totals<Index>(tile, count);
}

/// The totals of all tiles before `tile`, computed by a warp.
template <class Index>
__device__ RefinementTotals<Index> add_totals(const RefinementTotals<Index>* totals,
                                              std::uint64_t tile, unsigned lane) {
  RefinementTotals<Index> sum{};
  for (std::uint64_t t = lane; t < tile; t += lanes) sum = sum + totals[t];
  return {sum_in_warp(sum.members), sum_in_warp(sum.groups),
          reduce_in_warp(sum.last_begin, [](Index a, Index b) { return a > b ? a : b; })};
}

// Warp w calls use(items, j, begin of its group) for each item j of tile w, whether it stays or not,
// and writes the remaining items; the last warp also writes `all`. `before` holds the totals of each
// tile or, if these are summed already, of all tiles before it.
template <class Items, class Use, class Index>
__global__ void __launch_bounds__(element_threads)
    keep_kernel(Items items, Use use, std::uint64_t count, std::uint64_t tiles,
                const RefinementTotals<Index>* before, bool added_up, GroupsView<Index> output,
                RefinementTotals<Index>* all) {
  const std::uint64_t tile = tile_of_thread();
  if (tile >= tiles) return;
  const unsigned lane = threadIdx.x % lanes;
  const unsigned up_to_lane = full_warp >> (lanes - 1 - lane);
  const TileFlags flags(items, count, tile, lane);
  RefinementTotals<Index> sum = added_up ? before[tile] : add_totals(before, tile, lane);
#pragma unroll
  for (unsigned chunk = 0; chunk < tile_chunks; ++chunk) {
    const std::uint64_t from = tile * refinement_tile + chunk * lanes;
    if (from >= count) break;
    const unsigned begins = flags.begins[chunk];
    const unsigned stays = flags.stays[chunk];
    const auto j = static_cast<Index>(from + lane);
    const unsigned begins_so_far = begins & up_to_lane;
    const Index group_begin =
        begins_so_far == 0 ? sum.last_begin : last_of<Index>(from, begins_so_far);
    if (from + lane < count) use(items, j, group_begin);
    if ((stays >> lane & 1U) != 0) {
      const bool is_begin = (begins >> lane & 1U) != 0;
      const Index at = sum.members + static_cast<Index>(__popc(stays & up_to_lane)) - 1;
      output.items[at] = items.item(j);
      output.slots[at] = items.slot(j);
      output.heads[at] = is_begin ? 1 : 0;
      if (is_begin) {
        output.offsets[sum.groups + static_cast<Index>(__popc(stays & begins & up_to_lane)) - 1] =
            at;
      }
    }
    sum.members += static_cast<Index>(__popc(stays));
    sum.groups += static_cast<Index>(__popc(stays & begins));
    if (begins != 0) {
      sum.last_begin = last_of<Index>(from, begins);
    }
  }
  if (tile + 1 == tiles && lane == 0) {
    output.offsets[sum.groups] = sum.members;
    *all = sum;
  }
}

}  // namespace sortie::suffix_array::cuda
