// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/samples/group_slots.hpp"
#include "primitives/cuda/warp.cuh"

#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

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
    const Index other_word = __shfl_down_sync(full_warp, word, distance);
    const std::uint32_t members = __shfl_down_sync(full_warp, member_bits, distance);
    const std::uint32_t begins = __shfl_down_sync(full_warp, head_bits, distance);
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

template <class Index>
struct RestoreMembers {
  GroupSlotsView<Index> sets;
  const Index* suffix_array;
  Index member;  ///< index in the list of the first member of the sets
  Index group;
  Index* items;
  Index* slots;
  std::uint8_t* heads;
  Index* offsets;

  __device__ void operator()(Index slot) const {
    const NumberedWord<Index> word = sets.members.word(slot);
    if (!word.contains(slot)) return;
    const Index at = member + word.rank(slot);
    const bool is_head = sets.heads.contains(slot);
    items[at] = suffix_array[slot];
    slots[at] = slot;
    heads[at] = is_head ? 1 : 0;
    if (is_head) offsets[group + sets.heads.rank(slot)] = at;
  }
};

}  // namespace

template <Position Index>
GroupSlots<Index>::GroupSlots(const SuffixGroups<Index>& list, std::uint64_t begin,
                              std::uint64_t end, std::uint64_t slots, bool ranked,
                              cudaStream_t stream)
    : empty_(begin == end) {
  if (empty_) return;
  members_ = {slots, stream};
  heads_ = {slots, stream};
  insert_slots_kernel<<<blocks_for(end - begin), element_threads, 0, stream>>>(
      list.slots.data() + begin, list.heads.data() + begin, end - begin, view());
  check_cuda(cudaGetLastError());
  if (ranked) static_cast<void>(members_.number(stream));
  static_cast<void>(heads_.number(stream));
}

template <Position Index>
GroupSlotsView<Index> GroupSlots<Index>::view() {
  return {members_.set(), heads_.set()};
}

template <Position Index>
void GroupSlots<Index>::restore(SuffixGroups<Index>& list, std::uint64_t member,
                                std::uint64_t group, const DeviceBuffer<Index>& suffix_array,
                                cudaStream_t stream) {
  if (empty_) return;
  for_each_item<Index>(
      suffix_array.size(),
      RestoreMembers<Index>{view(), suffix_array.data(), static_cast<Index>(member),
                            static_cast<Index>(group), list.items.data(), list.slots.data(),
                            list.heads.data(), list.offsets.data()},
      stream);
}

template class GroupSlots<std::uint32_t>;
template class GroupSlots<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
