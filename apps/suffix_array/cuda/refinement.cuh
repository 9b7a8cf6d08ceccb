#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// What a sort tells about suffixes: a pass over the sorted items that finds the groups of equal
/// ones, and keeps the items that are not alone, with their groups, for the next round.
///
/// An item stays if a neighbour in its group of before has the same key. Everything else that it
/// needs from the items before it are three numbers: how many items stay, how many groups of these
/// begin, and at which item its own group begins. A warp finds them for a tile of 256 items by
/// votes; a first kernel does so for the sums of each tile, a scan adds these up, and a second
/// kernel does it again to write what stays. That reads the keys twice, and is faster than one scan
/// over all items, because a warp has all of its loads under way at once.
namespace sortie::suffix_array::cuda {

/// The items of the first sort: all suffixes, in one group, sorted by the keys of PrefixCode. Item
/// and slot are the same, and so the suffixes are in their places already.
template <class IndexType, class KeyType>
struct FirstSortItems {
  using Index = IndexType;
  using Key = KeyType;

  const Key* keys;
  const Index* positions;

  __device__ bool is_head(Index j) const { return j == 0; }
  __device__ Key key(Index j) const { return keys[j]; }
  /// Odd keys belong to suffixes that are in their final order.
  __device__ bool is_final(Key key) const { return (key & 1U) != 0; }
  __device__ Index item(Index j) const { return positions[j]; }
  __device__ Index slot(Index j) const { return j; }
};

/// The items of SuffixGroups after sort_groups.
template <class IndexType, class KeyType>
struct GroupItems {
  using Index = IndexType;
  using Key = KeyType;

  const Key* keys;
  const Index* items;
  const Index* slots;
  const std::uint8_t* heads;
  /// Keys that have none of these bits contain the end of a record: equal ones are in their final
  /// order. All bits where keys are no windows: then, keys must not be 0.
  Key end_mask;

  __device__ bool is_head(Index j) const { return heads[j] != 0; }
  __device__ Key key(Index j) const { return keys[j]; }
  __device__ bool is_final(Key key) const { return (key & end_mask) == 0; }
  __device__ Index item(Index j) const { return items[j]; }
  __device__ Index slot(Index j) const { return slots[j]; }
};

/// What is done with every item besides keeping those that stay: nothing, where all are in their
/// places.
struct LeaveInPlace {
  template <class Items, class Index>
  __device__ void operator()(const Items&, Index, Index) const {}
};

/// Places all items in the suffix array, also those that stay, so that it always holds every suffix
/// once.
template <class Index>
struct PlaceInSuffixArray {
  Index* suffix_array;

  template <class Items>
  __device__ void operator()(const Items& items, Index j, Index) const {
    suffix_array[items.slot(j)] = items.item(j);
  }
};

/// Ranks items by the slot of the first item of their group.
template <class Index>
struct RankByGroup {
  Index* ranks;  ///< by item

  template <class Items>
  __device__ void operator()(const Items& items, Index j, Index group_begin) const {
    ranks[items.item(j)] = items.slot(group_begin);
  }
};

/// Of some items, or of all before an item.
template <class Index>
struct RefinementTotals {
  Index members;     ///< that stay
  Index groups;      ///< of these
  Index last_begin;  ///< where the last group begins, of those that stay or not; 0 for none

  friend __host__ __device__ RefinementTotals operator+(const RefinementTotals& left,
                                                        const RefinementTotals& right) {
    // Begins ascend. 0 stands for none, and is what item 0 adds.
    return {static_cast<Index>(left.members + right.members),
            static_cast<Index>(left.groups + right.groups),
            left.last_begin > right.last_begin ? left.last_begin : right.last_begin};
  }
};

/// Where a refinement puts what stays.
template <class Index>
struct RefinementOutput {
  Index* items;
  Index* slots;
  std::uint8_t* heads;
  Index* offsets;
  RefinementTotals<Index>* all;
};

inline constexpr unsigned lanes = 32;
inline constexpr unsigned all_lanes = 0xffffffffU;
inline constexpr unsigned tile_chunks = 8;
inline constexpr unsigned refinement_tile = tile_chunks * lanes;

/// The flags of a tile as votes, one for each 32 items: the same in all lanes.
///
///   item   tile * 256 + chunk * 32 + lane   is bit `lane` of word `chunk`
struct TileFlags {
  unsigned begins[tile_chunks];  ///< first of their groups; set behind the last item
  unsigned stays[tile_chunks];

  template <class Items>
  __device__ TileFlags(const Items& items, std::uint64_t count, std::uint64_t tile, unsigned lane) {
    using Index = typename Items::Index;
    using Key = typename Items::Key;
    const std::uint64_t first = tile * refinement_tile;
    Key keys[tile_chunks];
    bool heads[tile_chunks];
#pragma unroll
    for (unsigned chunk = 0; chunk < tile_chunks; ++chunk) {
      const std::uint64_t j = first + chunk * lanes + lane;
      keys[chunk] = j < count ? items.key(static_cast<Index>(j)) : Key{0};
      heads[chunk] = j < count ? items.is_head(static_cast<Index>(j)) : true;
    }
    // One key before the tile, and one behind it.
    Key before = 0;
    bool next_begins = true;
    if (lane == 0 && first > 0) before = items.key(static_cast<Index>(first - 1));
    const std::uint64_t next = first + refinement_tile;
    if (lane == lanes - 1 && next < count) {
      const Key next_key = items.key(static_cast<Index>(next));
      next_begins = items.is_head(static_cast<Index>(next)) || next_key != keys[tile_chunks - 1] ||
                    items.is_final(next_key);
    }
    const unsigned behind = __ballot_sync(all_lanes, lane == lanes - 1 && next_begins);
#pragma unroll
    for (unsigned chunk = 0; chunk < tile_chunks; ++chunk) {
      Key previous = __shfl_up_sync(all_lanes, keys[chunk], 1);
      if (lane == 0) previous = before;
      begins[chunk] = __ballot_sync(
          all_lanes, heads[chunk] || keys[chunk] != previous || items.is_final(keys[chunk]));
      before = __shfl_sync(all_lanes, keys[chunk], lanes - 1);
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

  /// Of the items of the tile.
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
        sum.last_begin = static_cast<Index>(from + lanes - 1 -
                                            static_cast<unsigned>(__clz(static_cast<int>(within))));
      }
    }
    return sum;
  }
};

}  // namespace sortie::suffix_array::cuda
