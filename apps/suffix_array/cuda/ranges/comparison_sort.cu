// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/comparison_sort.hpp"
#include "primitives/cuda/warp.cuh"

#include <cub/device/device_merge_sort.cuh>
#include <utility>

#include "apps/suffix_array/cuda/build/group_bounds.cuh"
#include "apps/suffix_array/cuda/numbered_set.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

/// The members of groups of more than most_counted, and the first member of each of these groups,
/// as sets of indices in the list.
template <class Index>
struct LargeSets {
  NumberedSet<Index> members;
  NumberedSet<Index> heads;
};

// Thread j handles member j of the list. In a small group it counts the members that precede its
// own, which gives its slot; large groups are recorded.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    place_in_small_groups_kernel(SuffixOrder<Index> order, std::uint64_t depth, const Index* items,
                                 const Index* slots, const std::uint8_t* heads,
                                 std::uint64_t members, Index* suffixes, LargeSets<Index> large) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (thread - lane >= members) return;  // the whole warp
  const auto group = HeadVotes(heads, members, thread - lane, lane).bounds<Index>();
  const bool is_member = thread < members;
  const unsigned in_large = __ballot_sync(full_warp, is_member && !group.small);
  const unsigned begins = __ballot_sync(full_warp, is_member && !group.small && heads[thread] != 0);
  if (lane == 0 && in_large != 0) {
    large.members.words[thread / 32].bits = in_large;
    large.heads.words[thread / 32].bits = begins;
  }
  if (!is_member || !group.small) return;
  const auto j = static_cast<Index>(thread);
  const Index own = items[j];
  Index place = group.begin;
  for (Index i = group.begin; i < group.end; ++i) {
    if (i != j && order.before(items[i], own, depth)) ++place;
  }
  suffixes[slots[place]] = own;
}

/// A member of a large group. Groups are numbered in order.
template <class Index>
struct Member {
  Index group;
  Index position;
};

template <class Index>
struct ListLargeMembers {
  LargeSets<Index> large;
  const Index* items;
  const Index* slots;
  Member<Index>* members;
  Index* member_slots;

  __device__ void operator()(Index j) const {
    const NumberedWord<Index> word = large.members.word(j);
    if (!word.contains(j)) return;
    const Index at = word.rank(j);
    const NumberedWord<Index> begins = large.heads.word(j);
    members[at] = {static_cast<Index>(begins.rank(j) + (begins.contains(j) ? 1 : 0)), items[j]};
    member_slots[at] = slots[j];
  }
};

template <class Index>
struct IsBefore {
  SuffixOrder<Index> order;
  std::uint64_t depth;  ///< letters in which the members of each group agree

  // Not inlined: a merge sort contains dozens of comparisons, and the code of before() is long.
  __device__ __noinline__ bool operator()(const Member<Index>& left,
                                          const Member<Index>& right) const {
    if (left.group != right.group) return left.group < right.group;
    return order.before(left.position, right.position, depth);
  }
};

template <class Index>
struct PlaceMembers {
  const Member<Index>* members;
  const Index* slots;
  Index* suffixes;

  __device__ void operator()(Index j) const { suffixes[slots[j]] = members[j].position; }
};

}  // namespace

template <Position Index>
void sort_by_comparisons(const SuffixOrder<Index>& order, TextSorted<Index>& sorted,
                         cudaStream_t stream) {
  SuffixGroups<Index> list = std::move(sorted.groups);
  sorted.groups = {};
  if (list.members == 0) return;
  list.offsets.reset();
  NumberedSetBuffer<Index> large_members(list.members, stream);
  NumberedSetBuffer<Index> large_heads(list.members, stream);
  const LargeSets<Index> large{large_members.set(), large_heads.set()};
  place_in_small_groups_kernel<<<blocks_for(list.members), element_threads, 0, stream>>>(
      order, sorted.depth, list.items.data(), list.slots.data(), list.heads.data(), list.members,
      sorted.suffixes.data(), large);
  check_cuda(cudaGetLastError());
  if (list.large_groups == 0) return;

  static_cast<void>(large_heads.number(stream));
  const std::uint64_t count = large_members.number_and_count(stream);
  DeviceBuffer<Member<Index>> members(count, stream);
  DeviceBuffer<Index> slots(count, stream);
  for_each_item<Index>(list.members,
                       ListLargeMembers<Index>{large, list.items.data(), list.slots.data(),
                                               members.data(), slots.data()},
                       stream);
  const IsBefore<Index> is_before{order, sorted.depth};
  std::size_t bytes = 0;
  check_cuda(
      cub::DeviceMergeSort::SortKeys(nullptr, bytes, members.data(), count, is_before, stream));
  DeviceBuffer<std::byte> scratch(bytes, stream);
  check_cuda(cub::DeviceMergeSort::SortKeys(scratch.data(), bytes, members.data(), count, is_before,
                                            stream));
  for_each_item<Index>(
      count, PlaceMembers<Index>{members.data(), slots.data(), sorted.suffixes.data()}, stream);
}

template void sort_by_comparisons(const SuffixOrder<std::uint32_t>&, TextSorted<std::uint32_t>&,
                                  cudaStream_t);
template void sort_by_comparisons(const SuffixOrder<std::uint64_t>&, TextSorted<std::uint64_t>&,
                                  cudaStream_t);

}  // namespace sortie::suffix_array::cuda
