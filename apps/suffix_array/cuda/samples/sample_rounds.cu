// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/samples/samples.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "apps/suffix_array/cuda/build/counting.cuh"
#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// State of a member whose group stays in place.
enum Settled : std::uint8_t {
  not_settled = 0,
  rank_is_new = 1,  ///< settled, but others have not read its final rank yet
  rank_is_known = 2,
};

/// Computes new ranks, by (rank, key), for members of groups that stay in place.
template <class Index>
struct MembersInPlace {
  struct Entry {
    Index rank;
    Index key;
  };

  GroupsView<Index> list;
  std::uint64_t members;
  const Index* own_ranks;
  const Index* keys;
  Index* ranks;
  std::uint8_t* settled;
  std::uint32_t* unsettled;  ///< set to 1 if any member is not settled

  __device__ Entry load(Index i) const { return {own_ranks[i], keys[i]}; }
  __device__ bool takes_part(Index j) const { return settled[j] == not_settled; }
  /// The keys of settled members are not used: no other member has their rank.
  __device__ void count(const Entry& mine, Index, const Entry& other, Index, std::uint32_t& before,
                        std::uint32_t& equal) const {
    before += other.rank < mine.rank || (other.rank == mine.rank && other.key < mine.key) ? 1 : 0;
    equal += other.rank == mine.rank && other.key == mine.key ? 1 : 0;
  }
  /// Member j of the group that begins at `begin` has `before` members before it, and `equal` equal
  /// members including itself. With equal == 1 it is settled.
  __device__ void finish(Index j, Index begin, std::uint32_t before, std::uint32_t equal) const {
    const Index rank = list.slots[begin + before];
    if (rank != own_ranks[j]) ranks[list.items[j]] = rank;
    if (equal == 1) {
      settled[j] = rank_is_new;
    } else {
      *unsettled = 1;
    }
  }
};

// Thread j handles member j of a small group.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    rank_small_groups_kernel(MembersInPlace<Index> task) {
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  const bool takes_part = thread < task.members && task.takes_part(static_cast<Index>(thread));
  if (__ballot_sync(full_warp, takes_part) == 0) return;
  const auto group = group_bounds<Index>(task.list.heads, task.members, thread);
  if (!takes_part || !group.small) return;
  const auto j = static_cast<Index>(thread);
  const auto mine = task.load(j);
  std::uint32_t before = 0;
  std::uint32_t equal = 0;
  for (Index i = group.begin; i < group.end; ++i) {
    task.count(mine, j, task.load(i), i, before, equal);
  }
  task.finish(j, group.begin, before, equal);
}

/// Each round at least doubles the symbols in which the members of a group agree.
void require_end(std::uint64_t rounds) {
  if (rounds > 64) {
    throw Error(ErrorKind::device, "suffix array: samples still equal after 64 rounds");
  }
}

/// The rounds, or the remaining ones, when few members are in large groups: groups stay in place
/// and only ranks change. A round takes two or three kernels, and the host reads the result only
/// every few rounds.
template <class Index>
std::uint64_t double_steps_in_place(SuffixGroups<Index>& list, DeviceBuffer<Index>& ranks,
                                    DeviceBuffer<Index>& steps, DeviceBuffer<Index>& doubled,
                                    cudaStream_t stream) {
  constexpr std::size_t rounds_a_look = 3;
  const std::uint64_t members = list.members;
  DeviceBuffer<Index> own_ranks(members, stream);
  DeviceBuffer<Index> keys(members, stream);
  DeviceBuffer<std::uint8_t> settled(members, stream);
  DeviceBuffer<std::uint32_t> device_unsettled(rounds_a_look, stream);
  check_cuda(cudaMemsetAsync(settled.data(), not_settled, settled.bytes(), stream));
  for (std::uint64_t rounds = 0;; rounds += rounds_a_look) {
    require_end(rounds);
    check_cuda(cudaMemsetAsync(device_unsettled.data(), 0, device_unsettled.bytes(), stream));
    for (std::size_t i = 0; i < rounds_a_look; ++i) {
      const auto take_step = [numbers = list.items.data(), settled = settled.data(),
                              ranks = ranks.data(), steps = steps.data(),
                              own_ranks = own_ranks.data(), keys = keys.data(),
                              doubled = doubled.data()] __device__(Index j) {
        const std::uint8_t state = settled[j];
        if (state == rank_is_known) return;
        const Index number = numbers[j];
        own_ranks[j] = ranks[number];
        if (state == rank_is_new) {
          settled[j] = rank_is_known;
          return;
        }
        const Index next = steps[number];
        keys[j] = ranks[next];
        doubled[number] = steps[next];
      };
      for_each_item<Index>(members, take_step, stream);
      std::swap(steps, doubled);
      const MembersInPlace<Index> in_place{
          list.view(),  members,        own_ranks.data(),           keys.data(),
          ranks.data(), settled.data(), device_unsettled.data() + i};
      rank_small_groups_kernel<<<blocks_for(members), element_threads, 0, stream>>>(in_place);
      check_cuda(cudaGetLastError());
      count_in_large_groups(in_place, list, stream);
    }
    std::array<std::uint32_t, rounds_a_look> unsettled{};
    device_unsettled.copy_to(unsettled);
    check_cuda(cudaStreamSynchronize(stream));
    for (std::size_t i = 0; i < rounds_a_look; ++i) {
      if (unsettled[i] == 0) return rounds + i + 1;
    }
  }
}

