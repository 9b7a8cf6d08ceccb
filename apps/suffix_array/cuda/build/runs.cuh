// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>

#include "apps/suffix_array/cuda/counts.cuh"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"

/// The element-wise steps of runs.cu.
///
/// A run group holds the suffixes that start with d times one letter c, where d is the number of
/// symbols that the first sort compares. Such a suffix is c^length rest, where the rest does not
/// start with c. Let two of them differ in length. The shorter run ends first, and there the rest
/// decides: with rests below c, shorter runs are smaller; with rests above c, longer runs are
/// smaller; and every suffix with a rest below c is smaller than every suffix with a rest above. So
/// the group divides into three parts. The outer ones contain the suffixes of length d, the last
/// suffix of each run:
///
///   [ length d, rest below
///   | longer ones: rest below, shortest first, then rest above, longest first
///   | length d, rest above ]
///
/// Lengths follow from the members alone. The stable first sort left the members in ascending
/// positions, so the suffixes that start in one run are consecutive:
///
///   text       ... b c c c c c c c d ...        d = 4
///   members          0 1 2 3                    positions p, p + 1, p + 2, p + 3
///   extra            3 2 1 0                    letters beyond d; member 3 is the last of its run
///
/// Only runs are sorted, by the extra letters of their first members; the member of each slot
/// follows from their order. Let one side have R runs, in ascending order with l(0), l(1), ...
/// extra letters. Members with more than l(k - 1) and at most l(k) letters belong to runs k, k + 1,
/// ..., R - 1, and there are R - k of each length. Before them come the members with at most
/// l(k - 1) letters: the sum of the first k, and l(k - 1) in each of the other R - k runs. A member
/// is alone if only the longest run of the side has as many letters.
namespace sortie::suffix_array::cuda {

/// One run group.
template <class Index>
struct RunGroup {
  SymbolStream text;
  const Index* positions;  ///< positions of the members, ascending
  Index count;             ///< number of members
  Index depth;             ///< d
  std::uint32_t code;      ///< code of c in the text

  __host__ __device__ bool is_last_of_run(Index j) const {
    return j + 1 == count || positions[j + 1] != positions[j] + 1;
  }
  /// Whether the rest after the run whose last member starts at `last` is below c.
  __host__ __device__ bool rest_is_below(Index last) const {
    return text.symbol(std::uint64_t{last} + depth) < code;
  }
};

/// The number of runs of a group, and the number of these with a rest below c.
template <class Index>
struct RunCounts {
  Index runs;
  Index below;
};

/// The runs of a group, in order of position.
template <class Index>
struct RunArrays {
  Index* last;          ///< position of the last member
  Index* ends;          ///< members up to and with the last one
  Index* below_before;  ///< runs before it with a rest below c

  /// The members of a run except the last one: the extra letters of the first member.
  __host__ __device__ Index longer(Index run) const {
    return ends[run] - (run == 0 ? Index{0} : ends[run - 1]) - 1;
  }
  __host__ __device__ bool is_below(Index run, const RunCounts<Index>& counts) const {
    return (run + 1 == counts.runs ? counts.below : below_before[run + 1]) != below_before[run];
  }
};

/// The scan over the members that separates runs: it counts runs, and runs with a rest below c.
template <class Index>
struct SplitRunGroup {
  using Prefix = Counts<Index>;

  RunGroup<Index> group;
  RunArrays<Index> runs;
  Counts<Index>* totals;  ///< counts of all members

  __host__ __device__ Prefix operator()(Index j) const {
    if (!group.is_last_of_run(j)) return make_counts<Index>(0, 0);
    return make_counts<Index>(1, group.rest_is_below(group.positions[j]) ? 1 : 0);
  }

  __host__ __device__ void operator()(Index j, const Prefix& prefix) const {
    if (group.is_last_of_run(j)) {
      const Index position = group.positions[j];
      const Index run = first_count<Index>(prefix) - 1;
      runs.last[run] = position;
      runs.ends[run] = j + 1;
      runs.below_before[run] =
          second_count<Index>(prefix) - (group.rest_is_below(position) ? Index{1} : Index{0});
    }
    if (j + 1 == group.count) *totals = prefix;
  }
};

/// Writes the sort keys of runs: first those with a rest below c, shortest first, then the others,
/// longest first. The ranges of both do not overlap, because the lengths of different runs add up
/// to at most the length of the text.
template <class Index>
struct WriteRunKeys {
  RunArrays<Index> runs;
  RunCounts<Index> counts;
  Index* keys;
  Index* order;

  __host__ __device__ void operator()(Index run) const {
    const Index extra = runs.longer(run);
    keys[run] = runs.is_below(run, counts) ? extra : std::numeric_limits<Index>::max() - extra;
    order[run] = run;
  }
};

/// Replaces the keys of the sorted runs by their extra letters.
template <class Index>
struct TakeLetters {
  RunCounts<Index> counts;
  Index* keys;

  __host__ __device__ void operator()(Index i) const {
    if (i >= counts.below) keys[i] = std::numeric_limits<Index>::max() - keys[i];
  }
};

/// Writes the last members of the runs to both ends of the group's slots, in the order of
/// positions.
template <class Index>
struct PlaceLastMembers {
  RunArrays<Index> runs;
  RunCounts<Index> counts;
  Index count;   ///< members of the group
  Index* slots;  ///< the suffix array from the first slot of the group on

