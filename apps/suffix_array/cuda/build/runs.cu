// SPDX-License-Identifier: Apache-2.0

// A run group holds the suffixes that start with d times one letter c, where d is the number of
// symbols that the first sort compares. Such a suffix is c^length rest, where the rest does not
// start with c. Let two of them differ in length. The shorter run ends first, and there the rest
// decides: with rests below c, shorter runs are smaller; with rests above c, longer runs are
// smaller; and every suffix with a rest below c is smaller than every suffix with a rest above. So
// the group divides into three parts. The outer ones contain the suffixes of length d, the last
// suffix of each run. (What follows is about one letter; at the end, about longer periods.)
//
//   [ length d, rest below
//   | longer ones: rest below, shortest first, then rest above, longest first
//   | length d, rest above ]
//
// Lengths follow from the members alone. The stable first sort left the members in ascending
// positions, so the suffixes that start in one run are consecutive:
//
//   text       ... b c c c c c c c d ...        d = 4
//   members          0 1 2 3                    positions p, p + 1, p + 2, p + 3
//   extra            3 2 1 0                    letters beyond d; member 3 is the last of its run
//
// Only runs are sorted, by the extra letters of their first members; the member of each slot
// follows from their order. Let one side have R runs, in ascending order with l(0), l(1), ...
// extra letters. Members with more than l(k - 1) and at most l(k) letters belong to runs k, k + 1,
// ..., R - 1, and there are R - k of each length. Before them come the members with at most
// l(k - 1) letters: the sum of the first k, and l(k - 1) in each of the other R - k runs. A member
// is alone if only the longest run of the side has as many letters.
//
// The same holds for symbols of a period p, 2 p <= d + 1, whose members are p positions apart: not
// less, because d symbols with a second period q < p would have the greatest common divisor of
// both as a period (Fine, Wilf 1965). Lengths count whole periods. The last member of a run is
// followed by up to p - 1 letters of the period and a symbol that is not: in place of c, that
// symbol is compared with the one that is p positions before.

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

/// A run group and the results of the steps so far. The longer members are those that are not the
/// last of their run.
template <class Index>
struct RunGroup {
  std::uint64_t key;    ///< of the first sort
  Index depth;          ///< d
  Index period;         ///< p
  Index begin = 0;      ///< first slot
  Index count = 0;      ///< members
  Index first_run = 0;  ///< index of its first run among the runs of all groups
  Index runs = 0;
  Index below = 0;  ///< runs with a rest below c
  // The longer members that remain unresolved:
  Index longer_below = 0;       ///< longer members with a rest below c, resolved or not
  Index remaining_members = 0;  ///< longer members that are not alone
  Index remaining_groups = 0;   ///< groups of these members

  [[nodiscard]] __host__ __device__ Index longer() const { return count - runs; }
};

/// A group of a period above 1 takes a dozen launches as well. It is a run group only if it holds
/// at least this share of all suffixes: 1 / 256. Genomes have many groups of short periods, but all
/// of them are smaller.
constexpr unsigned least_periodic_share = 256;

/// The least period of the `depth` symbols at `position`, if at most (depth + 1) / 2, so that no two
/// members of their group are closer to each other; else 0.
template <class Index>
__device__ Index short_period(const SymbolStream& text, Index position, Index depth) {
  for (Index period = 1; 2 * period <= depth + 1; ++period) {
    Index i = period;
    while (i < depth && text.symbol(position + i) == text.symbol(position + i - period)) ++i;
    if (i >= depth) return period;
  }
  return 0;
}

