// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "multisort/backends.hpp"
#include "multisort/cuda/device_group.hpp"

namespace sortie::multisort {

/// The function of an algorithm. \throws Error (usage) if the algorithm does not sort chunks
[[nodiscard]] ChunkSort chunk_sort(SortAlgorithm algorithm);

/// Callbacks by which the sort of host memory overlaps copies with a radix sort of chunks.
struct RadixSortHooks {
  using CountUpTo = std::function<void(std::size_t device, std::uint64_t end)>;
  /// Called once before anything is counted. May copy the chunks in by parts and count each after
  /// its copy, up to `end`.
  std::function<void(const CountUpTo& count)> copy_in;
  /// Called when the work that puts items [begin, end) of a device's chunk in order is on the
  /// device's work stream.
  std::function<void(std::size_t device, std::uint64_t begin, std::uint64_t end)> sorted;
  /// Number of parts in which each chunk is sorted, for `sorted`.
  int parts = 1;
};

/// Radix sort of chunks, in the manner of RMG sort (Ilic, section 3), in two moves of the items:
///
/// 1. *histogram*: a sample decides whether the first digit balances the keys, or which groups do
///    (plan::groups_of_sample()). The devices count these groups, or leading digits until the
///    borders between the chunks are known (LeadingDigits, plan::RadixPartition);
/// 2. *scatter*: each device moves its items to the memory of their destinations (move_kernel.cuh),
///    those for other devices through a Relay. What cannot be moved there is staged at the source,
///    and *exchange* copies it (plan::MovePlan, ItemExchange);
/// 3. *local sort*: each device sorts its buckets into its chunk (BucketSort);
/// 4. *borders*: the whole bucket at a border between two chunks went to one device, which copies
///    the neighbour's part to it.
///
/// Stable with values. Extra memory on each device: one copy of its items (at most 0.5 % more), a
/// twelfth of them for the relay, with values 4 KiB for each tile of 9216 to 12288 items, a third
/// of a byte per item for segsort, about 60 MiB; without peer access one more copy. Everything is
/// allocated before items are moved.
///
/// \throws Error (usage) more than most_gpu_devices chunks
void radix_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request, const RadixSortHooks& hooks = {});

/// Most chunks of a radix sort: groups do not extend over borders, and there are 1024 groups.
inline constexpr std::size_t most_gpu_devices = 128;

/// merge_sort_chunks() for one width of keys and values (merge/devices_sort.cuh); CMake generates a
/// source file for each.
template <class Word, class Value>
void merge_sort_typed(const Context& context, const DeviceGroup& group,
                      const ChunkRequest& request);

/// Merge sort of chunks: each device sorts its chunk, one exact selection finds the borders in all
/// sorted chunks, and each device merges its ranges. Stable. A ChunkSort.
///
/// Complexity O(n log n): with 4-byte keys one pass over tiles of 2^14, and one pass over memory
/// for each doubling from there. Extra memory on each device: one copy of its chunk and 8 bytes for
/// each 3840 keys (2816 keys of 8 bytes).
///
/// Source: Tanasic et al. (GPGPU 2013), sections 3.1 and 4.
/// \throws Error (out_of_memory) before anything is moved; (device)
void merge_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request);

}  // namespace sortie::multisort
