#include "sortie/apps/suffix_array/cuda/samples.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "sortie/apps/suffix_array/cuda/counts.cuh"
#include "sortie/apps/suffix_array/cuda/for_each_item.cuh"
#include "sortie/apps/suffix_array/cuda/refine.hpp"
#include "sortie/apps/suffix_array/cuda/sampling.cuh"
#include "sortie/apps/suffix_array/cuda/scan.cuh"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Most symbols that the choice of a sample looks at. More would make fewer samples, but each
/// suffix has to look at all of them.
constexpr std::uint64_t most_context = 64;
/// When rounds leave the groups of samples as they are, each member looking at all others: no group
/// with more members, and no more looks at members of large groups, than these. A round that sorts
/// takes a dozen launches, worth some 10^7 looks.
constexpr std::uint64_t most_in_place = 512;
constexpr std::uint64_t most_pairs_in_place = std::uint64_t{1} << 25;

/// Fewest symbols that tell samples apart well enough to be worth a hash.
constexpr int least_hashed = 3;

Sampling plan_sampling(const SymbolStream& text, std::uint64_t depth) {
  const int context = static_cast<int>(std::min(depth, most_context));
  // A third of the context is hashed, the rest is room to choose, of which first_symbols is the
  // least that is right (see can_sample).
  int hashed =
      std::min(std::max(context / 3, least_hashed), Sampling::most_hashed_bits / text.bits);
  hashed = std::min(hashed, context - text.first_symbols);
  return {text, context - hashed, hashed};
}

/// The set of samples: a bit for each position, and for each word of bits how many samples lie
/// before it, so that samples have numbers in the order of the text.
template <class Index>
struct SampleSet {
  const std::uint32_t* bits;
  const Index* before;

  __device__ bool contains(Index position) const {
    return (bits[position / 32] >> (position % 32) & 1U) != 0;
  }
  __device__ Index number(Index position) const {
    const std::uint32_t below = bits[position / 32] & ((1U << (position % 32)) - 1);
    return before[position / 32] + static_cast<Index>(__popc(below));
  }
};

__device__ inline void set_bit(std::uint32_t* bits, std::uint64_t position) {
  const std::uint32_t bit = 1U << (position % 32);
  // Neighbouring suffixes share samples: most bits are set already.
  if ((bits[position / 32] & bit) == 0) atomicOr(&bits[position / 32], bit);
}

/// Finds the sample of member j, and marks it and the next.
template <class Index>
struct MarkSamples {
  Sampling sampling;
  const Index* positions;
  Index* targets;
  std::uint32_t* bits;

  __device__ void operator()(Index j) const {
    Index own = 0;
    Index next = 0;
    sampling.samples(positions[j], own, next);
    targets[j] = own;
    set_bit(bits, own);
    if (next != own) set_bit(bits, next);
  }
};

/// Marks the suffixes by which long runs are decided.
template <class Index>
struct MarkTargets {
  const Index* targets;
  std::uint32_t* bits;
  __device__ void operator()(Index j) const { set_bit(bits, targets[j]); }
};

template <class Index>
struct CountSamples {
  const std::uint32_t* bits;
  Index* before;
  Index words;
  Index* all;

  __device__ Index operator()(Index i) const { return static_cast<Index>(__popc(bits[i])); }
  __device__ void operator()(Index i, const Index& prefix) const {
    before[i] = prefix - static_cast<Index>(__popc(bits[i]));
    if (i + 1 == words) *all = prefix;
  }
};

/// Gives the sample at slot j of the suffix array its rank. Right for samples whose place is known;
/// the others get theirs from refine_samples.
template <class Index>
struct RankPlacedSamples {
  SampleSet<Index> samples;
  const Index* suffix_array;
  Index* ranks;

  __device__ void operator()(Index slot) const {
    const Index position = suffix_array[slot];
    if (samples.contains(position)) ranks[samples.number(position)] = slot;
  }
};

