// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/samples/samples.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/samples/group_slots.cuh"
#include "apps/suffix_array/cuda/samples/minimizer_samples.cuh"
#include "apps/suffix_array/cuda/samples/sampling.cuh"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::suffix_array::cuda {
namespace {

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

/// A list of groups stored as two sets of slots. The suffix array holds the items, so a list in the
/// order of its slots can be restored from these sets. They take sizeof(Index) / 8 bytes a slot; the
/// list takes more than 2.5 sizeof(Index) bytes a member. Empty for an empty list.
template <class Index>
struct GroupSlots {
  NumberedSetBuffer<Index> members;
  NumberedSetBuffer<Index> heads;

  /// \param begin, end  range of members of `list`: whole groups in the order of their slots
  /// \param slots       size of the suffix array
  /// \param ranked      number the members, which RestoreMembers requires
  GroupSlots(const SuffixGroups<Index>& list, std::uint64_t begin, std::uint64_t end,
             std::uint64_t slots, bool ranked, cudaStream_t stream) {
    if (begin == end) return;
    members = {slots, stream};
    heads = {slots, stream};
    insert_slots_kernel<<<blocks_for(end - begin), element_threads, 0, stream>>>(
        list.slots.data() + begin, list.heads.data() + begin, end - begin, view());
    check_cuda(cudaGetLastError());
    if (ranked) members.number(stream);
    heads.number(stream);
  }
  [[nodiscard]] GroupSlotsView<Index> view() { return {members.set(), heads.set()}; }
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
  for (const SuffixGroups<Index>* part : {&first, &second}) {
    append(all.items, all.members, part->items, part->members, stream);
    append(all.slots, all.members, part->slots, part->members, stream);
    append(all.heads, all.members, part->heads, part->members, stream);
    append(all.offsets, all.groups, part->offsets, part->groups, stream);
    all.members += part->members;
    all.groups += part->groups;
  }
  const auto shift = [offsets = all.offsets.data() + first.groups,
                      by = first.members] __device__(Index j) { offsets[j] += by; };
  for_each_item<Index>(second.groups, shift, stream);
  list_large_groups(all, stream);
  return all;
}

/// Sorts by the samples of one text. The steps run in the order of their declaration. All functions
/// are public, since private ones cannot contain device lambdas.
template <class Index>
class Finish {
 public:
  Finish(const Sampling& sampling, CodedTextBuffer& coded, LongRuns<Index> runs,
         SuffixGroups<Index> list, DeviceBuffer<Index>& suffix_array, std::uint64_t size,
         cudaStream_t stream)
      : sampling_{sampling},
        coded_(coded),
        suffix_array_(suffix_array),
        stream_(stream),
        suffixes_(list.members),
        suffix_groups_(list.groups),
        members_(list.members + runs.groups.members),
        groups_(list.groups + runs.groups.groups),
        list_(joined(std::move(list), std::move(runs.groups), stream)),
        targets_(members_, stream),
        samples_(size, stream) {
    append(targets_, suffixes_, runs.targets, members_ - suffixes_, stream_);
  }

  /// Whether it pays to find the samples of all minimizers, in text order: that many of them are in
  /// groups.
  [[nodiscard]] bool can_gain_by_text_order(const NumberedSet<Index>& minimizers) const {
    return minimizers.words != nullptr && suffixes_ >= suffix_array_.size() / 4;
  }
  /// Most bytes that find_in_text_order() holds.
  [[nodiscard]] std::uint64_t bytes_of_text_order() const {
    return bytes_of_sets() + list_bytes() +
           suffix_array_.size() * (sizeof(Index) + sizeof(std::uint16_t));
  }
  /// Finds the samples of all minimizers of a text of `size` symbols, for choose() and select().
  void find_in_text_order(const NumberedSet<Index>& minimizers, std::uint64_t size) {
    const std::uint64_t count = suffix_array_.size();
    DeviceBuffer<Index> positions(count, stream_);
    const auto write_position = [positions = positions.data()] __device__(
                                    Index position, Index number) { positions[number] = position; };
    for_each_element_of_many(minimizers, size, write_position, stream_);
    distances_ = {count, stream_};
    const auto find_samples = [sampling = sampling_, size, positions = positions.data(),
                               distances = distances_.data()] __device__(Index i) {
      distances[i] = sampling.word(positions[i], size);
    };
    for_each_item<Index>(count, find_samples, stream_);
    sampling_.minimizers = minimizers;
    sampling_.distances = distances_.data();
  }
  /// Frees what find_in_text_order() has found.
  void forget_text_order() {
    sampling_.distances = nullptr;
    distances_ = {};
  }

