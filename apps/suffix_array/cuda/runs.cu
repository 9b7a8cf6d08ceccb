#include "sortie/apps/suffix_array/cuda/runs.hpp"

#include <algorithm>

#include "sortie/apps/suffix_array/cuda/for_each_item.cuh"
#include "sortie/apps/suffix_array/cuda/refine.hpp"
#include "sortie/apps/suffix_array/cuda/runs.cuh"
#include "sortie/apps/suffix_array/cuda/scan.cuh"
#include "sortie/apps/suffix_array/cuda/sizes.hpp"
#include "sortie/core/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Searches the group of one key among sorted keys.
template <class Key, class Index>
struct FindGroup {
  const Key* keys;
  Index count;
  const Key* wanted;
  Index* begins;
  Index* ends;

  __host__ __device__ Index first_at_least(Key bound) const {
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
    return begin;
  }

  __host__ __device__ void operator()(Index i) const {
    begins[i] = first_at_least(wanted[i]);
    ends[i] = first_at_least(wanted[i] + 1);
  }
};

template <class Key, class Index>
struct MakeOdd {
  Key* keys;
  __host__ __device__ void operator()(Index j) const { keys[j] |= 1U; }
};

/// A run group on its way through the steps.
template <class Index>
struct Found {
  std::uint32_t code;
  Index depth;
  Index begin;  ///< first slot
  Index count;
  Index buffer_begin = 0;  ///< where its part of the buffers begins, which all groups share
  Index runs = 0;
  Index below = 0;
  Index longer_begin = 0;  ///< where its longer members stand among those of all groups

  [[nodiscard]] Index longer() const { return count - runs; }
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
    letters.push_back({code.codes[byte], static_cast<Index>(code.run_symbols(letter)), 0, 0});
  }
  if (letters.empty()) return {};

  const DeviceBuffer<Key> device_wanted(wanted, stream);
  DeviceBuffer<Index> device_begins(wanted.size(), stream);
  DeviceBuffer<Index> device_ends(wanted.size(), stream);
  for_each_item<Index>(
      wanted.size(),
      FindGroup<Key, Index>{keys.data(), static_cast<Index>(keys.size()), device_wanted.data(),
                            device_begins.data(), device_ends.data()},
      stream);
  std::vector<Index> begins(wanted.size());
  std::vector<Index> ends(wanted.size());
  device_begins.copy_to(begins);
  device_ends.copy_to(ends);
  check_cuda(cudaStreamSynchronize(stream));

  std::vector<Found<Index>> found;
  Index members = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const Index count = ends[i] - begins[i];
    if (count < least_run_members) continue;
    letters[i].begin = begins[i];
    letters[i].count = count;
    letters[i].buffer_begin = members;
    members += count;
    found.push_back(letters[i]);
  }
  return found;
}

template <class Index>
RunGroup<Index> run_group(const SymbolStream& text, const DeviceBuffer<Index>& suffix_array,
                          const Found<Index>& found) {
  return {text, suffix_array.data() + found.begin, found.count, found.depth, found.code};
}

/// Tells last members from longer ones in all groups, and learns how many there are.
template <class Index>
void split(const SymbolStream& text, const DeviceBuffer<Index>& suffix_array,
           std::vector<Found<Index>>& found, DeviceBuffer<Index>& last,
           DeviceBuffer<Index>& below_before, DeviceBuffer<Index>& longer, cudaStream_t stream) {
  DeviceBuffer<Counts<Index>> device_totals(found.size(), stream);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Index at = found[i].buffer_begin;
    const SplitRunGroup<Index> pass{run_group(text, suffix_array, found[i]), last.data() + at,
                                    below_before.data() + at, longer.data() + at,
                                    device_totals.data() + i};
    std::size_t bytes = 0;
    scan_items<Counts<Index>>(nullptr, bytes, pass, AddCounts{}, found[i].count, stream);
    DeviceBuffer<std::byte> scratch(bytes, stream);
    scan_items<Counts<Index>>(scratch.data(), bytes, pass, AddCounts{}, found[i].count, stream);
  }
  std::vector<Counts<Index>> totals(found.size());
  device_totals.copy_to(totals);
  check_cuda(cudaStreamSynchronize(stream));
  Index longer_members = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].runs = first_count<Index>(totals[i]);
    found[i].below = second_count<Index>(totals[i]);
    found[i].longer_begin = longer_members;
    longer_members += found[i].longer();
  }
}

