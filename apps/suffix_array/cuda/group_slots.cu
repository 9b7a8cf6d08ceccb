#include "sortie/apps/suffix_array/cuda/group_slots.hpp"

#include "sortie/apps/suffix_array/cuda/for_each_item.cuh"

namespace sortie::suffix_array::cuda {
namespace {

template <class Index>
struct InsertSlots {
  const Index* slots;
  const std::uint8_t* heads;
  GroupSlotsView<Index> sets;

  __device__ void operator()(Index j) const {
    sets.members.insert(slots[j]);
    if (heads[j] != 0) sets.heads.insert(slots[j]);
  }
};

template <class Index>
struct RestoreMembers {
  GroupSlotsView<Index> sets;
  const Index* suffix_array;
  Index member;  ///< of the list, that the first of the sets becomes
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
                              std::uint64_t end, std::uint64_t slots, cudaStream_t stream)
    : empty_(begin == end) {
  if (empty_) return;
  members_ = {slots, stream};
  heads_ = {slots, stream};
  for_each_item<Index>(
      end - begin, InsertSlots<Index>{list.slots.data() + begin, list.heads.data() + begin, view()},
      stream);
  static_cast<void>(members_.number(stream));
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