/// Finds the run groups. Waits for the stream.
template <class Key, class Index>
std::vector<RunGroup<Index>> find_run_groups(const SymbolStream& text,
                                             const DeviceBuffer<Key>& keys,
                                             const DeviceBuffer<Index>& suffix_array,
                                             cudaStream_t stream) {
  // A group of this size holds both ends of one of these ranges.
  constexpr std::uint64_t range = least_run_members / 2;
  const std::uint64_t ranges = keys.size() / range;
  DeviceBuffer<RunGroup<Index>> found(ranges, stream);
  DeviceBuffer<std::uint32_t> found_count(1, stream);
  check_cuda(cudaMemsetAsync(found_count.data(), 0, found_count.bytes(), stream));
  const auto find_group = [text, sorted = keys.data(), count = static_cast<Index>(keys.size()),
                           suffixes = suffix_array.data(), found = found.data(),
                           found_count = found_count.data()] __device__(Index i) {
    const Index first = i * static_cast<Index>(range);
    const Key key = sorted[first];
    if ((key & 1U) != 0 || sorted[first + (static_cast<Index>(range) - 1)] != key) return;
    const Index before = first - static_cast<Index>(i == 0 ? 0 : range);
    if (i != 0 && sorted[before] == key) return;  // found at the range before
    RunGroup<Index> group{};
    group.key = key;
    group.begin = first_true(before, first, [&](Index at) { return sorted[at] >= key; });
    group.count =
        first_true(first, count, [&](Index at) { return sorted[at] > key; }) - group.begin;
    if (group.count < static_cast<Index>(least_run_members)) return;
    const Index position = suffixes[group.begin];
    group.depth = static_cast<Index>(text.first_depth(position));
    group.period = short_period(text, position, group.depth);
    const bool is_large = group.count >= count / least_periodic_share;
    if (group.period == 1 || (group.period != 0 && is_large))
      found[atomicAdd(found_count, 1U)] = group;
  };
  for_each_item<Index>(ranges, find_group, stream);
  std::uint32_t count = 0;
  found_count.copy_to({&count, 1});
  check_cuda(cudaStreamSynchronize(stream));
  std::vector<RunGroup<Index>> groups(count);
  found.copy_to(groups);
  check_cuda(cudaStreamSynchronize(stream));
  // In the order of their slots, as lists of groups are.
  std::sort(groups.begin(), groups.end(),
            [](const auto& left, const auto& right) { return left.begin < right.begin; });
  return groups;
}

/// Sets of members, by their index in the group: the last members of runs, and those of them whose
/// rest is below c.
template <class Index>
struct RunEnds {
  NumberedSetBuffer<Index> all;
  NumberedSetBuffer<Index> below;
};

/// Separates the runs of every group and counts them. Waits for the stream once for all groups.
template <class Index>
std::vector<RunEnds<Index>> find_run_ends(const SymbolStream& text,
                                          const DeviceBuffer<Index>& suffix_array,
                                          std::vector<RunGroup<Index>>& groups,
                                          cudaStream_t stream) {
  std::vector<RunEnds<Index>> found;
  DeviceBuffer<RunGroup<Index>> device_groups(groups, stream);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RunGroup<Index>& group = groups[i];
    auto& [all, below] =
        found.emplace_back(RunEnds<Index>{{group.count, stream}, {group.count, stream}});
    const Index* const positions = suffix_array.data() + group.begin;
    const auto ends_run = [positions, count = group.count,
                           period = group.period] __device__(Index j) {
      return j + 1 == count || positions[j + 1] != positions[j] + period;
    };
    fill_set(all.set(), group.count, ends_run, stream);
    const auto ends_below = [ends = all.set(), text, positions, depth = group.depth,
                             period = group.period] __device__(Index j) {
      if (!ends.contains(j)) return false;
      std::uint64_t at = std::uint64_t{positions[j]} + depth;
      while (text.symbol(at) == text.symbol(at - period)) ++at;
      return text.symbol(at) < text.symbol(at - period);
    };
    fill_set(below.set(), group.count, ends_below, stream);
    all.number(stream);
    below.number(stream);
    const auto count_runs = [all = all.set(), below = below.set(),
                             group = device_groups.data() + i] __device__(Index) {
      group->runs = all.rank(group->count);
      group->below = below.rank(group->count);
    };
    for_each_item<Index>(1, count_runs, stream);
  }
  device_groups.copy_to(groups);
  check_cuda(cudaStreamSynchronize(stream));
  return found;
}

