// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/samples/samples.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "primitives/cuda/warp.cuh"

#include <algorithm>
#include <utility>

#include "apps/suffix_array/cuda/build/refine.hpp"
#include "apps/suffix_array/cuda/numbered_set.cuh"
#include "apps/suffix_array/cuda/samples/group_slots.cuh"
#include "apps/suffix_array/cuda/samples/sample_rounds.hpp"
#include "apps/suffix_array/cuda/samples/sampling.cuh"
#include "core/cuda/check.hpp"
#include "core/cuda/device_scope.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

/// Fewest symbols whose hash separates samples well enough. Fewer than the symbols of any
/// text-round window.
constexpr int least_hashed = 3;

Sampling plan_sampling(const SymbolStream& text, std::uint64_t depth) {
  const int compared = static_cast<int>(std::min<std::uint64_t>(depth, Sampling::most_context));
  const int context = std::min(text.first_symbols + compared, Sampling::most_context);
  // A third of the context is hashed; the rest is the window.
  const int hashed =
      std::min(std::max(context / 3, least_hashed), Sampling::most_hashed_bits / text.bits);
  return {text, compared, std::min(hashed, compared)};
}

/// Finds the sample of member j, and marks it and the next.
template <class Index>
struct MarkSamples {
  Sampling sampling;
  const Index* positions;
  Index* targets;
  NumberedSet<Index> marks;

  __device__ void mark(Index position) const {
    // Read first: neighbouring suffixes share samples, so most are marked already.
    if (!marks.contains(position)) marks.insert(position);
  }
  __device__ void operator()(Index j) const {
    Index own = 0;
    Index next = 0;
    sampling.samples(positions[j], own, next);
    targets[j] = own;
    mark(own);
    if (next != own) mark(next);
  }
};

/// Marks the suffixes that order long runs.
template <class Index>
struct MarkTargets {
  const Index* targets;
  NumberedSet<Index> marks;
  __device__ void operator()(Index j) const {
    // Read first: members of one run share their target.
    if (!marks.contains(targets[j])) marks.insert(targets[j]);
  }
};

/// The slots that are in groups: of suffixes outside and inside long runs.
template <class Index>
struct SlotsInGroups {
  GroupSlotsView<Index> suffixes;
  GroupSlotsView<Index> runs;

  __device__ bool contains(std::uint64_t slot) const {
    return suffixes.contains(slot) || runs.contains(slot);
  }
  /// The number of groups that begin at or before `slot`.
  __device__ Index groups_up_to(std::uint64_t slot) const {
    return suffixes.groups_up_to(slot) + runs.groups_up_to(slot);
  }
};

// Thread j handles slot j of the suffix array. A sample that is in no group gets its rank; samples
// in groups are selected, 32 slots by one vote.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    find_samples_kernel(NumberedSet<Index> samples, SlotsInGroups<Index> groups,
                        const Index* suffix_array, std::uint64_t slots, Index* ranks,
                        NumberedSet<Index> selected) {
  const std::uint64_t slot = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  bool is_selected = false;
  if (slot < slots) {
    const Index position = suffix_array[slot];
    const NumberedWord<Index> word = samples.word(position);
    if (word.contains(position)) {
      is_selected = groups.contains(slot);
      if (!is_selected) ranks[word.rank(position)] = static_cast<Index>(slot);
    }
  }
  const unsigned votes = __ballot_sync(full_warp, is_selected);
  if (threadIdx.x % 32 == 0 && slot < slots) selected.words[slot / 32].bits = votes;
}

/// Lists the samples in groups, in the order of their slots; keys are the numbers of their groups,
/// from 1. Thread w handles the 32 slots of word w: few of them have a sample.
template <class Index>
struct ListSelected {
  NumberedSet<Index> samples;
  SlotsInGroups<Index> groups;
  NumberedSet<Index> selected;
  const Index* suffix_array;
  Index* numbers;
  Index* slots;
  std::uint8_t* heads;
  Index* keys;

  __device__ void operator()(Index w) const {
    const NumberedWord<Index> word = selected.words[w];
    Index at = word.before;
    for (std::uint32_t bits = word.bits; bits != 0; bits &= bits - 1) {
      const Index slot = 32 * w + static_cast<Index>(__ffs(static_cast<int>(bits)) - 1);
      numbers[at] = samples.rank(suffix_array[slot]);
      slots[at] = slot;
      heads[at] = at == 0 ? 1 : 0;
      keys[at] = groups.groups_up_to(slot);
      ++at;
    }
  }
};

/// The first step of each listed sample: to the sample of the next suffix or, from within a long
/// run, to the last suffix of the run.
template <class Index>
struct FindSteps {
  Sampling sampling;
  NumberedSet<Index> samples;
  SlotsInGroups<Index> groups;
  const Index* suffix_array;
  const Index* targets_in_runs;
  const Index* numbers;
  const Index* slots;
  Index* steps;  ///< indexed by the number of the sample

  __device__ void operator()(Index i) const {
    const Index slot = slots[i];
    Index own = 0;
    Index next = 0;
    if (groups.runs.contains(slot)) {
      next = targets_in_runs[groups.runs.members.rank(slot)];
    } else {
      sampling.samples(suffix_array[slot], own, next);
    }
    steps[numbers[i]] = samples.rank(next);
  }
};

