// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

/// Sorts of groups by counting: every member compares itself with all others of its group.
namespace sortie::suffix_array::cuda {

/// Begin and end of a group among the members of a list.
template <class Index>
struct GroupBounds {
  Index begin;
  Index end;
  bool small;  ///< at most most_counted members; otherwise begin and end are undefined
};

/// The group of the member whose number is that of the thread in the grid. All lanes of the warp must
/// call it, also those beyond the last member, whose result is undefined.
///
/// Reads the heads of a list as votes of the warp. Lane l handles member base + l:
///
///   members   | base - 64 .. | base - 32 .. | base .. base + 31 | base + 32 .. | base + 64 .. |
///   word(k)        k = -2         k = -1            k = 0             k = 1          k = 2
///
/// so that most warps find their groups by two or three loads per lane, without a loop.
template <class Index>
__device__ GroupBounds<Index> group_bounds(const std::uint8_t* heads, std::uint64_t members,
                                           std::uint64_t thread) {
  static_assert(most_counted <= 64, "two words on either side");
  const unsigned lane = threadIdx.x % 32;
  // The heads of 32 members as bits. Positions without a member count as heads.
  const auto word = [&](int k) {
    // Before member 0, j wraps around to a value beyond the last member.
    const std::uint64_t j = thread + static_cast<std::uint64_t>(std::int64_t{32} * k);
    return __ballot_sync(full_warp, j >= members || heads[j] != 0);
  };
  const auto leading_zeros = [](unsigned bits) {
    return static_cast<unsigned>(__clz(static_cast<int>(bits)));
  };
  const auto first_set = [](unsigned bits) { return static_cast<unsigned>(first_lane(bits)); };
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
  if (const unsigned up_to_lane = own & (~0U >> (31 - lane)); up_to_lane != 0) {
    distance = lane - 31 + leading_zeros(up_to_lane);
  } else if (before != 0) {
    distance = lane + 1 + leading_zeros(before);
  } else {
    found.small = far_before != 0;
    distance = lane + 33 + leading_zeros(far_before);
  }
  unsigned rest = 0;  // members from this one to the end of the group
  if (const unsigned above_lane = own & (~1U << lane); above_lane != 0) {
    rest = first_set(above_lane) - lane;
  } else if (behind != 0) {
    rest = 32 + first_set(behind) - lane;
  } else {
    found.small = found.small && far_behind != 0;
    rest = 64 + first_set(far_behind) - lane;
  }
  found.small = found.small && distance + rest <= most_counted;
  found.begin = static_cast<Index>(thread) - static_cast<Index>(distance);
  found.end = static_cast<Index>(thread) + static_cast<Index>(rest);
  return found;
}

// Thread j moves member j of a small group to its slot, found by counting the members before it:
// those with a smaller key, and those with the same key at a lower index. Neighbouring threads read
// the same few keys, which the cache holds.
template <class Key, class Index>
__global__ void __launch_bounds__(element_threads)
    sort_by_counting_kernel(const std::uint8_t* heads, std::uint64_t members, const Key* keys,
                            const Index* items, Key* sorted_keys, Index* sorted_items) {
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (thread - threadIdx.x % 32 >= members) return;  // the whole warp
  const auto group = group_bounds<Index>(heads, members, thread);
  if (thread >= members || !group.small) return;
  const auto j = static_cast<Index>(thread);
  const Key key = keys[j];
  Index at = group.begin;
  for (Index i = group.begin; i < j; ++i) at += keys[i] <= key ? 1 : 0;
  for (Index i = j + 1; i < group.end; ++i) at += keys[i] < key ? 1 : 0;
  sorted_keys[at] = key;
  sorted_items[at] = items[j];
}

/// Groups are sorted by counting if that takes at most this many comparisons; no group has more than
/// 2^13 members then. A segmented sort takes half a dozen kernels, and the one that sorts the largest
/// group alone takes longer than all these comparisons.
inline constexpr std::uint64_t most_pairs_counted = std::uint64_t{1} << 26;

/// Members of a large group that a block handles at a time, one per lane.
inline constexpr unsigned large_chunk = 32;

/// The chunks of large groups that a block handles: the chunks of all groups are assigned
/// round-robin to the blocks. A block scans as many groups at a time as it has threads.
template <class Index>
class LargeChunks {
 public:
  struct Storage {
    Index warp_sums[element_threads / 32];
    Index ends[element_threads];  ///< inclusive sums of the chunks of the scanned groups
  };

  __device__ LargeChunks(Storage& storage, const Index* begins, const Index* ends, Index groups)
      : storage_(storage), begins_(begins), ends_(ends), groups_(groups), next_(blockIdx.x) {}