/// The runs of all groups, group after group.
template <class Index>
struct Runs {
  // In order of position:
  DeviceBuffer<Index> last;    ///< position of the last member
  DeviceBuffer<Index> ends;    ///< members of the group up to and with the last one
  DeviceBuffer<Index> places;  ///< of the last member, among the slots of the group
  // In the order of the longer members:
  DeviceBuffer<Index> extra;  ///< members but the last one, which is the extra letters of the first
  DeviceBuffer<Index> sums;   ///< inclusive sums of `extra`
  DeviceBuffer<Index> order;  ///< numbers of the runs in order of position, by group

  Runs(std::uint64_t count, cudaStream_t stream)
      : last(count, stream), ends(count, stream), places(count, stream) {}
};

/// Lists the runs of a group. Their last members belong to both ends of the group's slots, in the
/// order of positions.
template <class Index>
void list_runs(const DeviceBuffer<Index>& suffix_array, const RunGroup<Index>& group,
               RunEnds<Index>& found, Runs<Index>& runs, cudaStream_t stream) {
  const auto list_run =
      [group, below = found.below.set(), positions = suffix_array.data() + group.begin,
       last = runs.last.data() + group.first_run, ends = runs.ends.data() + group.first_run,
       places = runs.places.data() + group.first_run] __device__(Index j, Index run) {
        const NumberedWord<Index> word = below.word(j);
        const Index below_before = word.rank(j);
        last[run] = positions[j];
        ends[run] = j + 1;
        places[run] = word.contains(j)
                          ? below_before
                          : group.count - (group.runs - group.below) + (run - below_before);
      };
  for_each_element(found.all.set(), group.count, list_run, stream);
}

/// Sorts the runs of every group by side and length: first those with a rest below c, shortest
/// first, then the others, longest first. The ranges of the keys of both do not overlap, because the
/// lengths of different runs add up to at most the length of the text.
template <class Index>
void sort_runs(const std::vector<RunGroup<Index>>& groups, Runs<Index>& runs, cudaStream_t stream) {
  constexpr Index greatest = std::numeric_limits<Index>::max();
  const std::uint64_t count = runs.last.size();
  SuffixGroups<Index> list;  // items are runs; only what sort_groups() reads
  list.members = count;
  list.items = {count, stream};
  list.heads = {count, stream};
  DeviceBuffer<Index> keys(count, stream);
  std::vector<Index> begins;
  std::vector<Index> ends;
  for (const RunGroup<Index>& group : groups) {
    if (group.runs > most_counted) {
      begins.push_back(group.first_run);
      ends.push_back(group.first_run + group.runs);
      list.large_pairs += member_pairs(group.runs);
    }
    const auto write_key = [below = group.below, ends = runs.ends.data() + group.first_run,
                            places = runs.places.data() + group.first_run,
                            keys = keys.data() + group.first_run,
                            items = list.items.data() + group.first_run,
                            heads = list.heads.data() + group.first_run] __device__(Index run) {
      const Index extra = ends[run] - (run == 0 ? Index{0} : ends[run - 1]) - 1;
      keys[run] = places[run] < below ? extra : greatest - extra;
      items[run] = run;
      heads[run] = run == 0 ? 1 : 0;
    };
    for_each_item<Index>(group.runs, write_key, stream);
  }
  list.large_groups = begins.size();
  list.large_begins = {begins, stream};
  list.large_ends = {ends, stream};
  sort_groups(list, keys, 8 * static_cast<int>(sizeof(Index)), 0, stream);
  runs.order = std::move(list.items);
  runs.extra = std::move(keys);
  runs.sums = {count, stream};
  for (const RunGroup<Index>& group : groups) {
    const auto take_letters = [below = group.below, extra = runs.extra.data() + group.first_run,
                               sums = runs.sums.data() + group.first_run] __device__(Index i) {
      if (i >= below) extra[i] = greatest - extra[i];
      sums[i] = extra[i];
    };
    for_each_item<Index>(group.runs, take_letters, stream);
  }
  inclusive_sum(runs.sums.data(), count, stream);
}