/// The members that are samples, kept in their order; keys are the numbers of their groups, from 1.
template <class Index>
struct SelectSamples {
  using Prefix = Counts<Index>;

  SampleSet<Index> samples;
  const Index* positions;
  const Index* slots;
  const std::uint8_t* heads;
  Index count;
  Index* numbers;
  Index* sample_slots;
  std::uint8_t* sample_heads;
  Index* keys;
  Index* members;  ///< where the sample stands among all members
  Index* selected;

  __device__ Prefix operator()(Index j) const {
    return make_counts<Index>(samples.contains(positions[j]) ? 1 : 0, heads[j] != 0 ? 1 : 0);
  }
  __device__ void operator()(Index j, const Prefix& prefix) const {
    const Index found = first_count<Index>(prefix);
    if (samples.contains(positions[j])) {
      const Index at = found - 1;
      numbers[at] = samples.number(positions[j]);
      sample_slots[at] = slots[j];
      sample_heads[at] = at == 0 ? 1 : 0;
      keys[at] = second_count<Index>(prefix);
      members[at] = j;
    }
    if (j + 1 == count) *selected = found;
  }
};

template <class Index>
struct Identity {
  Index* numbers;
  __device__ void operator()(Index i) const { numbers[i] = i; }
};

/// The first step of each sample that is a member: to the sample of the suffix behind it, or, from
/// within a long run, to the last suffix of the run.
template <class Index>
struct FindSteps {
  Sampling sampling;
  SampleSet<Index> samples;
  const Index* positions;
  const Index* targets;
  Index suffixes;        ///< members that lie in no long run; they come first
  const Index* members;  ///< as in SelectSamples
  Index* steps;          ///< by number of sample

  __device__ void operator()(Index i) const {
    const Index j = members[i];
    const Index position = positions[j];
    Index own = 0;
    Index next = targets[j];
    if (j < suffixes) sampling.samples(position, own, next);
    steps[samples.number(position)] = samples.number(next);
  }
};

/// The key of sample j of the list is the rank of the sample that its step leads to. All steps are
/// doubled at the same time, into an array of their own.
///
/// A sample that stays in the list for the next round has a step to a sample that was in this
/// round's list: a key that occurs twice is the rank of a group. So the doubled step is known.
template <class Index>
struct TakeStep {
  const Index* numbers;
  const Index* ranks;
  const Index* steps;
  Index* keys;
  Index* doubled;

  __device__ void operator()(Index j) const {
    const Index number = numbers[j];
    const Index next = steps[number];
    keys[j] = ranks[next] + 1;
    doubled[number] = steps[next];
  }
};

/// TakeStep for groups that stay as they are: their members get ranks and keys side by side. The
/// ranks of settled members are known; they are written for the others to compare with.
template <class Index>
struct TakeStepInPlace {
  const Index* numbers;
  const std::uint8_t* settled;
  const Index* ranks;
  const Index* steps;
  Index* own_ranks;
  Index* keys;
  Index* doubled;

  __device__ void operator()(Index j) const {
    const Index number = numbers[j];
    own_ranks[j] = ranks[number];
    if (settled[j] != 0) return;
    const Index next = steps[number];
    keys[j] = ranks[next];
    doubled[number] = steps[next];
  }
};

/// Gives member j of a small group its rank by (rank, key), by counting the members before it.
/// A member that no other equals is settled.
template <class Index>
struct RankByCounting {
  const Index* numbers;
  const Index* slots;
  const std::uint8_t* heads;
  Index members;
  const Index* own_ranks;
  const Index* keys;
  Index* ranks;
  std::uint8_t* settled;
  std::uint32_t* unsettled;  ///< becomes 1 when any member is not settled