template <class Index>
struct Identity {
  Index* numbers;
  __device__ void operator()(Index i) const { numbers[i] = i; }
};

template <class Index>
struct RankTargets {
  NumberedSet<Index> samples;
  const Index* ranks;
  Index* targets;  ///< replaced by their ranks
  __device__ void operator()(Index j) const { targets[j] = ranks[samples.rank(targets[j])]; }
};

template <class Index>
struct Place {
  const Index* positions;
  const Index* slots;
  Index* suffix_array;
  __device__ void operator()(Index j) const { suffix_array[slots[j]] = positions[j]; }
};

template <class Index>
struct Shift {
  Index* values;
  Index by;
  __device__ void operator()(Index j) const { values[j] += by; }
};

template <class T>
void append(DeviceBuffer<T>& to, std::uint64_t at, const DeviceBuffer<T>& from, std::uint64_t count,
            cudaStream_t stream) {
  if (count == 0) return;
  check_cuda(cudaMemcpyAsync(to.data() + at, from.data(), count * sizeof(T),
                             cudaMemcpyDeviceToDevice, stream));
}

/// Concatenates two lists.
template <class Index>
SuffixGroups<Index> joined(SuffixGroups<Index> first, SuffixGroups<Index> second,
                           cudaStream_t stream) {
  if (second.members == 0) return first;
  if (first.members == 0) return second;
  SuffixGroups<Index> all(first.members + second.members, stream);
  append(all.items, 0, first.items, first.members, stream);
  append(all.slots, 0, first.slots, first.members, stream);
  append(all.heads, 0, first.heads, first.members, stream);
  append(all.offsets, 0, first.offsets, first.groups, stream);
  append(all.items, first.members, second.items, second.members, stream);
  append(all.slots, first.members, second.slots, second.members, stream);
  append(all.heads, first.members, second.heads, second.members, stream);
  append(all.offsets, first.groups, second.offsets, second.groups + 1, stream);
  for_each_item<Index>(
      second.groups + 1,
      Shift<Index>{all.offsets.data() + first.groups, static_cast<Index>(first.members)}, stream);
  all.members = first.members + second.members;
  all.groups = first.groups + second.groups;
  list_large_groups(all, stream);
  return all;
}

/// Sorts by the samples of one text. The steps run in the order of their declaration.
template <class Index>
class Finish {
 public:
  Finish(const Sampling& sampling, LongRuns<Index> runs, SuffixGroups<Index> list,
         DeviceBuffer<Index>& suffix_array, cudaStream_t stream)
      : sampling_(sampling),
        suffix_array_(suffix_array),
        stream_(stream),
        suffixes_(list.members),
        suffix_groups_(list.groups),
        members_(list.members + runs.groups.members),
        groups_(list.groups + runs.groups.groups),
        list_(joined(std::move(list), std::move(runs.groups), stream)),
        targets_(members_, stream),
        samples_(suffix_array.size(), stream) {
    append(targets_, suffixes_, runs.targets, members_ - suffixes_, stream_);
  }

  /// Chooses the samples. Waits for the stream.
  void choose();
  /// Most bytes that the steps after choose() hold.
  /// \param free_list  rank_samples() frees the list of members and restores it afterwards
  [[nodiscard]] std::uint64_t bytes(bool free_list) const;
  std::uint64_t rank_samples(bool free_list);
  void place();

 private:
  [[nodiscard]] SlotsInGroups<Index> slots_in_groups(GroupSlots<Index>& suffixes,
                                                     GroupSlots<Index>& runs) {
    return {suffixes.view(), runs.view()};
  }
  SuffixGroups<Index> select(const SlotsInGroups<Index>& groups, DeviceBuffer<Index>& keys);
  void restore(GroupSlots<Index>& suffixes, GroupSlots<Index>& runs);

  Sampling sampling_;
  DeviceBuffer<Index>& suffix_array_;
  cudaStream_t stream_;
  std::uint64_t suffixes_;  ///< members outside long runs; they come first
  std::uint64_t suffix_groups_;
  std::uint64_t members_;
  std::uint64_t groups_;
  SuffixGroups<Index> list_;
  DeviceBuffer<Index> targets_;
  NumberedSetBuffer<Index> samples_;
  std::uint64_t count_ = 0;  ///< number of samples
  DeviceBuffer<Index> ranks_;
  DeviceBuffer<Index> steps_;
};

template <class Index>
void Finish<Index>::choose() {
  for_each_item<Index>(
      suffixes_, MarkSamples<Index>{sampling_, list_.items.data(), targets_.data(), samples_.set()},
      stream_);
  for_each_item<Index>(members_ - suffixes_,
                       MarkTargets<Index>{targets_.data() + suffixes_, samples_.set()}, stream_);
  count_ = samples_.number_and_count(stream_);
}

