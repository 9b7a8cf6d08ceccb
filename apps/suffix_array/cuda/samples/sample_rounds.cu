// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/samples/samples.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "apps/suffix_array/cuda/build/counting.cuh"
#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
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

}  // namespace

template <Position Index>
std::uint64_t double_steps(SuffixGroups<Index> list, DeviceBuffer<Index>& ranks,
                           DeviceBuffer<Index> steps, cudaStream_t stream) {
  if (list.members == 0) return 0;
  DeviceBuffer<Index> doubled(steps.size(), stream);
  // Steps of samples in no group are doubled without effect: they must be valid numbers of samples.
  check_cuda(cudaMemcpyAsync(doubled.data(), steps.data(), steps.bytes(), cudaMemcpyDeviceToDevice,
                             stream));
  std::uint64_t rounds = 0;
  for (; list.members != 0; ++rounds) {
    if (list.large_pairs <= most_pairs_counted) {
      return rounds + double_steps_in_place(list, ranks, steps, doubled, stream);
    }
    require_end(rounds);
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
    sort_groups(list, keys, stream);
    refine_samples(list, keys, ranks, stream);
  }
  return rounds;
}

SORTIE_FOR_BOTH_POSITIONS(double_steps);

}  // namespace sortie::suffix_array::cuda
