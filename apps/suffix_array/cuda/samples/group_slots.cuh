// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/scan.cuh"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::suffix_array::cuda {

/// A list of groups as two sets of slots: the slots of members, and the first slot of each group.
/// No words if there are no groups.
template <class Index>
struct GroupSlotsView {
  NumberedSet<Index> members;
  NumberedSet<Index> heads;

  __device__ bool contains(std::uint64_t slot) const {
    return members.words != nullptr && members.contains(slot);
  }
  /// The number of groups that begin at or before `slot`.
  __device__ Index groups_up_to(std::uint64_t slot) const {
    if (heads.words == nullptr) return 0;
    const NumberedWord<Index> word = heads.word(slot);
    return word.rank(slot) + (word.contains(slot) ? Index{1} : Index{0});
  }
};

// Thread j inserts member j. Slots ascend, so the members of one word are in neighbouring lanes:
// these combine their bits, and the first of them writes the word.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    insert_slots_kernel(const Index* slots, const std::uint8_t* heads, std::uint64_t count,
                        GroupSlotsView<Index> sets) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t j = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  const bool is_member = j < count;
  const Index slot = is_member ? slots[j] : Index{0};
  const Index word = is_member ? slot / 32 : ~Index{0};
  std::uint32_t member_bits = is_member ? 1U << (slot % 32) : 0U;
  std::uint32_t head_bits = is_member && heads[j] != 0 ? member_bits : 0U;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const Index other_word = from_lane_above(word, distance);
    const std::uint32_t members = from_lane_above(member_bits, distance);
    const std::uint32_t begins = from_lane_above(head_bits, distance);
    if (lane + distance < 32 && other_word == word) {
      member_bits |= members;
      head_bits |= begins;
    }
  }
  const Index previous = __shfl_up_sync(full_warp, word, 1);
  if (!is_member || (lane != 0 && previous == word)) return;
  atomicOr(&sets.members.words[word].bits, member_bits);
  if (head_bits != 0) atomicOr(&sets.heads.words[word].bits, head_bits);
}

/// Writes the members of sets to a list again.
template <class Index>
struct RestoreMembers {
  GroupSlotsView<Index> sets;
  const Index* suffix_array;
  Index member;  ///< index in the list of the first member of the sets
  Index group;
  GroupsView<Index> list;

  __device__ void operator()(Index slot) const {
    const NumberedWord<Index> word = sets.members.word(slot);
    if (!word.contains(slot)) return;
    const Index at = member + word.rank(slot);
    const bool is_head = sets.heads.contains(slot);
    list.items[at] = suffix_array[slot];
    list.slots[at] = slot;
    list.heads[at] = is_head ? 1 : 0;
    if (is_head) list.offsets[group + sets.heads.rank(slot)] = at;
  }
};

}  // namespace sortie::suffix_array::cuda