/// After this many rounds, in which the members of a group agree in the ranks of 2^rounds samples, a
/// list that is still long is ranked by fewer samples.
constexpr std::uint64_t rounds_before_thinning = 3;
/// Fewest members of such a list. It must also have half of the members of the first round.
constexpr std::uint64_t least_thinned = 1 << 19;

/// The sample that a member of a list chooses from the first 2^rounds samples that follow by steps,
/// by a hash of their ranks before the first round. Members of a group choose alike.
///
///   steps    c(0) -> c(1) -> ... -> c(6) -> c(7)
///   own      the least hash of c(0) .. c(6)
///   next     the least hash of c(1) .. c(7), the step of c(0) if it is chosen itself
template <class Index>
struct SampleChoice {
  /// Samples that a member chooses from, and one more for `next`.
  static constexpr Index window = (Index{1} << rounds_before_thinning) - 1;

  const Index* names;
  const Index* steps;

  __device__ void operator()(Index sample, Index& own, Index& next) const {
    own = sample;
    std::uint32_t least = hash(sample);
    std::uint32_t least_next = ~0U;
    for (Index i = 1; i <= window; ++i) {
      sample = steps[sample];
      const std::uint32_t found = hash(sample);
      if (i < window && found < least) {
        own = sample;
        least = found;
      }
      if (i == 1 || found < least_next) {
        next = sample;
        least_next = found;
      }
    }
  }
  __device__ std::uint32_t hash(Index sample) const {
    const Index name = names[sample];
    std::uint32_t mixed = static_cast<std::uint32_t>(name) * 0x9e3779b9U;
    if constexpr (sizeof(Index) == 8) mixed ^= static_cast<std::uint32_t>(name >> 32);
    return (mixed ^ mixed >> 15) * 0x85ebca6bU;
  }
};

/// Ranks a list of samples by those that its members choose, as the list ranks suffixes. All
/// functions are public, since private ones cannot contain device lambdas.
template <class Index>
class Thinning {
 public:
  /// Bytes for each sample of the list's text: first ranks and steps and, of at most half as many
  /// chosen samples, ranks, two arrays of steps, the list twice and its keys.
  static constexpr std::uint64_t bytes_a_sample =
      6 * sizeof(Index) + SuffixGroups<Index>::bytes_a_member;

  /// \param names, steps  ranks and steps before the first round; all outlive the object
  Thinning(SuffixGroups<Index>& list, DeviceBuffer<Index>& ranks, const DeviceBuffer<Index>& names,
           const DeviceBuffer<Index>& steps, int rank_bits, std::uint64_t spare,
           cudaStream_t stream)
      : list_(list),
        ranks_(ranks),
        choice_{names.data(), steps.data()},
        rank_bits_(rank_bits),
        spare_(spare),
        stream_(stream),
        chosen_(ranks.size(), stream),
        keys_(list.members, stream) {}

  /// Chooses the samples. Waits for the stream.
  /// \return false if they are not fewer than half of the members, as in runs of one rank
  bool choose() {
    const auto choose = [choice = choice_, items = list_.items.data(), set = chosen_.set(),
                         keys = keys_.data()] __device__(Index j) {
      Index next = 0;
      choice(items[j], keys[j], next);
      set.insert(keys[j]);
      set.insert(next);
    };
    for_each_item<Index>(list_.members, choose, stream_);
    count_ = chosen_.number_and_count(stream_);
    return 2 * count_ <= list_.members;
  }

  /// Ranks all members of the list, which is empty then.
  /// \return rounds
  std::uint64_t rank() {
    DeviceBuffer<Index> ranks(count_, stream_);
    const std::uint64_t rounds = rank_chosen(ranks);
    const auto take_rank = [set = chosen_.set(), ranks = ranks.data(),
                            keys = keys_.data()] __device__(Index j) {
      keys[j] = ranks[set.rank(keys[j])] + 1;
    };
    for_each_item<Index>(list_.members, take_rank, stream_);
    sort_groups(list_, keys_, rank_bits_, spare_, stream_);
    refine_samples(list_, keys_, ranks_, stream_);
    return rounds + 1;
  }