/// The sorted runs of one side of a group in ascending order of their extra letters. Runs with a
/// rest above c are stored in reverse order.
template <class Index>
struct RunSide {
  const Index* extra;  ///< as in Runs, of the runs of the group
  const Index* sums;
  Index all;    ///< runs of the group
  Index count;  ///< runs of this side
  bool below;

  RunSide(const Runs<Index>& runs, const RunGroup<Index>& group, bool is_below)
      : extra(runs.extra.data() + group.first_run),
        sums(runs.sums.data() + group.first_run),
        all(group.runs),
        count(is_below ? group.below : group.runs - group.below),
        below(is_below) {}

  /// Index in the group of run m of the side.
  __device__ Index in_group(Index m) const { return below ? m : all - 1 - m; }
  __device__ Index letters(Index m) const { return extra[in_group(m)]; }
  /// Sum of the extra letters of the first k runs.
  __device__ Index sum(Index k) const {
    if (k == 0) return 0;
    return below ? sums[k - 1] - sums[0] + extra[0] : sums[all - 1] - sums[all - 1 - k];
  }
  /// Number of longer members with at most as many extra letters as run k - 1.
  __device__ Index members_up_to(Index k) const {
    return k == 0 ? Index{0} : sum(k) + (count - k) * letters(k - 1);
  }
  /// The greatest number of runs k with members_up_to(k) <= place.
  __device__ Index runs_before(Index place) const {
    return first_true(Index{1}, count, [&](Index k) { return members_up_to(k) > place; }) - 1;
  }
  /// Extra letters of the second longest run: members with at most as many are not alone. There is
  /// a group of them for each number of letters.
  __device__ Index most_shared() const { return count < 2 ? 0 : letters(count - 2); }
  __device__ Index remaining_members() const {
    return count < 2 ? 0 : sum(count - 1) + most_shared();
  }
};

/// Computes which longer members of each group remain. Waits for the stream.
template <class Index>
void find_remainders(std::vector<RunGroup<Index>>& groups, const Runs<Index>& runs,
                     cudaStream_t stream) {
  DeviceBuffer<RunGroup<Index>> device_groups(groups, stream);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto find_remainder = [below = RunSide<Index>(runs, groups[i], true),
                                 above = RunSide<Index>(runs, groups[i], false),
                                 group = device_groups.data() + i] __device__(Index) {
      const Index count = below.count;
      group->longer_below = count == 0 ? Index{0} : below.sum(count - 1) + below.letters(count - 1);
      group->remaining_members = below.remaining_members() + above.remaining_members();
      group->remaining_groups = below.most_shared() + above.most_shared();
    };
    for_each_item<Index>(1, find_remainder, stream);
  }
  device_groups.copy_to(groups);
  check_cuda(cudaStreamSynchronize(stream));
}

