#pragma once

#include <cstdint>
#include <utility>

#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/core/cuda/check.hpp"
#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::suffix_array::cuda {

/// Suffixes whose place is not known yet, in groups whose members agree in as many symbols as have
/// been compared. Groups stand in the order of the suffix array, and a group of m members owns m
/// slots of the suffix array that follow each other.
///
/// Items are positions of suffixes, or, where samples are sorted (samples.hpp), numbers of samples.
template <Position Index>
struct SuffixGroups {
  std::uint64_t members = 0;
  std::uint64_t groups = 0;
  DeviceBuffer<Index> items;         ///< `members`
  DeviceBuffer<Index> slots;         ///< `members`: slot j belongs to whatever item stands at j
  DeviceBuffer<std::uint8_t> heads;  ///< `members`: 1 where a group begins
  DeviceBuffer<Index> offsets;       ///< `groups` + 1 begins and ends among the members

  /// Room for `most_members`, at least two of them in each group.
  SuffixGroups() = default;
  SuffixGroups(std::uint64_t most_members, cudaStream_t stream)
      : items(most_members, stream),
        slots(most_members, stream),
        heads(most_members, stream),
        offsets(most_members / 2 + 1, stream) {}

  /// Bytes a member that the constructor takes.
  static constexpr std::uint64_t bytes_a_member = 2 * sizeof(Index) + 1 + sizeof(Index) / 2;
};

/// Sorts the items of every group by their keys, stably. Keys move along.
/// \throws Error (out_of_memory, device)
template <class Key, Position Index>
void sort_groups(SuffixGroups<Index>& list, DeviceBuffer<Key>& keys, cudaStream_t stream) {
  DeviceBuffer<Key> keys_alternate(list.members, stream);
  DeviceBuffer<Index> items_alternate(list.items.size(), stream);
  DoubleBuffer<Key> sorted_keys(keys.data(), keys_alternate.data());
  DoubleBuffer<Index> sorted_items(list.items.data(), items_alternate.data());
  const auto members = static_cast<std::int64_t>(list.members);
  const auto groups = static_cast<std::int64_t>(list.groups);
  const Index* begins = list.offsets.data();
  std::size_t bytes = 0;
  check_cuda(DeviceSegmentedSort::SortPairs(nullptr, bytes, sorted_keys, sorted_items, members,
                                            groups, begins, begins + 1, stream));
  DeviceBuffer<std::byte> scratch(bytes, stream);
  check_cuda(DeviceSegmentedSort::SortPairs(scratch.data(), bytes, sorted_keys, sorted_items,
                                            members, groups, begins, begins + 1, stream));
  if (sorted_keys.Current() != keys.data()) std::swap(keys, keys_alternate);
  if (sorted_items.Current() != list.items.data()) std::swap(list.items, items_alternate);
}

}  // namespace sortie::suffix_array::cuda
