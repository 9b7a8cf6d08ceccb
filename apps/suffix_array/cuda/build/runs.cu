// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/build/runs.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"

#include <algorithm>
#include <string_view>

#include "apps/suffix_array/cuda/build/large_groups.cuh"
#include "apps/suffix_array/cuda/build/refine.hpp"
#include "apps/suffix_array/cuda/build/runs.cuh"
#include "apps/suffix_array/cuda/scan.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Binary search in sorted keys: for even i the first key not less than wanted key i / 2, for odd i
/// the first key greater than it.
template <class Key, class Index>
struct FindBound {
  const Key* keys;
  Index count;
  const Key* wanted;
  Index* bounds;

  __host__ __device__ void operator()(Index i) const {
    const Key bound = wanted[i / 2] + static_cast<Key>(i % 2);
    Index begin = 0;
    Index end = count;
    while (begin < end) {
      const Index middle = begin + (end - begin) / 2;
      if (keys[middle] < bound) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    bounds[i] = begin;
  }
};

/// A run group and the results of the steps so far.
template <class Index>
struct Found {
  std::uint32_t code;
  std::uint64_t key;
  Index depth;
  Index begin;  ///< first slot
  Index count;
  Index most_runs = 0;  ///< upper bound of its runs
  RunCounts<Index> counts{};
  RunRemainder<Index> remainder{};

  [[nodiscard]] Index longer() const { return count - counts.runs; }
};

template <class Key, class Index>
std::vector<Found<Index>> find_run_groups(const PrefixCode& code, const DeviceBuffer<Key>& keys,
                                          cudaStream_t stream) {
  std::vector<Key> wanted;
  std::vector<Found<Index>> letters;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (code.codes[byte] == 0) continue;
    const std::uint32_t letter = code.letters[byte];
    wanted.push_back(static_cast<Key>(code.run_key(letter)));
    letters.push_back(
        {code.codes[byte], wanted.back(), static_cast<Index>(code.run_symbols(letter)), 0, 0});
  }
  if (letters.empty()) return {};

  // Thread 2 i finds the begin of group i, thread 2 i + 1 its end.
  const DeviceBuffer<Key> device_wanted(wanted, stream);
  DeviceBuffer<Index> device_bounds(2 * wanted.size(), stream);
  for_each_item<Index>(2 * wanted.size(),
                       FindBound<Key, Index>{keys.data(), static_cast<Index>(keys.size()),
                                             device_wanted.data(), device_bounds.data()},
                       stream);
  std::vector<Index> bounds(2 * wanted.size());
  device_bounds.copy_to(bounds);
  check_cuda(cudaStreamSynchronize(stream));

  std::vector<Found<Index>> found;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const Index count = bounds[2 * i + 1] - bounds[2 * i];
    if (count < least_run_members) continue;
    letters[i].begin = bounds[2 * i];
    letters[i].count = count;
    // Every run takes at least `depth` letters, and one between it and the next.
    const std::uint64_t most = (std::uint64_t{keys.size()} + 1) / (letters[i].depth + 1);
    letters[i].most_runs = static_cast<Index>(std::min<std::uint64_t>(count, most));
    found.push_back(letters[i]);
  }
  return found;
}

template <class Index>
RunGroup<Index> run_group(const SymbolStream& text, const DeviceBuffer<Index>& suffix_array,
                          const Found<Index>& found) {
  return {text, suffix_array.data() + found.begin, found.count, found.depth, found.code};
}

/// The runs of all groups, group after group.
template <class Index>
struct AllRuns {
  std::vector<Index> offsets;  ///< begin of the runs of each group, with space for most_runs each
  DeviceBuffer<Index> last;
  DeviceBuffer<Index> ends;
  DeviceBuffer<Index> below_before;
  // Sorted, without gaps:
  std::vector<Index> begins;  ///< begin of each group, and the end of the last
  DeviceBuffer<Index> extra;
  DeviceBuffer<Index> order;
  DeviceBuffer<Index> sums;

  [[nodiscard]] RunArrays<Index> of(std::size_t group) {
    const Index begin = offsets[group];
    return {last.data() + begin, ends.data() + begin, below_before.data() + begin};
  }
  [[nodiscard]] const Index* order_of(std::size_t group) const {
    return order.data() + begins[group];
  }
  [[nodiscard]] RunSide<Index> side(std::size_t group, const RunCounts<Index>& counts,
                                    bool below) const {
    const Index begin = begins[group];
    return {extra.data() + begin, sums.data() + begin, counts, below};
  }
};

