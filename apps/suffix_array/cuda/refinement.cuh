#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

/// What a sort tells about suffixes: one pass over the sorted items that finds the groups of equal
/// ones, places the suffixes that are alone, and keeps the others, with their groups, for the next
/// round.
///
/// An item stays if a neighbour in its group of before has the same key. Everything else it needs
/// from the items before it is carried by one inclusive scan: how many items stay, how many groups
/// of these begin, and, where ranks are kept, at which item its group begins.
namespace sortie::suffix_array::cuda {

/// Items that stay, and their groups.
template <class Index>
struct Remainder {
  Index members;
  Index groups;
};

/// Two counts that a scan adds. With 32-bit counts they make one word, which CUB's scan hands from
/// block to block in one access.
template <class Index>
struct CountPair {
  Index first;
  Index second;

  __host__ __device__ friend CountPair operator+(const CountPair& a, const CountPair& b) {
    return {a.first + b.first, a.second + b.second};
  }
};

template <class Index>
using Counts = std::conditional_t<sizeof(Index) == 4, std::uint64_t, CountPair<Index>>;

template <class Index>
__host__ __device__ Counts<Index> make_counts(Index first, Index second) {
  if constexpr (sizeof(Index) == 4) {
    return std::uint64_t{first} | std::uint64_t{second} << 32;
  } else {
    return {first, second};
  }
}
template <class Index>
__host__ __device__ Index first_count(const Counts<Index>& counts) {
  if constexpr (sizeof(Index) == 4) {
    return static_cast<Index>(counts);
  } else {
    return counts.first;
  }
}
template <class Index>
__host__ __device__ Index second_count(const Counts<Index>& counts) {
  if constexpr (sizeof(Index) == 4) {
    return static_cast<Index>(counts >> 32);
  } else {
    return counts.second;
  }
}

struct AddCounts {
  template <class Value>
  __host__ __device__ Value operator()(const Value& left, const Value& right) const {
    return left + right;
  }
};

/// The items of the first sort: all suffixes, in one group, sorted by the keys of PrefixCode. Item
/// and slot are the same, and so the suffixes are in their places already.
template <class IndexType, class Key>
struct FirstSortItems {
  using Index = IndexType;
  static constexpr bool in_place = true;

  const Key* keys;
  const Index* positions;

  /// Odd keys belong to suffixes that are in their final order.
  __host__ __device__ bool begins_group(Index j) const {
    return j == 0 || keys[j] != keys[j - 1] || (keys[j] & 1U) != 0;
  }
  __host__ __device__ Index item(Index j) const { return positions[j]; }
  __host__ __device__ Index slot(Index j) const { return j; }
};

/// The items of SuffixGroups after sort_groups.
template <class IndexType, class Key>
struct GroupItems {
  using Index = IndexType;
  static constexpr bool in_place = false;

  const Key* keys;
  const Index* items;
  const Index* slots;
  const std::uint8_t* heads;
  /// Keys that have none of these bits contain the end of a record: equal ones are in their final
  /// order. All bits where keys are no windows: then, keys must not be 0.
  Key end_mask;

  __host__ __device__ bool begins_group(Index j) const {
    return heads[j] != 0 || keys[j] != keys[j - 1] || (keys[j] & end_mask) == 0;
  }
  __host__ __device__ Index item(Index j) const { return items[j]; }
  __host__ __device__ Index slot(Index j) const { return slots[j]; }
};

/// Where a Refinement puts what stays.
template <class Index>
struct RefinementOutput {
  Index* items;
  Index* slots;
  std::uint8_t* heads;
  Index* offsets;
  Remainder<Index>* remainder;
};

/// The pass for suffixes: all items are placed in the suffix array, those that stay as well, so
/// that it always holds every suffix once.
template <class Items>
struct Refinement {
  using Index = typename Items::Index;
  using Prefix = Counts<Index>;
  using Join = AddCounts;

  Items items;
  Index count;          ///< number of items, at least 1
  Index* suffix_array;  ///< null if Items are in place
  RefinementOutput<Index> output;

  __host__ __device__ bool ends_group(Index j) const {
    return j + 1 == count || items.begins_group(j + 1);
  }

  /// What item j adds to the scan.
  __host__ __device__ Prefix operator()(Index j) const {
    const bool begins = items.begins_group(j);
    const bool alone = begins && ends_group(j);
    return make_counts<Index>(alone ? 0 : 1, begins && !alone ? 1 : 0);
  }

  /// Places item j, and keeps it if it is not alone, now that the inclusive prefix is known.
  __host__ __device__ void operator()(Index j, const Prefix& prefix) const {
    const bool begins = items.begins_group(j);
    const Index members = first_count<Index>(prefix);
    const Index groups = second_count<Index>(prefix);
    if constexpr (!Items::in_place) suffix_array[items.slot(j)] = items.item(j);
    if (!begins || !ends_group(j)) {
      const Index at = members - 1;
      output.items[at] = items.item(j);
      output.slots[at] = items.slot(j);
      output.heads[at] = begins ? 1 : 0;
      if (begins) output.offsets[groups - 1] = at;
    }
    if (j + 1 == count) {
      output.offsets[groups] = members;
      *output.remainder = {members, groups};
    }
  }
};

/// What the scan of RankedRefinement carries up to and including item j.
template <class Index>
struct RankedPrefix {
  Index members;
  Index groups;
  Index group_begin;  ///< first item of the group of item j
};

struct JoinRankedPrefixes {
  template <class Index>
  __host__ __device__ RankedPrefix<Index> operator()(const RankedPrefix<Index>& left,
                                                     const RankedPrefix<Index>& right) const {
    // Begins ascend, so the last is the greatest; 0 stands for none, and is what item 0 adds.
    return {static_cast<Index>(left.members + right.members),
            static_cast<Index>(left.groups + right.groups),
            left.group_begin > right.group_begin ? left.group_begin : right.group_begin};
  }
};

/// The pass for samples, whose ranks are wanted and not their places: the rank of an item is the
/// slot of the first item of its group.
template <class Items>
struct RankedRefinement {
  using Index = typename Items::Index;
  using Prefix = RankedPrefix<Index>;
  using Join = JoinRankedPrefixes;

  Items items;
  Index count;
  Index* ranks;  ///< by item
  RefinementOutput<Index> output;

  __host__ __device__ bool ends_group(Index j) const {
    return j + 1 == count || items.begins_group(j + 1);
  }

  __host__ __device__ Prefix operator()(Index j) const {
    const bool begins = items.begins_group(j);
    const bool alone = begins && ends_group(j);
    return {alone ? Index{0} : Index{1}, begins && !alone ? Index{1} : Index{0},
            begins ? j : Index{0}};
  }

  __host__ __device__ void operator()(Index j, const Prefix& prefix) const {
    const Index item = items.item(j);
    ranks[item] = items.slot(prefix.group_begin);
    const bool begins = prefix.group_begin == j;
    if (!begins || !ends_group(j)) {
      const Index at = prefix.members - 1;
      output.items[at] = item;
      output.slots[at] = items.slot(j);
      output.heads[at] = begins ? 1 : 0;
      if (begins) output.offsets[prefix.groups - 1] = at;
    }
    if (j + 1 == count) {
      output.offsets[prefix.groups] = prefix.members;
      *output.remainder = {prefix.members, prefix.groups};
    }
  }
};

}  // namespace sortie::suffix_array::cuda
