#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>

#include "sortie/apps/suffix_array/cuda/counts.cuh"
#include "sortie/apps/suffix_array/cuda/symbol_stream.cuh"

/// The element-wise steps of runs.cu.
///
/// A run group holds the suffixes that start with d times one letter c, d being all that the first
/// sort has seen of them. Such a suffix is c^length rest, where the rest does not start with c.
/// Let two of them differ in length. The shorter run ends first, and there the rest decides: a rest
/// below c makes shorter runs smaller, a rest above c makes longer ones smaller; and every suffix
/// with a rest below c is smaller than every one with a rest above. So the group falls into three
/// parts, of which the outer ones are those of length d, the last suffix of each run:
///
///   [ length d, rest below | longer ones, rest below, shortest first, then rest above, longest
///   first | length d, rest above ]
///
/// Lengths come from the members alone. They ascend by position, as the stable first sort left
/// them, so the suffixes that start in one run follow each other:
///
///   text       ... b c c c c c c c d ...        d = 4
///   members          0 1 2 3                    positions p, p + 1, p + 2, p + 3
///   lengths          7 6 5 4                    member 3 is the last of its run
namespace sortie::suffix_array::cuda {

/// One run group.
template <class Index>
struct RunGroup {
  SymbolStream text;
  const Index* positions;  ///< of the members, ascending
  Index count;             ///< number of members
  Index depth;             ///< d
  std::uint32_t code;      ///< of c in the text

  __host__ __device__ bool is_last_of_run(Index j) const {
    return j + 1 == count || positions[j + 1] != positions[j] + 1;
  }
  /// Whether the rest behind the run whose last member starts at `last` is below c.
  __host__ __device__ bool rest_is_below(Index last) const {
    return text.symbol(std::uint64_t{last} + depth) < code;
  }
};

/// The scan over the members that tells runs apart: counts are runs, and those of them with a rest
/// below c.
template <class Index>
struct SplitRunGroup {
  using Prefix = Counts<Index>;

  RunGroup<Index> group;
  Index* last;            ///< by run: where its last member starts
  Index* below_before;    ///< by run: runs before it with a rest below c
  Index* longer;          ///< positions of all other members, in order
  Counts<Index>* totals;  ///< of all members

  __host__ __device__ Prefix operator()(Index j) const {
    if (!group.is_last_of_run(j)) return make_counts<Index>(0, 0);
    return make_counts<Index>(1, group.rest_is_below(group.positions[j]) ? 1 : 0);
  }

  __host__ __device__ void operator()(Index j, const Prefix& prefix) const {
    const Index position = group.positions[j];
    const Index runs = first_count<Index>(prefix);
    if (group.is_last_of_run(j)) {
      last[runs - 1] = position;
      below_before[runs - 1] =
          second_count<Index>(prefix) - (group.rest_is_below(position) ? Index{1} : Index{0});
    } else {
      longer[j - runs] = position;
    }
    if (j + 1 == group.count) *totals = prefix;
  }
};

/// Puts the last members to both ends of the group's slots.
template <class Index>
struct PlaceLastMembers {
  RunGroup<Index> group;
  const Index* last;
  const Index* below_before;
  Index runs;
  Index below;   ///< runs with a rest below c
  Index* slots;  ///< the suffix array, from the first slot of the group on

  __host__ __device__ void operator()(Index run) const {
    const Index rank = below_before[run];
    const bool is_below = group.rest_is_below(last[run]);
    // Both parts stay in the order of positions.
    slots[is_below ? rank : group.count - (runs - below) + (run - rank)] = last[run];
  }
};

/// The last member of the run that contains `position`: the first that does not lie before it.
template <class Index>
__host__ __device__ Index last_of_run(const Index* last, Index runs, Index position) {
  Index begin = 0;
  Index end = runs;
  while (begin < end) {
    const Index middle = begin + (end - begin) / 2;
    if (last[middle] < position) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return last[begin];
}

/// Writes the keys that order the longer members: the length where the rest is below c, the
/// greatest Index less the length otherwise. The two do not mix, because they come from different,
/// disjoint runs, whose lengths add up to at most the length of the text.
template <class Index>
struct WriteLengthKeys {
  RunGroup<Index> group;
  const Index* last;
  Index runs;
  const Index* longer;
  Index first_slot;  ///< of the longer members
  Index* keys;       ///< the outputs hold the longer members of this group alone
  Index* slots;
  std::uint8_t* heads;

  __host__ __device__ void operator()(Index j) const {
    const Index position = longer[j];
    const Index last_position = last_of_run(last, runs, position);
    const Index length = last_position - position + group.depth;
    keys[j] =
        group.rest_is_below(last_position) ? length : std::numeric_limits<Index>::max() - length;
    slots[j] = first_slot + j;
    heads[j] = j == 0 ? 1 : 0;
  }
};

/// For members of one length, which differ in what comes behind their runs: the suffixes that
/// decide them, which are the last members of their runs.
template <class Index>
struct FindLastMembers {
  const Index* positions;
  const Index* last;         ///< of all run groups, ascending in each
  const Index* last_begins;  ///< by run group
  const Index* last_counts;  ///< by run group
  const Index* slot_begins;  ///< first slots of the longer members, by run group, ascending
  Index groups;
  const Index* slots;
  Index* targets;

  __host__ __device__ void operator()(Index j) const {
    Index group = groups - 1;
    while (group > 0 && slot_begins[group] > slots[j]) --group;
    targets[j] = last_of_run(last + last_begins[group], last_counts[group], positions[j]);
  }
};

}  // namespace sortie::suffix_array::cuda