/// Exclusive sums of the counts of the groups, and the total.
template <class Index, class Count>
std::vector<Index> begins_by(const std::vector<Found<Index>>& found, Count count_of) {
  std::vector<Index> begins(1, 0);
  for (const Found<Index>& group : found) begins.push_back(begins.back() + count_of(group));
  return begins;
}

/// Finds the runs of all groups. Waits for the stream.
template <class Index>
AllRuns<Index> split(const SymbolStream& text, const DeviceBuffer<Index>& suffix_array,
                     std::vector<Found<Index>>& found, cudaStream_t stream) {
  AllRuns<Index> runs;
  runs.offsets = begins_by(found, [](const Found<Index>& group) { return group.most_runs; });
  const std::uint64_t capacity = runs.offsets.back();
  runs.last = {capacity, stream};
  runs.ends = {capacity, stream};
  runs.below_before = {capacity, stream};
  DeviceBuffer<Counts<Index>> device_totals(found.size(), stream);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Found<Index>& group = found[i];
    const SplitRunGroup<Index> pass{
        {text, suffix_array.data() + group.begin, group.count, group.depth, group.code},
        runs.of(i),
        device_totals.data() + i};
    scan_items<Counts<Index>>(pass, AddCounts{}, group.count, stream);
  }
  std::vector<Counts<Index>> totals(found.size());
  device_totals.copy_to(totals);
  check_cuda(cudaStreamSynchronize(stream));
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].counts = {first_count<Index>(totals[i]), second_count<Index>(totals[i])};
  }
  return runs;
}

/// Prefix sums of the extra letters of the sorted runs.
template <class Index>
struct SumLetters {
  const Index* extra;
  Index* sums;

  __host__ __device__ Index operator()(Index i) const { return extra[i]; }
  __host__ __device__ void operator()(Index i, const Index& prefix) const { sums[i] = prefix; }
};

/// Sorts the runs of every group by side and length.
template <class Index>
void sort_runs(const std::vector<Found<Index>>& found, AllRuns<Index>& runs, cudaStream_t stream) {
  runs.begins = begins_by(found, [](const Found<Index>& group) { return group.counts.runs; });
  const std::uint64_t count = runs.begins.back();
  runs.extra = {count, stream};
  runs.order = {count, stream};
  runs.sums = {count, stream};
  DeviceBuffer<Index> order_alternate(count, stream);
  DoubleBuffer<Index> keys(runs.sums.data(), runs.extra.data());  // sums are written after the sort
  DoubleBuffer<Index> order(order_alternate.data(), runs.order.data());
  for (std::size_t i = 0; i < found.size(); ++i) {
    for_each_item<Index>(
        found[i].counts.runs,
        WriteRunKeys<Index>{runs.of(i), found[i].counts, keys.Current() + runs.begins[i],
                            order.Current() + runs.begins[i]},
        stream);
  }
  const DeviceBuffer<Index> device_begins(runs.begins, stream);
  bool few = true;
  std::uint64_t pairs = 0;
  for (const Found<Index>& group : found) {
    const std::uint64_t members = group.counts.runs;
    few = few && members <= most_pairs_counted;  // so that the square does not overflow
    pairs += few ? members * members : 0;
  }
  if (few && pairs <= most_pairs_counted) {
    count_in_large_groups(SortByCounting<Index, Index>{keys.Current(), order.Current(),
                                                       keys.Alternate(), order.Alternate()},
                          device_begins.data(), device_begins.data() + 1, found.size(), stream);
  } else {
    const auto items = static_cast<std::int64_t>(count);
    const auto groups = static_cast<std::int64_t>(found.size());
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return DeviceSegmentedSort::SortPairs(scratch, bytes, keys, order, items, groups,
                                            device_begins.data(), device_begins.data() + 1, stream);
    });
    if (keys.Current() != runs.extra.data()) std::swap(runs.extra, runs.sums);
    if (order.Current() != runs.order.data()) std::swap(runs.order, order_alternate);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    for_each_item<Index>(found[i].counts.runs,
                         TakeLetters<Index>{found[i].counts, runs.extra.data() + runs.begins[i]},
                         stream);
  }
  const SumLetters<Index> pass{runs.extra.data(), runs.sums.data()};
  scan_items<Index>(pass, AddCounts{}, static_cast<Index>(count), stream);
}

