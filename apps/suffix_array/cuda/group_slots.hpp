#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/numbered_set.cuh"
#include "sortie/apps/suffix_array/cuda/suffix_groups.hpp"

namespace sortie::suffix_array::cuda {

/// What GroupSlots tells kernels.
template <class Index>
struct GroupSlotsView {
  NumberedSet<Index> members;
  NumberedSet<Index> heads;

  __device__ bool contains(std::uint64_t slot) const {
    return members.words != nullptr && members.contains(slot);
  }
  /// Groups that begin at `slot` or before.
  __device__ Index groups_up_to(std::uint64_t slot) const {
    if (heads.words == nullptr) return 0;
    const NumberedWord<Index> word = heads.word(slot);
    return word.rank(slot) + (word.contains(slot) ? Index{1} : Index{0});
  }
};

/// A list of groups as two sets of slots: those of members, and of these the first of each group.
/// The suffix array has the items, so a list in the order of its slots follows from these sets,
/// which take an eighth of sizeof(Index) bytes a slot where the list takes more than two and a half
/// sizeof(Index) a member. Empty for an empty list.
template <Position Index>
class GroupSlots {
 public:
  /// \param begin, end  the members of `list` in question, whole groups in the order of their slots
  /// \param slots       of the suffix array
  /// \param ranked      members have ranks, which restore() wants
  GroupSlots(const SuffixGroups<Index>& list, std::uint64_t begin, std::uint64_t end,
             std::uint64_t slots, bool ranked, cudaStream_t stream);

  [[nodiscard]] GroupSlotsView<Index> view();
  [[nodiscard]] std::uint64_t bytes() const { return members_.bytes() + heads_.bytes(); }

  /// Writes the list again, from member `member` and group `group` on.
  /// \pre members have ranks; every suffix is once in the suffix array, the members of each group
  /// in their slots
  void restore(SuffixGroups<Index>& list, std::uint64_t member, std::uint64_t group,
               const DeviceBuffer<Index>& suffix_array, cudaStream_t stream);

 private:
  bool empty_ = true;
  NumberedSetBuffer<Index> members_;
  NumberedSetBuffer<Index> heads_;
};

}  // namespace sortie::suffix_array::cuda
