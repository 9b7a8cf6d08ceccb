// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/build/suffix_groups.hpp"

#include <algorithm>
#include <utility>

#include "apps/suffix_array/cuda/build/counting.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::suffix_array::cuda {

template <Position Index>
void list_large_groups_async(SuffixGroups<Index>& list, const Index* groups,
                             std::uint64_t most_groups, LargeGroups* large, cudaStream_t stream) {
  constexpr std::uint64_t most_threads = 1 << 19;  // about twice what the largest GPU runs at once
  const std::uint64_t threads = std::min(most_groups, most_threads);
  check_cuda(cudaMemsetAsync(large, 0, sizeof(*large), stream));
  // Thread t handles groups t, t + threads, ...
  const auto list_large = [offsets = list.offsets.data(), groups, threads,
                           begins = list.large_begins.data(), ends = list.large_ends.data(),
                           large] __device__(Index thread) {
    const Index all = *groups;
    for (std::uint64_t g = thread; g < all; g += threads) {
      const Index begin = offsets[g];
      const Index end = offsets[g + 1];
      if (end - begin <= most_counted) continue;
      const std::uint32_t at = atomicAdd(&large->count, 1U);
      atomicAdd(&large->pairs, member_pairs(end - begin));
      begins[at] = begin;
      ends[at] = end;
    }
  };
  for_each_item<Index>(threads, list_large, stream);
}

template <Position Index>
void list_large_groups(SuffixGroups<Index>& list, cudaStream_t stream) {
  const auto host_groups = static_cast<Index>(list.groups);
  const DeviceBuffer<Index> groups(std::span<const Index>(&host_groups, 1), stream);
  DeviceBuffer<LargeGroups> device_large(1, stream);
  list_large_groups_async(list, groups.data(), list.groups, device_large.data(), stream);
  LargeGroups large{};
  device_large.copy_to({&large, 1});
  check_cuda(cudaStreamSynchronize(stream));
  list.large_groups = large.count;
  list.large_pairs = large.pairs;
}

template <class Key, Position Index>
void sort_groups(SuffixGroups<Index>& list, DeviceBuffer<Key>& keys, cudaStream_t stream) {
  const std::uint64_t members = list.members;
  DeviceBuffer<Key> sorted_keys(members, stream);
  DeviceBuffer<Index> sorted_items(members, stream);
  if (members != 0) {
    sort_by_counting_kernel<<<blocks_for(members), element_threads, 0, stream>>>(
        list.heads.data(), members, keys.data(), list.items.data(), sorted_keys.data(),
        sorted_items.data());
    check_cuda(cudaGetLastError());
  }
  if (list.large_pairs <= most_pairs_counted) {
    count_in_large_groups(SortByCounting<Key, Index>{keys.data(), list.items.data(),
                                                     sorted_keys.data(), sorted_items.data()},
                          list, stream);
  } else {
    // The result goes to the alternate buffers, which hold the sorted small groups already.
    DoubleBuffer<Key> key_buffers(keys.data(), sorted_keys.data());
    DoubleBuffer<Index> item_buffers(list.items.data(), sorted_items.data());
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return DeviceSegmentedSort::SortPairs(
          scratch, bytes, key_buffers, item_buffers, static_cast<std::int64_t>(members),
          static_cast<std::int64_t>(list.large_groups), list.large_begins.data(),
          list.large_ends.data(), stream);
    });
  }
  keys = std::move(sorted_keys);
  list.items = std::move(sorted_items);
}

SORTIE_INSTANTIATE_FOR_POSITIONS(list_large_groups_async);
SORTIE_INSTANTIATE_FOR_POSITIONS(list_large_groups);
SORTIE_INSTANTIATE_FOR_KEYS_AND_POSITIONS(sort_groups);

}  // namespace sortie::suffix_array::cuda