  __device__ void operator()(Index j) const {
    if (settled[j] != 0) return;
    Index begin = j;
    while (heads[begin] == 0) --begin;
    const Index rank = own_ranks[j];
    const Index key = keys[j];
    Index before = 0;
    bool alone = true;
    for (Index i = begin; i < members && (i == begin || heads[i] == 0); ++i) {
      const Index other = own_ranks[i];
      // The keys of settled members are of no use, and not looked at: no other has their rank.
      if (other != rank) {
        before += other < rank ? 1 : 0;
      } else if (i != j) {
        before += keys[i] < key ? 1 : 0;
        alone = alone && keys[i] != key;
      }
    }
    ranks[numbers[j]] = slots[begin + before];
    if (alone) {
      settled[j] = 1;
    } else {
      *unsettled = 1;
    }
  }
};

template <class Index>
struct RankTargets {
  SampleSet<Index> samples;
  const Index* ranks;
  Index* targets;  ///< become ranks
  __device__ void operator()(Index j) const { targets[j] = ranks[samples.number(targets[j])]; }
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

/// Both lists as one.
template <class Index>
SuffixGroups<Index> joined(SuffixGroups<Index> first, SuffixGroups<Index> second,
                           cudaStream_t stream) {
  if (second.members == 0) return first;
  SuffixGroups<Index> all(first.members + second.members, stream);
  append(all.items, 0, first.items, first.members, stream);
  append(all.slots, 0, first.slots, first.members, stream);
  append(all.heads, 0, first.heads, first.members, stream);
  append(all.offsets, 0, first.offsets, first.members == 0 ? 0 : first.groups, stream);
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

/// The numbered samples.
template <class Index>
struct NumberedSamples {
  DeviceBuffer<std::uint32_t> bits;
  DeviceBuffer<Index> before;
  std::uint64_t count = 0;

  [[nodiscard]] SampleSet<Index> set() const { return {bits.data(), before.data()}; }
};

template <class Index>
void number_samples(NumberedSamples<Index>& samples, cudaStream_t stream) {
  const std::uint64_t words = samples.bits.size();
  samples.before = {words, stream};
  DeviceBuffer<Index> all(1, stream);
  const CountSamples<Index> pass{samples.bits.data(), samples.before.data(),
                                 static_cast<Index>(words), all.data()};
  std::size_t bytes = 0;
  scan_items<Index>(nullptr, bytes, pass, AddCounts{}, pass.words, stream);
  DeviceBuffer<std::byte> scratch(bytes, stream);
  scan_items<Index>(scratch.data(), bytes, pass, AddCounts{}, pass.words, stream);
  Index count = 0;
  all.copy_to({&count, 1});
  check_cuda(cudaStreamSynchronize(stream));
  samples.count = count;
}

/// Sorts the samples among the members of `list`, and ranks all samples.
template <class Index>
class SampleSort {
 public:
  SampleSort(const Sampling& sampling, const NumberedSamples<Index>& samples, cudaStream_t stream)
      : sampling_(sampling),
        samples_(samples),
        stream_(stream),
        ranks_(samples.count, stream),
        steps_(samples.count, stream),
        doubled_steps_(samples.count, stream) {}

  void rank_placed(const DeviceBuffer<Index>& suffix_array) {
    for_each_item<Index>(
        suffix_array.size(),
        RankPlacedSamples<Index>{samples_.set(), suffix_array.data(), ranks_.data()}, stream_);
  }

  /// \param suffixes  members of `list` that lie in no long run; they come first
  void select(const SuffixGroups<Index>& list, const DeviceBuffer<Index>& targets,
              std::uint64_t suffixes) {
    const std::uint64_t most = std::min(samples_.count, list.members);
    list_ = {most, stream_};
    DeviceBuffer<Index> keys(most, stream_);
    DeviceBuffer<Index> members(most, stream_);
    DeviceBuffer<Index> device_selected(1, stream_);
    const SelectSamples<Index> pass{samples_.set(),
                                    list.items.data(),
                                    list.slots.data(),
                                    list.heads.data(),
                                    static_cast<Index>(list.members),
                                    list_.items.data(),
                                    list_.slots.data(),
                                    list_.heads.data(),
                                    keys.data(),
                                    members.data(),
                                    device_selected.data()};
    std::size_t bytes = 0;
    scan_items<Counts<Index>>(nullptr, bytes, pass, AddCounts{}, pass.count, stream_);
    DeviceBuffer<std::byte> scratch(bytes, stream_);
    scan_items<Counts<Index>>(scratch.data(), bytes, pass, AddCounts{}, pass.count, stream_);
    Index selected = 0;
    device_selected.copy_to({&selected, 1});

    // Steps of samples that are in no group lead nowhere; they are followed in vain, and so must
    // be numbers of samples.
    for_each_item<Index>(samples_.count, Identity<Index>{steps_.data()}, stream_);
    for_each_item<Index>(samples_.count, Identity<Index>{doubled_steps_.data()}, stream_);
    check_cuda(cudaStreamSynchronize(stream_));
    for_each_item<Index>(
        selected,
        FindSteps<Index>{sampling_, samples_.set(), list.items.data(), targets.data(),
                         static_cast<Index>(suffixes), members.data(), steps_.data()},
        stream_);
    list_.members = selected;
    if (selected != 0) refine_samples(list_, keys, ranks_, stream_);
  }

  /// \return number of rounds
  std::uint64_t double_steps() {
    std::uint64_t rounds = 0;
    for (; list_.members != 0; ++rounds) {
      if (list_.largest_group <= most_in_place && list_.large_pairs <= most_pairs_in_place) {
        return rounds + double_steps_in_place();
      }
      require_end(rounds);
      DeviceBuffer<Index> keys(list_.members, stream_);
      for_each_item<Index>(list_.members,
                           TakeStep<Index>{list_.items.data(), ranks_.data(), steps_.data(),
                                           keys.data(), doubled_steps_.data()},
                           stream_);
      std::swap(steps_, doubled_steps_);
      sort_groups(list_, keys, stream_);
      refine_samples(list_, keys, ranks_, stream_);
    }
    return rounds;
  }

  [[nodiscard]] const Index* ranks() const { return ranks_.data(); }

 private:
  /// Every round doubles the symbols that the members of a group agree in at least.
  static void require_end(std::uint64_t rounds) {
    if (rounds > 64) throw Error(ErrorKind::device, "suffix array: samples do not come apart");
  }

  /// The rest of the rounds when no group is large: they stay as they are and only ranks
  /// change, which takes two kernels a round, and no look at the result but now and then.
  std::uint64_t double_steps_in_place() {
    constexpr std::size_t rounds_a_look = 3;
    const std::uint64_t members = list_.members;
    DeviceBuffer<Index> own_ranks(members, stream_);
    DeviceBuffer<Index> keys(members, stream_);
    DeviceBuffer<std::uint8_t> settled(members, stream_);
    DeviceBuffer<std::uint32_t> device_unsettled(rounds_a_look, stream_);
    check_cuda(cudaMemsetAsync(settled.data(), 0, settled.bytes(), stream_));
    for (std::uint64_t rounds = 0;; rounds += rounds_a_look) {
      require_end(rounds);
      check_cuda(cudaMemsetAsync(device_unsettled.data(), 0, device_unsettled.bytes(), stream_));
      for (std::size_t i = 0; i < rounds_a_look; ++i) {
        for_each_item<Index>(
            members,
            TakeStepInPlace<Index>{list_.items.data(), settled.data(), ranks_.data(), steps_.data(),
                                   own_ranks.data(), keys.data(), doubled_steps_.data()},
            stream_);
        std::swap(steps_, doubled_steps_);
        for_each_item<Index>(
            members,
            RankByCounting<Index>{list_.items.data(), list_.slots.data(), list_.heads.data(),
                                  static_cast<Index>(members), own_ranks.data(), keys.data(),
                                  ranks_.data(), settled.data(), device_unsettled.data() + i},
            stream_);
      }
      std::array<std::uint32_t, rounds_a_look> unsettled{};
      device_unsettled.copy_to(unsettled);
      check_cuda(cudaStreamSynchronize(stream_));
      for (std::size_t i = 0; i < rounds_a_look; ++i) {
        if (unsettled[i] == 0) return rounds + i + 1;
      }
    }
  }

  Sampling sampling_;
  const NumberedSamples<Index>& samples_;
  cudaStream_t stream_;
  DeviceBuffer<Index> ranks_;
  DeviceBuffer<Index> steps_;
  DeviceBuffer<Index> doubled_steps_;
  SuffixGroups<Index> list_;
};

}  // namespace

bool can_sample(const SymbolStream& text, std::uint64_t depth) {
  // A suffix that lies in no run longer than first_symbols must find a sample that does not either:
  // the window has to reach beyond the run. What remains of the context is hashed.
  return depth >= static_cast<std::uint64_t>(text.first_symbols + least_hashed);
}

template <Position Index>
std::uint64_t finish_by_samples(const SymbolStream& text, LongRuns<Index> runs,
                                SuffixGroups<Index> list, std::uint64_t depth,
                                DeviceBuffer<Index>& suffix_array, std::uint64_t budget,
                                std::uint64_t held, cudaStream_t stream) {
  const Sampling sampling = plan_sampling(text, depth);
  const std::uint64_t suffixes = list.members;
  const std::uint64_t in_runs = runs.groups.members;
  SuffixGroups<Index> all = joined(std::move(list), std::move(runs.groups), stream);

  DeviceBuffer<Index> targets(all.members, stream);
  NumberedSamples<Index> samples;
  samples.bits = {suffix_array.size() / 32 + 1, stream};
  check_cuda(cudaMemsetAsync(samples.bits.data(), 0, samples.bits.bytes(), stream));
  for_each_item<Index>(
      suffixes, MarkSamples<Index>{sampling, all.items.data(), targets.data(), samples.bits.data()},
      stream);
  append(targets, suffixes, runs.targets, in_runs, stream);
  for_each_item<Index>(in_runs, MarkTargets<Index>{runs.targets.data(), samples.bits.data()},
                       stream);
  number_samples(samples, stream);

  const std::uint64_t in_groups = std::min(samples.count, all.members);
  const std::uint64_t needed =
      held + all.members * (SuffixGroups<Index>::bytes_a_member + 3 * sizeof(Index)) +
      samples.bits.bytes() + samples.before.bytes() + 3 * samples.count * sizeof(Index) +
      in_groups * (2 * SuffixGroups<Index>::bytes_a_member + 3 * sizeof(Index));
  if (needed > budget) throw out_of_memory_error("the rounds of samples", needed, budget);

  SampleSort<Index> sort(sampling, samples, stream);
  sort.rank_placed(suffix_array);
  sort.select(all, targets, suffixes);
  const std::uint64_t rounds = sort.double_steps();

  for_each_item<Index>(all.members, RankTargets<Index>{samples.set(), sort.ranks(), targets.data()},
                       stream);
  sort_groups(all, targets, stream);
  for_each_item<Index>(
      all.members, Place<Index>{all.items.data(), all.slots.data(), suffix_array.data()}, stream);
  return rounds;
}

template std::uint64_t finish_by_samples(const SymbolStream&, LongRuns<std::uint32_t>,
                                         SuffixGroups<std::uint32_t>, std::uint64_t,
                                         DeviceBuffer<std::uint32_t>&, std::uint64_t, std::uint64_t,
                                         cudaStream_t);
template std::uint64_t finish_by_samples(const SymbolStream&, LongRuns<std::uint64_t>,
                                         SuffixGroups<std::uint64_t>, std::uint64_t,
                                         DeviceBuffer<std::uint64_t>&, std::uint64_t, std::uint64_t,
                                         cudaStream_t);

}  // namespace sortie::suffix_array::cuda
