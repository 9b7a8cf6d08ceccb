#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {

/// Most members of a group that sort_groups sorts by counting: every member looks at all others,
/// which for few is faster than any sort. Larger groups go to the segmented sort.
inline constexpr unsigned most_counted = 64;

/// How many large groups there are, and how many pairs of members they have.
struct LargeGroups {
  std::uint32_t count;
  unsigned long long member_pairs;  ///< the sum of their sizes' squares; sizes at most 2^32 - 1
};

/// Suffixes whose place is not known yet, in groups whose members agree in as many symbols as have
/// been compared. Groups stand in the order of the suffix array, and a group of m members owns m
/// slots of the suffix array that follow each other.
///
/// Items are positions of suffixes, or, where samples are sorted (samples.hpp), numbers of samples.
template <Position Index>
struct SuffixGroups {
  std::uint64_t members = 0;
  std::uint64_t groups = 0;
  std::uint64_t large_groups = 0;    ///< with more than most_counted members
  std::uint64_t large_pairs = 0;     ///< sum of the squares of their sizes
  DeviceBuffer<Index> items;         ///< `members`
  DeviceBuffer<Index> slots;         ///< `members`: slot j belongs to whatever item stands at j
  DeviceBuffer<std::uint8_t> heads;  ///< `members`: 1 where a group begins
  DeviceBuffer<Index> offsets;       ///< `groups` + 1 begins and ends among the members
  DeviceBuffer<Index> large_begins;  ///< begins and ends of the large groups, in no order
  DeviceBuffer<Index> large_ends;

  /// Room for `most_members`, at least two of them in each group.
  SuffixGroups() = default;
  SuffixGroups(std::uint64_t most_members, cudaStream_t stream)
      : items(most_members, stream),
        slots(most_members, stream),
        heads(most_members, stream),
        offsets(most_members / 2 + 1, stream),
        large_begins(most_members / most_counted + 1, stream),
        large_ends(most_members / most_counted + 1, stream) {}

  /// Bytes a member that the constructor takes.
  static constexpr std::uint64_t bytes_a_member =
      2 * sizeof(Index) + 1 + sizeof(Index) / 2 +
      (2 * sizeof(Index) + most_counted - 1) / most_counted;
};

/// Fills large_begins and large_ends from offsets. Does not wait: the caller copies the numbers.
/// \param groups  how many groups there are, in device memory
/// \param most_groups  bound of it that the host knows
/// \param large   receives the numbers, in device memory
template <Position Index>
void list_large_groups(SuffixGroups<Index>& list, const Index* groups, std::uint64_t most_groups,
                       LargeGroups* large, cudaStream_t stream);

/// The same for a list that was not made by a refinement: sets what is known of
/// large groups, from `groups`. Waits for the stream.
template <Position Index>
void list_large_groups(SuffixGroups<Index>& list, cudaStream_t stream);

/// Sorts the items of every group by their keys, stably. Keys move along.
/// \throws Error (out_of_memory, device)
template <class Key, Position Index>
void sort_groups(SuffixGroups<Index>& list, DeviceBuffer<Key>& keys, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