/// The suffixes by which the groups that are left will be decided.
template <class Index>
void find_targets(const std::vector<Found<Index>>& found, const DeviceBuffer<Index>& last,
                  LongRuns<Index>& runs, cudaStream_t stream) {
  std::vector<Index> last_begins;
  std::vector<Index> last_counts;
  std::vector<Index> slot_begins;
  for (const Found<Index>& group : found) {
    last_begins.push_back(group.buffer_begin);
    last_counts.push_back(group.runs);
    slot_begins.push_back(group.begin + group.below);
  }
  const DeviceBuffer<Index> device_begins(last_begins, stream);
  const DeviceBuffer<Index> device_counts(last_counts, stream);
  const DeviceBuffer<Index> device_slots(slot_begins, stream);
  runs.targets = {runs.groups.members, stream};
  for_each_item<Index>(runs.groups.members,
                       FindLastMembers<Index>{runs.groups.items.data(), last.data(),
                                              device_begins.data(), device_counts.data(),
                                              device_slots.data(), static_cast<Index>(found.size()),
                                              runs.groups.slots.data(), runs.targets.data()},
                       stream);
}

}  // namespace

template <class Key, Position Index>
LongRuns<Index> sort_long_runs(const PrefixCode& code, const SymbolStream& text,
                               DeviceBuffer<Key>& keys, DeviceBuffer<Index>& suffix_array,
                               std::uint64_t budget, std::uint64_t held, cudaStream_t stream) {
  LongRuns<Index> runs;
  std::vector<Found<Index>> found = find_run_groups<Key, Index>(code, keys, stream);
  if (found.empty()) return runs;

  const std::uint64_t members = std::uint64_t{found.back().buffer_begin} + found.back().count;
  // Three buffers of splitting; then the list, its keys, and what sorting or refining them takes.
  const std::uint64_t needed =
      held + members * (6 * sizeof(Index) + SuffixGroups<Index>::bytes_a_member);
  if (needed > budget) throw out_of_memory_error("the runs of one letter", needed, budget);
  DeviceBuffer<Index> last(members, stream);
  DeviceBuffer<Index> below_before(members, stream);
  DeviceBuffer<Index> longer(members, stream);
  split(text, suffix_array, found, last, below_before, longer, stream);

  std::uint64_t longer_members = 0;
  for (const Found<Index>& group : found) longer_members += group.longer();
  if (longer_members == 0) return runs;
  SuffixGroups<Index>& list = runs.groups;
  list = {longer_members, stream};
  DeviceBuffer<Index> length_keys(longer_members, stream);
  std::vector<Index> offsets;
  for (const Found<Index>& group : found) {
    const RunGroup<Index> all = run_group(text, suffix_array, group);
    const Index at = group.buffer_begin;
    const Index to = group.longer_begin;
    const Index longer_slot = group.begin + group.below;
    if (group.longer() != 0) {
      offsets.push_back(to);
      for_each_item<Index>(
          group.longer(),
          WriteLengthKeys<Index>{all, last.data() + at, group.runs, longer.data() + at, longer_slot,
                                 length_keys.data() + to, list.slots.data() + to,
                                 list.heads.data() + to},
          stream);
      check_cuda(cudaMemcpyAsync(list.items.data() + to, longer.data() + at,
                                 group.longer() * sizeof(Index), cudaMemcpyDeviceToDevice, stream));
      for_each_item<Index>(group.longer(), MakeOdd<Key, Index>{keys.data() + longer_slot}, stream);
    }
    // From here on the group's slots no longer hold its members in order of position.
    for_each_item<Index>(
        group.runs,
        PlaceLastMembers<Index>{all, last.data() + at, below_before.data() + at, group.runs,
                                group.below, suffix_array.data() + group.begin},
        stream);
  }
  list.members = longer_members;
  list.groups = offsets.size();
  offsets.push_back(static_cast<Index>(longer_members));
  DeviceBuffer<Index> device_offsets(offsets, stream);
  list.offsets = std::move(device_offsets);
  list_large_groups(list, stream);
  sort_groups(list, length_keys, stream);
  refine_suffixes(list, length_keys, static_cast<Index>(~Index{0}), suffix_array, stream);
  if (list.members != 0) find_targets(found, last, runs, stream);
  return runs;
}

#define SORTIE_INSTANTIATE_LONG_RUNS(Key, Index)                                                   \
  template LongRuns<Index> sort_long_runs(const PrefixCode&, const SymbolStream&,                  \
                                          DeviceBuffer<Key>&, DeviceBuffer<Index>&, std::uint64_t, \
                                          std::uint64_t, cudaStream_t)
SORTIE_INSTANTIATE_LONG_RUNS(std::uint32_t, std::uint32_t);
SORTIE_INSTANTIATE_LONG_RUNS(std::uint64_t, std::uint32_t);
SORTIE_INSTANTIATE_LONG_RUNS(std::uint32_t, std::uint64_t);
SORTIE_INSTANTIATE_LONG_RUNS(std::uint64_t, std::uint64_t);
#undef SORTIE_INSTANTIATE_LONG_RUNS

}  // namespace sortie::suffix_array::cuda
