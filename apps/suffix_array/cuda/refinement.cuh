#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// What a sort tells about suffixes: one pass over the sorted items that finds the groups of equal
/// suffixes, places the suffixes that are alone, and keeps the others, with their segments, for the
/// next round.
///
/// Terms. An item is a suffix in a sort, number j of `count`. Items that were equal before the sort
/// form a segment; its slots in the suffix array follow each other, like its items. Items equal
/// after the sort form a group, part of a segment. The slot of a group is the slot of its first
/// member, which is also the rank of all its members, shifted by one beyond the separators (see
/// rank_of_slot).
///
/// Everything an item needs from the items before it is four numbers that one inclusive scan
/// carries: how many items remain, how many groups of these, where the item's segment begins and
/// where its group begins.
namespace sortie::suffix_array::cuda {

/// What the scan carries up to and including item j.
template <class Index>
struct RefinementPrefix {
  Index members;        ///< items that remain unresolved
  Index groups;         ///< groups of these
  Index segment_begin;  ///< first item of the segment of item j
  Index group_begin;    ///< first item of the group of item j
};

/// Joins the prefixes of two neighbouring stretches of items. The begins ascend, so the last one is
/// the greatest; 0 stands for none, and is what item 0 contributes anyway.
struct JoinPrefixes {
  template <class Index>
  __host__ __device__ RefinementPrefix<Index> operator()(
      const RefinementPrefix<Index>& left, const RefinementPrefix<Index>& right) const {
    return {static_cast<Index>(left.members + right.members),
            static_cast<Index>(left.groups + right.groups),
            left.segment_begin > right.segment_begin ? left.segment_begin : right.segment_begin,
            left.group_begin > right.group_begin ? left.group_begin : right.group_begin};
  }
};

/// How many suffixes are left and in how many groups.
template <class Index>
struct Remainder {
  Index members;
  Index groups;
};

/// The items of the first sort: all suffixes, sorted by word, in one segment that begins at slot 0.
template <class IndexType>
struct FirstSortItems {
  using Index = IndexType;

  const std::uint64_t* words;
  const Index* positions;  ///< the suffix array itself: item and slot are the same
  std::uint64_t base;      ///< of PackingPlan

  __host__ __device__ bool begins_segment(Index j) const { return j == 0; }
  /// Equal words that contain the end of a record are different suffixes in their final order.
  __host__ __device__ bool begins_group(Index j) const {
    return j == 0 || words[j] != words[j - 1] || words[j] % base == 0;
  }
  __host__ __device__ Index position(Index j) const { return positions[j]; }
  __host__ __device__ Index segment_slot(Index) const { return 0; }
  /// No suffix has a rank yet.
  __host__ __device__ bool has_rank_of(Index, Index) const { return false; }
};

/// The items of a round: the unresolved suffixes, every segment sorted by keys.
template <class IndexType>
struct RoundItems {
  using Index = IndexType;

  const Index* keys;       ///< the rank of the suffix h symbols further on
  const Index* positions;  ///< where the suffix begins in the text
  const Index*
      segment_slots;  ///< slot of the first item of the item's segment; tells segments apart

  __host__ __device__ bool begins_segment(Index j) const {
    return j == 0 || segment_slots[j] != segment_slots[j - 1];
  }
  __host__ __device__ bool begins_group(Index j) const {
    return begins_segment(j) || keys[j] != keys[j - 1];
  }
  __host__ __device__ Index position(Index j) const { return positions[j]; }
  __host__ __device__ Index segment_slot(Index j) const { return segment_slots[j]; }
  /// The first group of a segment inherits the rank of the segment.
  __host__ __device__ bool has_rank_of(Index j, Index slot) const {
    return slot == segment_slots[j];
  }
};

/// Rank of a group by its slot. The bare end of the text, a suffix of length 0 at position n, has a
/// rank too, because keys are looked up there: behind all separators, which are bare ends as well
/// and hold the first slots, and before all letters. So ranks from there on are one more than
/// slots.
template <class Index>
__host__ __device__ Index rank_of_slot(Index slot, Index separators) {
  return slot < separators ? slot : slot + 1;
}

/// One pass over sorted items: what an item adds to the scan, and what is done with its prefix.
///
/// None of the outputs may be an input of the same pass, with one exception: suffix_array may be
/// positions of FirstSortItems, because there an item that is placed stands in its place already.
template <class Items>
struct Refinement {
  using Index = typename Items::Index;
  using Prefix = RefinementPrefix<Index>;

  Items items;
  Index count;       ///< number of items, at least 1
  Index separators;  ///< number of separators in the text

  Index* suffix_array;  ///< placed: positions of resolved suffixes, at their slots
  Index* ranks;         ///< by position

  Index* positions;      ///< of the items that remain, in order
  Index* segment_slots;  ///< of these, as RoundItems wants them
  Index* offsets;        ///< begins of their segments, and the end of the last
  Remainder<Index>* remainder;

  __host__ __device__ bool ends_group(Index j) const {
    return j + 1 == count || items.begins_group(j + 1);
  }

  /// What item j adds to the scan.
  __host__ __device__ Prefix operator()(Index j) const {
    const bool begins = items.begins_group(j);
    const bool alone = begins && ends_group(j);
    return {alone ? Index{0} : Index{1}, begins && !alone ? Index{1} : Index{0},
            items.begins_segment(j) ? j : Index{0}, begins ? j : Index{0}};
  }

  /// Places item j or keeps it, now that the inclusive prefix is known.
  __host__ __device__ void operator()(Index j, const Prefix& prefix) const {
    const Index slot = items.segment_slot(j) + (prefix.group_begin - prefix.segment_begin);
    const Index position = items.position(j);
    if (!items.has_rank_of(j, slot)) ranks[position] = rank_of_slot(slot, separators);

    const bool begins = prefix.group_begin == j;
    if (begins && ends_group(j)) {
      suffix_array[slot] = position;
    } else {
      const Index at = prefix.members - 1;
      positions[at] = position;
      segment_slots[at] = slot;
      if (begins) offsets[prefix.groups - 1] = at;
    }
    if (j + 1 == count) {
      offsets[prefix.groups] = prefix.members;
      *remainder = {prefix.members, prefix.groups};
    }
  }
};

}  // namespace sortie::suffix_array::cuda