/// Computes the remainder of each group. Waits for the stream.
template <class Index>
void find_remainders(std::vector<Found<Index>>& found, const AllRuns<Index>& runs,
                     cudaStream_t stream) {
  DeviceBuffer<RunRemainder<Index>> device_remainders(found.size(), stream);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const RunCounts<Index>& counts = found[i].counts;
    for_each_item<Index>(
        1,
        FindRemainder<Index>{runs.side(i, counts, true), runs.side(i, counts, false),
                             device_remainders.data() + i},
        stream);
  }
  std::vector<RunRemainder<Index>> remainders(found.size());
  device_remainders.copy_to(remainders);
  check_cuda(cudaStreamSynchronize(stream));
  for (std::size_t i = 0; i < found.size(); ++i) found[i].remainder = remainders[i];
}

}  // namespace

template <class Key, Position Index>
LongRuns<Index> sort_long_runs(const PrefixCode& code, const SymbolStream& text,
                               DeviceBuffer<Key>& keys, DeviceBuffer<Index>& suffix_array,
                               std::uint64_t budget, std::uint64_t held, cudaStream_t stream) {
  constexpr std::string_view what = "the runs of one letter";
  LongRuns<Index> result;
  std::vector<Found<Index>> found = find_run_groups<Key, Index>(code, keys, stream);
  if (found.empty()) return result;

  std::uint64_t most_runs = 0;
  for (const Found<Index>& group : found) most_runs += group.most_runs;
  require(budget, what, held + 3 * sizeof(Index) * most_runs);
  AllRuns<Index> runs = split(text, suffix_array, found, stream);
  std::uint64_t longer = 0;
  std::uint64_t run_count = 0;
  for (const Found<Index>& group : found) {
    longer += group.longer();
    run_count += group.counts.runs;
  }
  if (longer == 0) return result;
  // The sort's scratch is less than sizeof(Index) bytes a run.
  require(budget, what, held + sizeof(Index) * (3 * most_runs + 5 * run_count));
  sort_runs(found, runs, stream);
  find_remainders(found, runs, stream);

  SuffixGroups<Index>& list = result.groups;
  for (const Found<Index>& group : found) {
    list.members += group.remainder.members;
    list.groups += group.remainder.groups;
  }
  require(budget, what,
          held + sizeof(Index) * (3 * most_runs + 4 * run_count) +
              list.members * (SuffixGroups<Index>::bytes_a_member + sizeof(Index)));
  if (list.members != 0) {
    const std::uint64_t members = list.members;
    const std::uint64_t groups = list.groups;
    list = {members, stream};
    list.members = members;
    list.groups = groups;
    result.targets = {members, stream};
  }
  Index member = 0;
  Index first_group = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Found<Index>& group = found[i];
    const RunArrays<Index> arrays = runs.of(i);
    for_each_item<Index>(group.counts.runs,
                         PlaceLastMembers<Index>{arrays, group.counts, group.count,
                                                 suffix_array.data() + group.begin},
                         stream);
    for_each_item<Index>(
        group.longer(),
        PlaceLongerMember<Key, Index>{
            arrays.last, runs.order_of(i), group.counts, runs.side(i, group.counts, true),
            runs.side(i, group.counts, false), group.longer(), group.remainder,
            static_cast<Index>(group.begin + group.counts.below), suffix_array.data(), keys.data(),
            static_cast<Key>(group.key | 1U), member, list.items.data() + member,
            list.slots.data() + member, list.heads.data() + member,
            list.offsets.data() + first_group, result.targets.data() + member},
        stream);
    member += group.remainder.members;
    first_group += group.remainder.groups;
  }
  if (list.members != 0) {
    check_cuda(cudaMemcpyAsync(list.offsets.data() + first_group, &member, sizeof(member),
                               cudaMemcpyHostToDevice, stream));
    list_large_groups(list, stream);
  }
  return result;
}

template decltype(sort_long_runs<std::uint32_t, std::uint32_t>)
    sort_long_runs<std::uint32_t, std::uint32_t>;
template decltype(sort_long_runs<std::uint64_t, std::uint32_t>)
    sort_long_runs<std::uint64_t, std::uint32_t>;
template decltype(sort_long_runs<std::uint32_t, std::uint64_t>)
    sort_long_runs<std::uint32_t, std::uint64_t>;
template decltype(sort_long_runs<std::uint64_t, std::uint64_t>)
    sort_long_runs<std::uint64_t, std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
