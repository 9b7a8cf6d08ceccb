#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "sortie/multisort/cuda/chunk_sort.hpp"

namespace sortie::multisort {

/// What the sort of host memory hangs into a radix sort of chunks, so that copies and work overlap.
struct RadixSortHooks {
  /// Counts the first digit of a device's items up to `end`, on its work stream.
  using CountUpTo = std::function<void(std::size_t device, std::uint64_t end)>;
  /// Called once before anything is counted: may bring the chunks piece by piece, and have each
  /// counted behind it. What it does not count is counted afterwards.
  std::function<void(const CountUpTo& count)> bring;
  /// Called when the items [begin, end) of a device's chunk will be in order by what is on its work
  /// stream.
  std::function<void(std::size_t device, std::uint64_t begin, std::uint64_t end)> sorted;
  /// Parts that each chunk is sorted in, when `sorted` is there.
  int parts = 1;
};

/// Radix sort of chunks, in the manner of RMG sort (Ilic, section 3), in two moves of the items:
///
/// 1. *histogram*: a sample of the keys says whether their first digit divides them well, or which
///    groups do (sample_keys(), plan::groups_of_sample()). The devices count these, or leading
///    digits until the plan knows the borders between the chunks (LeadingDigits,
///    plan::RadixPartition);
/// 2. *scatter*: each device moves its items to the buckets in the memory of their destinations
///    (move_kernel.cuh), those for other devices slice by slice by way of a Relay; what cannot go
///    there is parked, and *exchange* brings it on (plan::MovePlan, ItemExchange);
/// 3. *local sort*: each device sorts its buckets as segments, into its chunk; keys of one or two
///    bytes by CUB's radix sort;
/// 4. *borders*: the bucket at a border between two chunks went to one of the devices whole, which
///    gives the neighbour its part.
///
/// Stable with values. Extra memory on each device: one copy of its items (0.5 % more at most), a
/// twelfth of them for the relay, with values 4 KiB for each tile of 9216 to 12288 items, a third
/// of a byte an item for segsort, about 60 MiB; where devices do not reach each other, one copy
/// more. Everything is allocated before items are moved.
///
/// A ChunkSort. \throws Error (usage) more than most_gpu_devices chunks
void radix_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request);
void radix_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request, const RadixSortHooks& hooks);

/// Chunks that a radix sort takes: groups do not reach over borders, and there are 1024.
inline constexpr std::size_t most_gpu_devices = 128;

}  // namespace sortie::multisort