  /// Chooses the samples. Waits for the stream.
  void choose() {
    const auto mark_samples = [sampling = sampling_, positions = list_.items.data(),
                               targets = targets_.data(),
                               samples = samples_.set()] __device__(Index j) {
      Index own = 0;
      Index next = 0;
      sampling.samples(positions[j], own, next);
      targets[j] = own;
      samples.insert(own);
      if (next != own) samples.insert(next);
    };
    for_each_item<Index>(suffixes_, mark_samples, stream_);
    const auto mark_target = [targets = targets_.data() + suffixes_,
                              samples = samples_.set()] __device__(Index j) {
      samples.insert(targets[j]);
    };
    for_each_item<Index>(members_ - suffixes_, mark_target, stream_);
    count_ = samples_.number_and_count(stream_);
  }

  /// Most bytes that the steps after choose() hold.
  /// \param free_list  rank_samples() frees the list of members and restores it afterwards
  [[nodiscard]] std::uint64_t bytes(bool free_list) const {
    constexpr std::uint64_t entry = sizeof(Index);
    // The ranks of targets are the keys of the last sort, which needs alternates of keys and items,
    // and scratch.
    const std::uint64_t last_sort = count_ * entry + members_ * (2 * entry + 1);
    return std::max(bytes_of_rounds(free_list), bytes_of_sets() + list_bytes() + last_sort);
  }
  /// The same of the rounds alone.
  [[nodiscard]] std::uint64_t bytes_of_rounds(bool free_list) const {
    constexpr std::uint64_t entry = sizeof(Index);
    const std::uint64_t in_groups = std::min(count_, members_);
    // Ranks and two arrays of steps; the list of samples, its successor and keys.
    const std::uint64_t rounds =
        3 * count_ * entry + in_groups * (2 * SuffixGroups<Index>::bytes_a_member + entry);
    return bytes_of_sets() + rounds + (free_list ? 0 : list_bytes());
  }

  /// \param spare  bytes that the rounds may take besides bytes_of_rounds()
  std::uint64_t rank_samples(bool free_list, std::uint64_t spare) {
    GroupSlots<Index> suffixes(list_, 0, suffixes_, suffix_array_.size(), free_list, stream_);
    GroupSlots<Index> runs(list_, suffixes_, members_, suffix_array_.size(), true, stream_);
    if (free_list) list_ = {};
    SuffixGroups<Index> list;
    {
      DeviceBuffer<Index> keys;
      list = select({suffixes.view(), runs.view()}, keys);
      forget_text_order();
      if (sampling_.sampling.minimizers.bits == 0) coded_ = {};
      if (list.members != 0) refine_samples(list, keys, ranks_, stream_);
    }
    const std::uint64_t rounds =
        double_steps(std::move(list), ranks_, std::move(steps_), rank_bits(), spare, stream_);
    if (free_list) {
      list_ = {members_, stream_};
      const auto restore = [&](GroupSlots<Index>& sets, std::uint64_t member, std::uint64_t group) {
        if (sets.members.bytes() == 0) return;
        for_each_item<Index>(
            suffix_array_.size(),
            RestoreMembers<Index>{sets.view(), suffix_array_.data(), static_cast<Index>(member),
                                  static_cast<Index>(group), list_.view()},
            stream_);
      };
      restore(suffixes, 0, 0);
      restore(runs, suffixes_, suffix_groups_);
      list_.members = members_;
      list_.groups = groups_;
      list_large_groups(list_, stream_);
    }
    return rounds;
  }

  /// \param spare  bytes that it may take besides bytes()
  void place(std::uint64_t spare) {
    const auto rank_target = [samples = samples_.set(), ranks = ranks_.data(),
                              targets = targets_.data()] __device__(Index j) {
      targets[j] = ranks[samples.rank(targets[j])];
    };
    for_each_item<Index>(members_, rank_target, stream_);
    sort_groups(list_, targets_, rank_bits(), spare, stream_);
    const auto place_member = [list = list_.view(), suffix_array = suffix_array_.data()] __device__(
                                  Index j) { suffix_array[list.slots[j]] = list.items[j]; };
    for_each_item<Index>(members_, place_member, stream_);
  }

