// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/samples/group_slots.cuh"

#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
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