  /// Ranks the chosen samples: those of no group have their final rank.
  std::uint64_t rank_chosen(DeviceBuffer<Index>& ranks) {
    DeviceBuffer<Index> steps(ranks.size(), stream_);
    const auto take_known = [known = ranks_.data(), ranks = ranks.data(),
                             steps = steps.data()] __device__(Index sample, Index number) {
      ranks[number] = known[sample];
      steps[number] = number;
    };
    for_each_element(chosen_.set(), ranks_.size(), take_known, stream_);
    NumberedSetBuffer<Index> selected(list_.members, stream_);
    const auto is_chosen = [items = list_.items.data(), set = chosen_.set()] __device__(Index j) {
      return set.contains(items[j]);
    };
    fill_set(selected.set(), list_.members, is_chosen, stream_);
    SuffixGroups<Index> list(selected.number_and_count(stream_), stream_);
    list.members = list.items.size();
    if (list.members == 0) return 0;
    // The rank of a group tells it from others.
    DeviceBuffer<Index> keys(list.members, stream_);
    const auto select = [choice = choice_, items = list_.items.data(), slots = list_.slots.data(),
                         known = ranks_.data(), set = chosen_.set(), list = list.view(),
                         keys = keys.data(), steps = steps.data()] __device__(Index j, Index at) {
      const Index sample = items[j];
      Index own = 0;
      Index next = 0;
      choice(sample, own, next);
      list.items[at] = set.rank(sample);
      list.slots[at] = slots[j];
      list.heads[at] = at == 0 ? 1 : 0;
      keys[at] = known[sample] + 1;
      steps[list.items[at]] = set.rank(next);
    };
    for_each_element(selected.set(), list_.members, select, stream_);
    refine_samples(list, keys, ranks, stream_);
    return double_steps(std::move(list), ranks, std::move(steps), rank_bits_, spare_, stream_);
  }

 private:
  SuffixGroups<Index>& list_;
  DeviceBuffer<Index>& ranks_;
  SampleChoice<Index> choice_;
  int rank_bits_;
  std::uint64_t spare_;
  cudaStream_t stream_;
  NumberedSetBuffer<Index> chosen_;
  DeviceBuffer<Index> keys_;  ///< of the members: the sample of each, then its rank
  std::uint64_t count_ = 0;   ///< chosen samples
};

template <class T>
DeviceBuffer<T> copy_of(const DeviceBuffer<T>& from, cudaStream_t stream) {
  DeviceBuffer<T> copy(from.size(), stream);
  check_cuda(
      cudaMemcpyAsync(copy.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, stream));
  return copy;
}

}  // namespace

template <Position Index>
std::uint64_t double_steps(SuffixGroups<Index> list, DeviceBuffer<Index>& ranks,
                           DeviceBuffer<Index> steps, int rank_bits, std::uint64_t spare,
                           cudaStream_t stream) {
  if (list.members == 0) return 0;
  // Steps of samples in no group are doubled without effect: they must be valid numbers of samples.
  DeviceBuffer<Index> doubled = copy_of(steps, stream);
  DeviceBuffer<Index> names;
  DeviceBuffer<Index> first_steps;
  const std::uint64_t least_members = std::max(least_thinned, list.members / 2);
  const std::uint64_t thinning_bytes = Thinning<Index>::bytes_a_sample * steps.size();
  if (list.members >= least_members && spare >= thinning_bytes) {
    names = copy_of(ranks, stream);
    first_steps = copy_of(steps, stream);
    spare -= thinning_bytes;
  }
  std::uint64_t rounds = 0;
  for (; list.members != 0; ++rounds) {
    const bool may_thin = names.size() != 0 && list.members >= least_members;
    if (list.large_pairs <= most_pairs_counted && (!may_thin || rounds > rounds_before_thinning)) {
      return rounds + double_steps_in_place(list, ranks, steps, doubled, stream);
    }
    require_end(rounds);
    if (rounds == rounds_before_thinning && may_thin) {
      Thinning<Index> thinning(list, ranks, names, first_steps, rank_bits, spare, stream);
      if (thinning.choose()) return rounds + thinning.rank();
    }
    DeviceBuffer<Index> keys(list.members, stream);
    // The key of a sample is the rank of the sample that its step leads to. All steps are doubled in
    // the same pass, into a separate array. A sample that stays in the list for the next round has a
    // step to a sample of this round's list, because a key that occurs twice is the rank of a group:
    // so its doubled step is known.
    const auto take_step = [numbers = list.items.data(), ranks = ranks.data(), steps = steps.data(),
                            keys = keys.data(), doubled = doubled.data()] __device__(Index j) {
      const Index number = numbers[j];
      const Index next = steps[number];
      keys[j] = ranks[next] + 1;
      doubled[number] = steps[next];
    };
    for_each_item<Index>(list.members, take_step, stream);
    std::swap(steps, doubled);
    sort_groups(list, keys, rank_bits, spare, stream);
    refine_samples(list, keys, ranks, stream);
  }
  return rounds;
}

SORTIE_FOR_BOTH_POSITIONS(double_steps);

}  // namespace sortie::suffix_array::cuda
