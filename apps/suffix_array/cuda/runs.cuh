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
/// Only runs are sorted, by the extra letters of their first members. Then the place of every
/// member is known: of R runs of one side, in ascending order, let k have fewer than e extra
/// letters, S in all. Before the members with e extra letters come those with fewer: S in these k
/// runs, and e - 1 in each of the other R - k. Members of equal length come in the order of their
/// runs; they are alone if only the longest run of the side has as many letters.
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

/// How many runs a group has, and how many of them have a rest below c.
template <class Index>
struct RunCounts {
  Index runs;
  Index below;
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
    const Index below_behind = run + 1 == counts.runs ? counts.below : runs.below_before[run + 1];
    const bool is_below = below_behind != runs.below_before[run];
    keys[run] = is_below ? extra : std::numeric_limits<Index>::max() - extra;
    order[run] = run;
  }
};

/// Of the sorted runs: their ranks by run, and their extra letters in place of the keys.
template <class Index>
struct RankRuns {
  RunCounts<Index> counts;
  const Index* order;
  Index* keys;
  Index* ranks;

  __host__ __device__ void operator()(Index i) const {
    ranks[order[i]] = i;
    if (i >= counts.below) keys[i] = std::numeric_limits<Index>::max() - keys[i];
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

  /// Runs with fewer than `wanted` extra letters.
  __host__ __device__ Index runs_with_fewer(Index wanted) const {
    Index begin = 0;
    Index end = runs();
    while (begin < end) {
      const Index middle = begin + (end - begin) / 2;
      if (letters(middle) < wanted) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
  /// Extra letters of the first k runs.
  __host__ __device__ Index sum(Index k) const {
    if (k == 0) return 0;
    if (below) return sums[k - 1] - sums[0] + extra[0];
    return sums[counts.runs - 1] - sums[counts.runs - 1 - k];
  }
  /// Extra letters of the second longest run: members with as many or fewer are not alone.
  __host__ __device__ Index most_shared() const { return runs() < 2 ? 0 : letters(runs() - 2); }
};

/// What is left of the longer members of a group.
template <class Index>
struct RunRemainder {
  Index members;  ///< that are not alone
  Index groups;   ///< of these
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
    *remainder = {static_cast<Index>(members(below) + members(above)),
                  static_cast<Index>(below.most_shared() + above.most_shared())};
  }
};

/// Member j of a run group goes to its place in the suffix array; if it is not alone there, also to
/// the list of what is left, with the suffix that decides it: the last member of its run.
template <class Key, class Index>
struct PlaceRunMember {
  Index count;
  RunArrays<Index> runs;
  RunCounts<Index> counts;
  const Index* ranks;
  RunSide<Index> below;
  RunSide<Index> above;
  RunRemainder<Index> remainder;
  Index first_slot;  ///< of the group
  Index* suffix_array;
  Key* keys;  ///< of the first sort; those of longer members become odd
  // The list, from the group's first member and first offset on.
  Index first_member;
  Index* items;
  Index* slots;
  std::uint8_t* heads;
  Index* offsets;
  Index* targets;

  /// The run of member j: the first that ends behind it.
  __host__ __device__ Index run_of(Index j) const {
    Index begin = 0;
    Index end = counts.runs - 1;
    while (begin < end) {
      const Index middle = begin + (end - begin) / 2;
      if (runs.ends[middle] <= j) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }

  __host__ __device__ void operator()(Index j) const {
    const Index run = run_of(j);
    const Index extra = runs.ends[run] - 1 - j;
    const Index position = runs.last[run] - extra;
    const Index rank = ranks[run];
    const bool is_below = rank < counts.below;
    if (extra == 0) {
      // Both outer parts stay in the order of positions.
      const Index below_before = runs.below_before[run];
      const Index at =
          is_below ? below_before : count - (counts.runs - counts.below) + (run - below_before);
      suffix_array[first_slot + at] = position;
      return;
    }
    const RunSide<Index>& side = is_below ? below : above;
    const Index m = side.in_group(rank);
    const Index fewer = side.runs_with_fewer(extra);
    // Among the longer members of the side, in ascending order.
    const Index place = side.sum(fewer) + (side.runs() - fewer) * (extra - 1) + (m - fewer);
    const Index longer = count - counts.runs;
    const Index slot = first_slot + counts.below + (is_below ? place : longer - 1 - place);
    suffix_array[slot] = position;
    keys[slot] |= 1U;
    if (extra > side.most_shared()) return;

    const Index at = is_below ? place : remainder.members - 1 - place;
    const bool is_head = is_below ? m == fewer : m + 1 == side.runs();
    items[at] = position;
    slots[at] = slot;
    heads[at] = is_head ? 1 : 0;
    targets[at] = runs.last[run];
    if (is_head) offsets[is_below ? extra - 1 : remainder.groups - extra] = first_member + at;
  }
};

}  // namespace sortie::suffix_array::cuda
