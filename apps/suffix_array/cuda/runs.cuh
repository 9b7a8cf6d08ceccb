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
///   extra            3 2 1 0                    letters beyond d; member 3 is the last of its run
///
/// Only runs are sorted, by the extra letters of their first members; which member belongs to a
/// slot follows. Of R runs of one side, in ascending order with l(0), l(1), ... extra letters, runs
/// k and up have members with as many as l(k) - 1 letters: behind the sum of the first k and l(k -
/// 1) in each of the other R - k, members come R - k at a time, one of each of these runs, up to
/// l(k) letters. A member is alone if only the longest run of the side has as many letters.
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

/// How many runs a group has, and how many of them have a rest below c.
template <class Index>
struct RunCounts {
  Index runs;
  Index below;
};

/// The runs of a group, in order of position.
template <class Index>
struct RunArrays {
  Index* last;          ///< where the last member starts
  Index* ends;          ///< members up to and with the last one
  Index* below_before;  ///< runs before it with a rest below c

  /// Members of a run but the last one: the extra letters of its first.
  __host__ __device__ Index longer(Index run) const {
    return ends[run] - (run == 0 ? Index{0} : ends[run - 1]) - 1;
  }
  __host__ __device__ bool is_below(Index run, const RunCounts<Index>& counts) const {
    return (run + 1 == counts.runs ? counts.below : below_before[run + 1]) != below_before[run];
  }
};

/// The scan over the members that tells runs apart: counts are runs, and those of them with a rest
/// below c.
template <class Index>
struct SplitRunGroup {
  using Prefix = Counts<Index>;

  RunGroup<Index> group;
  RunArrays<Index> runs;
  Counts<Index>* totals;  ///< of all members

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

/// Writes the keys by which runs are sorted: first those with a rest below c, shortest first, then
/// the others, longest first. The two do not mix, because the lengths of different runs add up to
/// at most the length of the text.
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

/// Of the sorted runs: their extra letters in place of the keys.
template <class Index>
struct TakeLetters {
  RunCounts<Index> counts;
  Index* keys;

  __host__ __device__ void operator()(Index i) const {
    if (i >= counts.below) keys[i] = std::numeric_limits<Index>::max() - keys[i];
  }
};

/// Puts the last members to both ends of the group's slots, in the order of positions.
template <class Index>
struct PlaceLastMembers {
  RunArrays<Index> runs;
  RunCounts<Index> counts;
  Index count;   ///< members of the group
  Index* slots;  ///< the suffix array, from the first slot of the group on

  __host__ __device__ void operator()(Index run) const {
    const Index below_before = runs.below_before[run];
    slots[runs.is_below(run, counts)
              ? below_before
              : count - (counts.runs - counts.below) + (run - below_before)] = runs.last[run];
  }
};

/// The sorted runs of one side of a group in ascending order of their extra letters. Those with a
/// rest above c stand the other way round.
template <class Index>
struct RunSide {
  const Index* extra;  ///< of the group
  const Index* sums;   ///< of `extra`, inclusive, from any run before the group on
  RunCounts<Index> counts;
  bool below;

  __host__ __device__ Index runs() const {
    return below ? counts.below : counts.runs - counts.below;
  }
  /// Run number m of the side among those of the group, and the other way round.
  __host__ __device__ Index in_group(Index m) const { return below ? m : counts.runs - 1 - m; }
  __host__ __device__ Index letters(Index m) const { return extra[in_group(m)]; }

  /// Extra letters of the first k runs, of which there are more.
  __host__ __device__ Index sum(Index k) const {
    if (k == 0) return 0;
    if (below) return sums[k - 1] - sums[0] + extra[0];
    return sums[counts.runs - 1] - sums[counts.runs - 1 - k];
  }
  /// Longer members with at most as many extra letters as run k - 1.
  __host__ __device__ Index members_up_to(Index k) const {
    return k == 0 ? Index{0} : sum(k) + (runs() - k) * letters(k - 1);
  }
  /// The number of runs k with members_up_to(k) <= place, the greatest.
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
  /// Extra letters of the second longest run: members with as many or fewer are not alone.
  __host__ __device__ Index most_shared() const { return runs() < 2 ? 0 : letters(runs() - 2); }
};

/// What is left of the longer members of a group.
template <class Index>
struct RunRemainder {
  Index longer_below;  ///< longer members with a rest below c
  Index members;       ///< longer members that are not alone
  Index groups;        ///< of these
};

/// Thread 0 finds what is left of a group.
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

/// Finds longer member number j of a run group, in the order of slots, and places it; if it is not
/// alone there, also in the list of what is left, with the suffix that decides it: the last member
/// of its run.
template <class Key, class Index>
struct PlaceLongerMember {
  const Index* last;   ///< as in RunArrays
  const Index* order;  ///< of the sorted runs
  RunCounts<Index> counts;
  RunSide<Index> below;
  RunSide<Index> above;
  Index longer;  ///< longer members of both
  RunRemainder<Index> remainder;
  Index first_slot;  ///< of the longer members
  Index* suffix_array;
  Key* keys;  ///< of the first sort
  Key odd_key;
  // The list, from the group's first member and first offset on.
  Index first_member;
  Index* items;
  Index* slots;
  std::uint8_t* heads;
  Index* offsets;
  Index* targets;

  __host__ __device__ void operator()(Index j) const {
    const bool is_below = j < remainder.longer_below;
    const RunSide<Index>& side = is_below ? below : above;
    // Among the longer members of the side, in ascending order.
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
