// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/suffix_array/cuda/text/coded_text.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// Most members of a group that sort_groups() sorts by counting: every member compares itself with
/// all others, which is faster than any sort for few members. Larger groups go to the segmented
/// sort.
inline constexpr unsigned most_counted = 64;

/// Pairs of members of a group, each with itself included. More than 2^32 - 1 members count as that.
constexpr unsigned long long member_pairs(std::uint64_t members) {
  constexpr std::uint64_t most = 0xffffffffU;
  return members < most ? members * members : most * most;
}

/// The arrays of SuffixGroups for kernels.
template <class Index>
struct GroupsView {
  Index* items;
  Index* slots;
  std::uint8_t* heads;
  Index* offsets;
};

/// Suffixes whose slot is not known yet, in groups whose members agree in all symbols compared so
/// far. Groups are in the order of the suffix array, and a group of m members owns m consecutive
/// slots of the suffix array.
///
/// Items are positions of suffixes or, where samples are sorted (samples.hpp), numbers of samples.
template <Position Index>
struct SuffixGroups {
  std::uint64_t members = 0;
  std::uint64_t groups = 0;
  std::uint64_t large_groups = 0;    ///< groups of more than most_counted members
  std::uint64_t large_members = 0;   ///< members of these
  std::uint64_t large_pairs = 0;     ///< sum of the squares of their sizes
  DeviceBuffer<Index> items;         ///< `members`
  DeviceBuffer<Index> slots;         ///< `members`: slot j is that of the item at index j
  DeviceBuffer<std::uint8_t> heads;  ///< `members`: 1 where a group begins
  DeviceBuffer<Index> offsets;       ///< `groups` + 1: the begin of each group, and the end
  DeviceBuffer<Index> large_begins;  ///< begins and ends of the large groups, in no order
  DeviceBuffer<Index> large_ends;
  DeviceBuffer<Index> large_places;  ///< of each: members of the large groups before it

  /// Allocates for `most_members`, at least two of them in each group.
  SuffixGroups() = default;
  SuffixGroups(std::uint64_t most_members, cudaStream_t stream)
      : items(most_members, stream),
        slots(most_members, stream),
        heads(most_members, stream),
        offsets(most_members / 2 + 1, stream),
        large_begins(most_members / most_counted + 1, stream),
        large_ends(most_members / most_counted + 1, stream),
        large_places(most_members / most_counted + 1, stream) {}

  [[nodiscard]] GroupsView<Index> view() {
    return {items.data(), slots.data(), heads.data(), offsets.data()};
  }

  /// Bytes a member that the constructor allocates.
  static constexpr std::uint64_t bytes_a_member =
      2 * sizeof(Index) + 1 + sizeof(Index) / 2 +
      (3 * sizeof(Index) + most_counted - 1) / most_counted;
};

/// Completes a list that no refinement made: the end in `offsets`, and the large groups. Waits for
/// the stream.
template <Position Index>
void list_large_groups(SuffixGroups<Index>& list, cudaStream_t stream);

/// Sorts the items of every group by their keys, stably. Keys are permuted along.
/// \param key_bits  all keys are below 2^key_bits
/// \param spare     bytes that may be held besides alternates of keys and items, and scratch of less
///                  than a byte a member
template <class Key, Position Index>
void sort_groups(SuffixGroups<Index>& list, DeviceBuffer<Key>& keys, int key_bits,
                 std::uint64_t spare, cudaStream_t stream);

/// Sorts (key, position) by bits 0 .. key_bits - 1 of the key, stably. Memory: an alternate of each
/// buffer, and scratch.
template <class Key, Position Index>
void sort_by_key(DeviceBuffer<Key>& keys, DeviceBuffer<Index>& positions, int key_bits,
                 cudaStream_t stream);

/// Finds the groups among all suffixes, sorted by `keys`. Waits for the stream.
/// \param positions     of the sorted suffixes: the suffix array so far
/// \param most_members  capacity of the list
template <class Key, Position Index>
[[nodiscard]] SuffixGroups<Index> first_groups(const DeviceBuffer<Key>& keys,
                                               const DeviceBuffer<Index>& positions,
                                               std::uint64_t most_members, cudaStream_t stream);

/// Fewest members of a run group that is sorted by run lengths. Otherwise long runs, as in gaps of
/// N, would go through log2(length) rounds with all their suffixes; a round over fewer members than
/// this costs no more than its launches.
inline constexpr std::uint64_t least_run_members = 4096;

/// Suffixes in runs of one letter, or of a short period, longer than the first sort compares, sorted
/// by the lengths of their runs; see runs.cu. The remaining groups have one letter, one length and
/// one side, and their members
/// differ only after their runs: they sort as the last suffixes of their runs do, which the rounds
/// sort. So rounds never read the letters of a long run.
template <Position Index>
struct LongRuns {
  SuffixGroups<Index> groups;
  DeviceBuffer<Index> targets;  ///< by member: the last suffix of its run, sorted by the rounds
};

/// Sorts the run groups with at least least_run_members members. Waits for the stream once if there
/// are none, else up to four times.
///
/// \param keys          sorted, of all suffixes; on return, the keys of the suffixes in these
///                      groups are odd, so that first_groups() skips them
/// \param suffix_array  sorted by `keys`; on return, the slots of the run groups are sorted by run
///                      lengths
/// \param budget        bytes of device memory that may be held in total
/// \param held          of these, bytes held already, keys and suffix array included
///
/// Complexity: O(r + u log u) for r members and u runs. Memory with 32-bit positions: at most
/// r / 2 + 12 u or 36 u bytes; for a letter of which the first sort compares d, u is at most
/// n / (d + 1). The result takes 15.25 bytes for each suffix that is not alone.
template <class Key, Position Index>
[[nodiscard]] LongRuns<Index> sort_long_runs(const SymbolStream& text, DeviceBuffer<Key>& keys,
                                             DeviceBuffer<Index>& suffix_array,
                                             std::uint64_t budget, std::uint64_t held,
                                             cudaStream_t stream);

/// A round that compares text: sorts the suffixes of every group by the next symbols that a word of
/// type Key holds, writes all suffixes to the suffix array, and keeps those whose group still has
/// other members. Waits for the stream.
/// \param depth  symbols compared since the first sort, that is besides SymbolStream::first_depth();
///               incremented
/// \param spare  as sort_groups()
template <class Key, Position Index>
void compare_windows(const SymbolStream& text, std::uint64_t& depth, SuffixGroups<Index>& list,
                     DeviceBuffer<Index>& suffix_array, std::uint64_t spare, cudaStream_t stream);

/// The same by the codes of a text: the next 63 bits of each suffix, or 31.
/// \param depth  bits compared so far, at least ContextCode::longest; increased
template <class Key, Position Index>
void compare_codes(const CodedText& text, std::uint64_t& depth, SuffixGroups<Index>& list,
                   DeviceBuffer<Index>& suffix_array, std::uint64_t spare, cudaStream_t stream);

/// Splits groups that are sorted by keys, writes the new rank of each item, and keeps the items
/// whose group has other members. Waits for the stream.
/// \param keys  none is 0
template <Position Index>
void refine_samples(SuffixGroups<Index>& list, const DeviceBuffer<Index>& keys,
                    DeviceBuffer<Index>& ranks, cudaStream_t stream);

/// Most bytes of scratch that first_groups(), compare_windows() and refine_samples() take.
template <Position Index>
[[nodiscard]] std::size_t refine_scratch(std::uint64_t items);

}  // namespace sortie::suffix_array::cuda
