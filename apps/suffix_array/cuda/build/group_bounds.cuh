// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::suffix_array::cuda {

/// Begin and end of a group among the members of a list.
template <class Index>
struct GroupBounds {
  Index begin;
  Index end;
  bool small;  ///< at most most_counted members; otherwise begin and end are undefined
};

/// Heads of a list as votes of a warp. Lane l handles member j = base + l, base a multiple of 32:
///
///   members   | base - 64 .. | base - 32 .. | base .. base + 31 | base + 32 .. | base + 64 .. |
///   word(k)        k = -2         k = -1            k = 0             k = 1          k = 2
///
/// so that most warps find their groups by two or three loads per lane, without a loop.
class HeadVotes {
 public:
  __device__ HeadVotes(const std::uint8_t* heads, std::uint64_t members, std::uint64_t base,
                       unsigned lane)
      : heads_(heads), members_(members), base_(base), lane_(lane) {}

  /// The group of the lane's member. All lanes of the warp must call it, also those beyond the last
  /// member, whose result is undefined.
  template <class Index>
  __device__ GroupBounds<Index> bounds() const {
    static_assert(most_counted <= 64, "two words on either side");
    const unsigned own = word(0);
    // Conditions on `own` and the other words are uniform across the warp.
    unsigned before = 0;
    unsigned far_before = 0;
    if ((own & 1U) == 0) {
      before = word(-1);
      if (before == 0) far_before = word(-2);
    }
    const unsigned behind = word(1);
    const unsigned far_behind = behind == 0 ? word(2) : 0U;

    GroupBounds<Index> found{0, 0, true};
    unsigned distance = 0;  // from the begin to the member
    if (const unsigned up_to_lane = own & (~0U >> (31 - lane_)); up_to_lane != 0) {
      distance = lane_ - 31 + leading_zeros(up_to_lane);
    } else if (before != 0) {
      distance = lane_ + 1 + leading_zeros(before);
    } else {
      found.small = far_before != 0;
      distance = lane_ + 33 + leading_zeros(far_before);
    }
    unsigned rest = 0;  // members from this one to the end of the group
    if (const unsigned above_lane = own & (~1U << lane_); above_lane != 0) {
      rest = first_set(above_lane) - lane_;
    } else if (behind != 0) {
      rest = 32 + first_set(behind) - lane_;
    } else {
      found.small = found.small && far_behind != 0;
      rest = 64 + first_set(far_behind) - lane_;
    }
    found.small = found.small && distance + rest <= most_counted;
    const auto j = static_cast<Index>(base_ + lane_);
    found.begin = j - static_cast<Index>(distance);
    found.end = j + static_cast<Index>(rest);
    return found;
  }

 private:
  /// The heads of 32 members as bits. Positions without a member count as heads.
  __device__ unsigned word(int k) const {
    // Before member 0, j wraps around to a value beyond the last member.
    const std::uint64_t j = base_ + static_cast<std::uint64_t>(std::int64_t{32} * k) + lane_;
    return __ballot_sync(full_warp, j >= members_ || heads_[j] != 0);
  }
  static __device__ unsigned leading_zeros(unsigned bits) {
    return static_cast<unsigned>(__clz(static_cast<int>(bits)));
  }
  /// Index of the lowest set bit.
  static __device__ unsigned first_set(unsigned bits) {
    return static_cast<unsigned>(__ffs(static_cast<int>(bits))) - 1;
  }

  const std::uint8_t* heads_;
  std::uint64_t members_;
  std::uint64_t base_;
  unsigned lane_;
};

// Thread j moves member j of a small group to its slot, found by counting the members before it:
// those with a smaller key, and those with the same key at a lower index. Neighbouring threads read
// the same few keys, which the cache holds.
template <class Key, class Index>
__global__ void __launch_bounds__(element_threads)
    sort_by_counting_kernel(const std::uint8_t* heads, std::uint64_t members, const Key* keys,
                            const Index* items, Key* sorted_keys, Index* sorted_items) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (thread - lane >= members) return;  // the whole warp
  const auto group = HeadVotes(heads, members, thread - lane, lane).bounds<Index>();
  if (thread >= members || !group.small) return;
  const auto j = static_cast<Index>(thread);
  const Key key = keys[j];
  Index at = group.begin;
  for (Index i = group.begin; i < j; ++i) at += keys[i] <= key ? 1 : 0;
  for (Index i = j + 1; i < group.end; ++i) at += keys[i] < key ? 1 : 0;
  sorted_keys[at] = key;
  sorted_items[at] = items[j];
}

}  // namespace sortie::suffix_array::cuda
