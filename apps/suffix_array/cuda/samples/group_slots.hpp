// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/numbered_set.cuh"

namespace sortie::suffix_array::cuda {

/// GroupSlots: the view for kernels.
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

/// A list of groups stored as two sets of slots: the slots of members, and the first slot of each
/// group. The suffix array holds the items, so a list in the order of its slots can be restored
/// from these sets. They take sizeof(Index) / 8 bytes a slot; the list takes more than 2.5
/// sizeof(Index) bytes a member. Empty for an empty list.
template <Position Index>
class GroupSlots {
 public:
  /// \param begin, end  range of members of `list`: whole groups in the order of their slots
  /// \param slots       size of the suffix array
  /// \param ranked      number the members, which restore() requires
  GroupSlots(const SuffixGroups<Index>& list, std::uint64_t begin, std::uint64_t end,
             std::uint64_t slots, bool ranked, cudaStream_t stream);

  [[nodiscard]] GroupSlotsView<Index> view();
  [[nodiscard]] std::uint64_t bytes() const { return members_.bytes() + heads_.bytes(); }

  /// Writes the list again, starting at member `member` and group `group`.
  /// \pre the members are numbered (`ranked`); every suffix is once in the suffix array, the
  ///      members of each group in their slots
  void restore(SuffixGroups<Index>& list, std::uint64_t member, std::uint64_t group,
               const DeviceBuffer<Index>& suffix_array, cudaStream_t stream);

 private:
  bool empty_ = true;
  NumberedSetBuffer<Index> members_;
  NumberedSetBuffer<Index> heads_;
};

}  // namespace sortie::suffix_array::cuda