/// Writes the members of a group to their slots. The longer members that are not alone also go to
/// the end of the list of remaining members, with the suffix that orders them: the last member of
/// their run.
template <class Key, class Index>
void place_members(const RunGroup<Index>& group, const Runs<Index>& runs, DeviceBuffer<Key>& keys,
                   DeviceBuffer<Index>& suffix_array, LongRuns<Index>& result,
                   cudaStream_t stream) {
  const auto place_last = [last = runs.last.data() + group.first_run,
                           places = runs.places.data() + group.first_run,
                           slots = suffix_array.data() + group.begin] __device__(Index run) {
    slots[places[run]] = last[run];
  };
  for_each_item<Index>(group.runs, place_last, stream);
  const auto place_longer =
      [group, below = RunSide<Index>(runs, group, true), above = RunSide<Index>(runs, group, false),
       last = runs.last.data() + group.first_run, order = runs.order.data() + group.first_run,
       suffixes = suffix_array.data(), keys = keys.data(), list = result.groups.view(),
       targets = result.targets.data(), first = static_cast<Index>(result.groups.members),
       first_group = static_cast<Index>(result.groups.groups)] __device__(Index j) {
        const bool is_below = j < group.longer_below;
        const RunSide<Index>& side = is_below ? below : above;
        // Index among the longer members of the side, in ascending order.
        const Index place = is_below ? j : group.longer() - 1 - j;
        const Index shorter = side.runs_before(place);
        const Index others = side.count - shorter;
        const Index rest = place - side.members_up_to(shorter);
        const Index extra =
            (shorter == 0 ? Index{0} : side.letters(shorter - 1)) + 1 + rest / others;
        const Index m = shorter + rest % others;
        const Index last_position = last[order[side.in_group(m)]];
        const Index position = last_position - extra * group.period;
        const Index slot = group.begin + group.below + j;
        suffixes[slot] = position;
        keys[slot] = static_cast<Key>(group.key | 1U);
        if (extra > side.most_shared()) return;

        const Index at = first + (is_below ? place : group.remaining_members - 1 - place);
        const bool is_head = is_below ? m == shorter : m + 1 == side.count;
        list.items[at] = position;
        list.slots[at] = slot;
        list.heads[at] = is_head ? 1 : 0;
        targets[at] = last_position;
        if (is_head) {
          list.offsets[first_group + (is_below ? extra - 1 : group.remaining_groups - extra)] = at;
        }
      };
  for_each_item<Index>(group.longer(), place_longer, stream);
}

}  // namespace

template <class Key, Position Index>
LongRuns<Index> sort_long_runs(const SymbolStream& text, DeviceBuffer<Key>& keys,
                               DeviceBuffer<Index>& suffix_array, std::uint64_t budget,
                               std::uint64_t held, cudaStream_t stream) {
  constexpr std::string_view what = "the runs of one letter";
  LongRuns<Index> result;
  std::vector<RunGroup<Index>> groups =
      find_run_groups<Key, Index>(text, keys, suffix_array, stream);
  if (groups.empty()) return result;

  std::uint64_t set_bytes = 0;
  for (const RunGroup<Index>& group : groups) {
    set_bytes += 2 * sizeof(NumberedWord<Index>) * (std::uint64_t{group.count} / 32 + 1);
  }
  require(budget, what, held + set_bytes);
  std::vector<RunEnds<Index>> ends = find_run_ends(text, suffix_array, groups, stream);
  std::uint64_t run_count = 0;
  std::uint64_t longer = 0;
  for (RunGroup<Index>& group : groups) {
    group.first_run = static_cast<Index>(run_count);
    run_count += group.runs;
    longer += group.longer();
  }
  if (longer == 0) return result;

  require(budget, what, held + set_bytes + 3 * sizeof(Index) * run_count);
  Runs<Index> runs(run_count, stream);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    list_runs(suffix_array, groups[i], ends[i], runs, stream);
  }
  ends.clear();
  // The sort's scratch is less than sizeof(Index) bytes a run.
  require(budget, what, held + 9 * sizeof(Index) * run_count);
  sort_runs(groups, runs, stream);
  find_remainders(groups, runs, stream);

  std::uint64_t members = 0;
  for (const RunGroup<Index>& group : groups) members += group.remaining_members;
  require(budget, what,
          held + 6 * sizeof(Index) * run_count +
              members * (SuffixGroups<Index>::bytes_a_member + sizeof(Index)));
  SuffixGroups<Index>& list = result.groups;
  if (members != 0) {
    list = {members, stream};
    result.targets = {members, stream};
  }
  for (const RunGroup<Index>& group : groups) {
    place_members(group, runs, keys, suffix_array, result, stream);
    list.members += group.remaining_members;
    list.groups += group.remaining_groups;
  }
  if (members != 0) list_large_groups(list, stream);
  return result;
}

SORTIE_FOR_KEYS_AND_POSITIONS(sort_long_runs);

}  // namespace sortie::suffix_array::cuda