  SuffixGroups<Index> select(const SlotsInGroups<Index>& groups, DeviceBuffer<Index>& keys) {
    const std::uint64_t slots = suffix_array_.size();
    ranks_ = {count_, stream_};
    NumberedSetBuffer<Index> selected(slots, stream_);
    // Selects the slots of samples in groups. A sample that is in no group gets its rank.
    const auto select_sample = [samples = samples_.set(), groups,
                                suffix_array = suffix_array_.data(),
                                ranks = ranks_.data()] __device__(Index slot) {
      const Index position = suffix_array[slot];
      const NumberedWord<Index> word = samples.word(position);
      if (!word.contains(position)) return false;
      const bool in_group = groups.contains(slot);
      if (!in_group) ranks[word.rank(position)] = slot;
      return in_group;
    };
    fill_set(selected.set(), slots, select_sample, stream_);
    steps_ = {count_, stream_};
    // The step of a sample in no group is the sample itself.
    const auto write_number = [steps = steps_.data()] __device__(Index i) { steps[i] = i; };
    for_each_item<Index>(count_, write_number, stream_);
    const std::uint64_t members = selected.number_and_count(stream_);
    SuffixGroups<Index> list(members, stream_);
    keys = {members, stream_};
    // Lists the samples in groups, in the order of their slots; keys are the numbers of their groups,
    // from 1. Thread w handles the 32 slots of word w: few of them have a sample.
    const auto list_samples = [samples = samples_.set(), groups, selected = selected.set(),
                               suffix_array = suffix_array_.data(), list = list.view(),
                               keys = keys.data()] __device__(Index w) {
      const NumberedWord<Index> word = selected.words[w];
      Index at = word.before;
      for (std::uint32_t bits = word.bits; bits != 0; bits &= bits - 1) {
        const Index slot = 32 * w + static_cast<Index>(first_lane(bits));
        list.items[at] = samples.rank(suffix_array[slot]);
        list.slots[at] = slot;
        list.heads[at] = at == 0 ? 1 : 0;
        keys[at] = groups.groups_up_to(slot);
        ++at;
      }
    };
    for_each_item<Index>((slots + 31) / 32, list_samples, stream_);
    // The first step of each listed sample: to the sample of the next suffix or, from within a long
    // run, to the last suffix of the run.
    const auto find_step = [sampling = sampling_, samples = samples_.set(), groups,
                            suffix_array = suffix_array_.data(),
                            targets_in_runs = targets_.data() + suffixes_, list = list.view(),
                            steps = steps_.data()] __device__(Index i) {
      const Index slot = list.slots[i];
      Index own = 0;
      Index next = 0;
      if (groups.runs.contains(slot)) {
        next = targets_in_runs[groups.runs.members.rank(slot)];
      } else {
        sampling.samples(suffix_array[slot], own, next);
      }
      steps[list.items[i]] = samples.rank(next);
    };
    for_each_item<Index>(members, find_step, stream_);
    list.members = members;
    return list;
  }

 private:
  /// Ranks are slots of the suffix array; keys are greater by 1.
  [[nodiscard]] int rank_bits() const { return std::bit_width(suffix_array_.size()); }
  [[nodiscard]] std::uint64_t list_bytes() const {
    return members_ * SuffixGroups<Index>::bytes_a_member;
  }
  /// Samples and selected samples; members and heads of each part; targets; distances_.
  [[nodiscard]] std::uint64_t bytes_of_sets() const {
    const bool has_runs = suffixes_ != members_;
    return samples_.bytes() * (has_runs ? 6 : 4) + members_ * sizeof(Index) + distances_.bytes();
  }

  KnownSamples<Index> sampling_;
  DeviceBuffer<std::uint16_t> distances_{};  ///< KnownSamples::distances
  CodedTextBuffer& coded_;                   ///< for select() and before
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

}  // namespace

template <Position Index>
std::uint64_t finish_by_samples(const SymbolStream& text, LongRuns<Index> runs,
                                SuffixGroups<Index> list, std::uint64_t depth,
                                DeviceBuffer<Index>& suffix_array, std::uint64_t budget,
                                std::uint64_t held, CodedTextBuffer& coded,
                                const SortedPositions<Index>& positions, cudaStream_t stream) {
  const Sampling sampling = coded.words.size() != 0
                                ? plan_sampling(text, coded.view(), depth, positions.minimizers)
                                : plan_sampling(text, depth);
  Finish<Index> finish(sampling, coded, std::move(runs), std::move(list), suffix_array,
                       positions.size, stream);
  const std::uint64_t aim = std::min(budget, positions.size * most_bytes_a_symbol<Index>);
  if (finish.can_gain_by_text_order(positions.minimizer_set) &&
      held + finish.bytes_of_text_order() <= aim) {
    finish.find_in_text_order(positions.minimizer_set, positions.size);
  }
  finish.choose();
  if (held + finish.bytes(false) > aim) finish.forget_text_order();
  const bool free_list = held + finish.bytes(false) > aim;
  if (free_list) require(budget, "the rounds of samples", held + finish.bytes(true));
  const std::uint64_t rounds_end = held + finish.bytes_of_rounds(free_list);
  const std::uint64_t rounds =
      finish.rank_samples(free_list, aim > rounds_end ? aim - rounds_end : 0);
  const std::uint64_t most = held + finish.bytes(free_list);
  finish.place(aim > most ? aim - most : 0);
  return rounds;
}

SORTIE_FOR_BOTH_POSITIONS(finish_by_samples);

}  // namespace sortie::suffix_array::cuda