  /// Calls work(begin, end, first) for each chunk: begin and end of the group, and the first member
  /// of the chunk. All threads of the block must call it; they call work for the same chunks.
  template <class Work>
  __device__ void for_each(const Work& work) {
    for (Index group = 0; group < groups_; group += element_threads) {
      const Index own = group + threadIdx.x;
      const Index members = own < groups_ ? ends_[own] - begins_[own] : Index{0};
      const Index chunks = (members + large_chunk - 1) / large_chunk;
      const auto sum = prefix_sum_in_block<element_threads / 32>(chunks, storage_.warp_sums);
      storage_.ends[threadIdx.x] = sum.before + chunks;
      __syncthreads();
      const Index all = sum.total;
      for (; next_ < all; next_ += gridDim.x) {
        const unsigned at = group_of(next_);
        const Index chunk = next_ - (at == 0 ? Index{0} : storage_.ends[at - 1]);
        const Index begin = begins_[group + at];
        work(begin, ends_[group + at], begin + chunk * large_chunk);
      }
      next_ -= all;
      __syncthreads();
    }
  }

 private:
  /// The scanned group that contains `chunk`: the first with a greater inclusive sum.
  __device__ unsigned group_of(Index chunk) const {
    return first_true(0U, element_threads - 1,
                      [&](unsigned i) { return storage_.ends[i] > chunk; });
  }

  Storage& storage_;
  const Index* begins_;
  const Index* ends_;
  Index groups_;
  Index next_;  ///< this block's next chunk, counted from the first scanned group
};

// Members of large groups compare themselves with all others. A block handles a chunk of 32 members
// of one group at a time; lane l of every warp handles member l. The group passes through shared
// memory, 256 entries at a time, of which each warp compares 32.
//
// Task: Entry load(i) returns the data of member i that others read; takes_part(j) returns whether
// member j needs counts; count(mine, j, other, i, before, equal) adds the contribution of i to the
// counts of j; finish(j, begin, before, equal) receives the sums. The result of takes_part must not
// change except by finish of the same member.
template <class Task, class Index>
__global__ void __launch_bounds__(element_threads)
    count_in_large_groups_kernel(Task task, const Index* begins, const Index* ends, Index groups) {
  using Entry = typename Task::Entry;
  __shared__ typename LargeChunks<Index>::Storage chunks;
  __shared__ Entry tile[element_threads];
  __shared__ std::uint32_t before_all[large_chunk];
  __shared__ std::uint32_t equal_all[large_chunk];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp_begin = threadIdx.x - lane;
  LargeChunks<Index>(chunks, begins, ends, groups)
      .for_each([&](Index begin, Index end, Index first_member) {
        const Index j = first_member + lane;
        const bool takes_part = j < end && task.takes_part(j);
        // All warps have evaluated takes_part before any calls finish.
        if (__syncthreads_or(takes_part ? 1 : 0) == 0) return;
        if (threadIdx.x < large_chunk) {
          before_all[threadIdx.x] = 0;
          equal_all[threadIdx.x] = 0;
        }
        const Entry mine = takes_part ? task.load(j) : Entry{};
        std::uint32_t before = 0;
        std::uint32_t equal = 0;
        for (Index from = begin; from < end; from += element_threads) {
          __syncthreads();
          if (threadIdx.x < end - from) tile[threadIdx.x] = task.load(from + threadIdx.x);
          __syncthreads();
          if (warp_begin >= end - from) continue;
          const Index first = from + warp_begin;
          const unsigned count = end - first < 32 ? static_cast<unsigned>(end - first) : 32U;
#pragma unroll 4
          for (unsigned t = 0; t < count; ++t) {
            task.count(mine, j, tile[warp_begin + t], first + t, before, equal);
          }
        }
        if (takes_part) {
          atomicAdd(&before_all[lane], before);
          atomicAdd(&equal_all[lane], equal);
        }
        __syncthreads();
        if (takes_part && warp_begin == 0) task.finish(j, begin, before_all[lane], equal_all[lane]);
        __syncthreads();
      });
}

#ifdef __CUDACC__
/// Runs `task` on all pairs of members within each of the large groups of a list.
template <class Task, class Index>
void count_in_large_groups(const Task& task, SuffixGroups<Index>& list, cudaStream_t stream) {
  if (list.large_groups == 0) return;
  constexpr unsigned blocks = 2048;  // about two full occupancies of the largest GPU
  count_in_large_groups_kernel<<<blocks, element_threads, 0, stream>>>(
      task, list.large_begins.data(), list.large_ends.data(),
      static_cast<Index>(list.large_groups));
  check_cuda(cudaGetLastError());
}
#endif

/// The task that sorts keys with their items, stably.
template <class Key, class Index>
struct SortByCounting {
  using Entry = Key;

  const Key* keys;
  const Index* items;
  Key* sorted_keys;
  Index* sorted_items;

  __device__ Key load(Index i) const { return keys[i]; }
  __device__ bool takes_part(Index) const { return true; }
  __device__ void count(Key key, Index j, Key other, Index i, std::uint32_t& before,
                        std::uint32_t&) const {
    before += other < key || (other == key && i < j) ? 1 : 0;
  }
  __device__ void finish(Index j, Index begin, std::uint32_t before, std::uint32_t) const {
    sorted_keys[begin + before] = keys[j];
    sorted_items[begin + before] = items[j];
  }
};

}  // namespace sortie::suffix_array::cuda