template <class Index>
std::uint64_t Finish<Index>::bytes(bool free_list) const {
  constexpr std::uint64_t entry = sizeof(Index);
  constexpr std::uint64_t list_entry = SuffixGroups<Index>::bytes_a_member;
  const bool has_runs = suffixes_ != members_;
  // Sets: samples and selected samples; members and heads of each part.
  const std::uint64_t sets = samples_.bytes() * (has_runs ? 6 : 4);
  const std::uint64_t in_groups = std::min(count_, members_);
  const std::uint64_t always = sets + members_ * entry;  // sets and targets
  const std::uint64_t list = members_ * list_entry;
  // Ranks and two arrays of steps; the list of samples, its successor and keys.
  const std::uint64_t rounds = 3 * count_ * entry + in_groups * (2 * list_entry + entry);
  // The ranks of targets are the keys of the last sort, which needs alternates of keys and items,
  // and scratch.
  const std::uint64_t last_sort = count_ * entry + members_ * (2 * entry + 1);
  return always + std::max(rounds + (free_list ? 0 : list), list + last_sort);
}

template <class Index>
SuffixGroups<Index> Finish<Index>::select(const SlotsInGroups<Index>& groups,
                                          DeviceBuffer<Index>& keys) {
  const std::uint64_t slots = suffix_array_.size();
  ranks_ = {count_, stream_};
  NumberedSetBuffer<Index> selected(slots, stream_);
  find_samples_kernel<<<blocks_for(slots), element_threads, 0, stream_>>>(
      samples_.set(), groups, suffix_array_.data(), slots, ranks_.data(), selected.set());
  check_cuda(cudaGetLastError());
  steps_ = {count_, stream_};
  // The step of a sample in no group is the sample itself.
  for_each_item<Index>(count_, Identity<Index>{steps_.data()}, stream_);
  const std::uint64_t members = selected.number_and_count(stream_);
  SuffixGroups<Index> list(members, stream_);
  keys = {members, stream_};
  for_each_item<Index>(
      (slots + 31) / 32,
      ListSelected<Index>{samples_.set(), groups, selected.set(), suffix_array_.data(),
                          list.items.data(), list.slots.data(), list.heads.data(), keys.data()},
      stream_);
  for_each_item<Index>(members,
                       FindSteps<Index>{sampling_, samples_.set(), groups, suffix_array_.data(),
                                        targets_.data() + suffixes_, list.items.data(),
                                        list.slots.data(), steps_.data()},
                       stream_);
  list.members = members;
  return list;
}

template <class Index>
std::uint64_t Finish<Index>::rank_samples(bool free_list) {
  GroupSlots<Index> suffixes(list_, 0, suffixes_, suffix_array_.size(), free_list, stream_);
  GroupSlots<Index> runs(list_, suffixes_, members_, suffix_array_.size(), true, stream_);
  if (free_list) list_ = {};
  SuffixGroups<Index> list;
  {
    DeviceBuffer<Index> keys;
    list = select(slots_in_groups(suffixes, runs), keys);
    if (list.members != 0) refine_samples(list, keys, ranks_, stream_);
  }
  const std::uint64_t rounds = double_steps(std::move(list), ranks_, std::move(steps_), stream_);
  if (free_list) restore(suffixes, runs);
  return rounds;
}

template <class Index>
void Finish<Index>::restore(GroupSlots<Index>& suffixes, GroupSlots<Index>& runs) {
  list_ = {members_, stream_};
  suffixes.restore(list_, 0, 0, suffix_array_, stream_);
  runs.restore(list_, suffixes_, suffix_groups_, suffix_array_, stream_);
  const auto end = static_cast<Index>(members_);
  check_cuda(cudaMemcpyAsync(list_.offsets.data() + groups_, &end, sizeof(end),
                             cudaMemcpyHostToDevice, stream_));
  list_.members = members_;
  list_.groups = groups_;
  list_large_groups(list_, stream_);
}

template <class Index>
void Finish<Index>::place() {
  for_each_item<Index>(members_, RankTargets<Index>{samples_.set(), ranks_.data(), targets_.data()},
                       stream_);
  sort_groups(list_, targets_, stream_);
  for_each_item<Index>(members_,
                       Place<Index>{list_.items.data(), list_.slots.data(), suffix_array_.data()},
                       stream_);
}

}  // namespace

template <Position Index>
std::uint64_t finish_by_samples(const SymbolStream& text, LongRuns<Index> runs,
                                SuffixGroups<Index> list, std::uint64_t depth,
                                DeviceBuffer<Index>& suffix_array, std::uint64_t budget,
                                std::uint64_t held, cudaStream_t stream) {
  Finish<Index> finish(plan_sampling(text, depth), std::move(runs), std::move(list), suffix_array,
                       stream);
  finish.choose();
  const std::uint64_t aim = std::min(budget, suffix_array.size() * most_bytes_a_symbol<Index>);
  const bool free_list = held + finish.bytes(false) > aim;
  if (free_list) require(budget, "the rounds of samples", held + finish.bytes(true));
  const std::uint64_t rounds = finish.rank_samples(free_list);
  finish.place();
  return rounds;
}

template decltype(finish_by_samples<std::uint32_t>) finish_by_samples<std::uint32_t>;
template decltype(finish_by_samples<std::uint64_t>) finish_by_samples<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