  __host__ __device__ void operator()(Index run) const {
    const Index below_before = runs.below_before[run];
    slots[runs.is_below(run, counts)
              ? below_before
              : count - (counts.runs - counts.below) + (run - below_before)] = runs.last[run];
  }
};

/// The sorted runs of one side of a group in ascending order of their extra letters. Runs with a
/// rest above c are stored in reverse order.
template <class Index>
struct RunSide {
  const Index* extra;  ///< extra letters of the runs of the group
  const Index* sums;   ///< inclusive sums of `extra`, up to a constant
  RunCounts<Index> counts;
  bool below;

  __host__ __device__ Index runs() const {
    return below ? counts.below : counts.runs - counts.below;
  }
  /// Index in the group of run m of the side, and the inverse.
  __host__ __device__ Index in_group(Index m) const { return below ? m : counts.runs - 1 - m; }
  __host__ __device__ Index letters(Index m) const { return extra[in_group(m)]; }

  /// Sum of the extra letters of the first k runs.
  __host__ __device__ Index sum(Index k) const {
    if (k == 0) return 0;
    if (below) return sums[k - 1] - sums[0] + extra[0];
    return sums[counts.runs - 1] - sums[counts.runs - 1 - k];
  }
  /// Number of longer members with at most as many extra letters as run k - 1.
  __host__ __device__ Index members_up_to(Index k) const {
    return k == 0 ? Index{0} : sum(k) + (runs() - k) * letters(k - 1);
  }
  /// The greatest number of runs k with members_up_to(k) <= place.
  __host__ __device__ Index runs_before(Index place) const {
    Index begin = 0;
    Index end = runs() - 1;
    while (begin < end) {
      const Index middle = end - (end - begin) / 2;
      if (members_up_to(middle) <= place) {
        begin = middle;
      } else {
        end = middle - 1;
      }
    }
    return begin;
  }
  /// Extra letters of the second longest run: members with at most as many are not alone.
  __host__ __device__ Index most_shared() const { return runs() < 2 ? 0 : letters(runs() - 2); }
};

/// The longer members of a group that remain unresolved.
template <class Index>
struct RunRemainder {
  Index longer_below;  ///< longer members with a rest below c
  Index members;       ///< longer members that are not alone
  Index groups;        ///< groups of these members
};

/// Thread 0 computes the remainder of a group.
template <class Index>
struct FindRemainder {
  RunSide<Index> below;
  RunSide<Index> above;
  RunRemainder<Index>* remainder;

  static __host__ __device__ Index members(const RunSide<Index>& side) {
    const Index runs = side.runs();
    return runs < 2 ? 0 : side.sum(runs - 1) + side.most_shared();
  }
  __host__ __device__ void operator()(Index) const {
    const Index runs = below.runs();
    *remainder = {runs == 0 ? Index{0} : below.sum(runs - 1) + below.letters(runs - 1),
                  static_cast<Index>(members(below) + members(above)),
                  static_cast<Index>(below.most_shared() + above.most_shared())};
  }
};

/// Finds longer member j of a run group, in the order of slots, and writes it to its slot. A member
/// that is not alone also goes to the list of remaining members, with the suffix that orders it:
/// the last member of its run.
template <class Key, class Index>
struct PlaceLongerMember {
  const Index* last;   ///< as in RunArrays
  const Index* order;  ///< the sorted runs
  RunCounts<Index> counts;
  RunSide<Index> below;
  RunSide<Index> above;
  Index longer;  ///< longer members of both sides
  RunRemainder<Index> remainder;
  Index first_slot;  ///< first slot of the longer members
  Index* suffix_array;
  Key* keys;  ///< keys of the first sort
  Key odd_key;
  // The list of remaining members, from the group's first member and first offset on.
  Index first_member;
  Index* items;
  Index* slots;
  std::uint8_t* heads;
  Index* offsets;
  Index* targets;

  __host__ __device__ void operator()(Index j) const {
    const bool is_below = j < remainder.longer_below;
    const RunSide<Index>& side = is_below ? below : above;
    // Index among the longer members of the side, in ascending order.
    const Index place = is_below ? j : longer - 1 - j;
    const Index shorter = side.runs_before(place);
    const Index others = side.runs() - shorter;
    const Index rest = place - side.members_up_to(shorter);
    const Index extra = (shorter == 0 ? Index{0} : side.letters(shorter - 1)) + 1 + rest / others;
    const Index m = shorter + rest % others;
    const Index last_position = last[order[side.in_group(m)]];
    const Index position = last_position - extra;
    const Index slot = first_slot + j;
    suffix_array[slot] = position;
    keys[slot] = odd_key;
    if (extra > side.most_shared()) return;

    const Index at = is_below ? place : remainder.members - 1 - place;
    const bool is_head = is_below ? m == shorter : m + 1 == side.runs();
    items[at] = position;
    slots[at] = slot;
    heads[at] = is_head ? 1 : 0;
    targets[at] = last_position;
    if (is_head) offsets[is_below ? extra - 1 : remainder.groups - extra] = first_member + at;
  }
};

}  // namespace sortie::suffix_array::cuda
