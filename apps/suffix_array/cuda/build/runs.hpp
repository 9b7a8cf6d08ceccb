// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::suffix_array::cuda {

/// Fewest members of a run group that is sorted by run lengths. Otherwise long runs, as in gaps of
/// N, would go through log2(length) rounds with all their suffixes; a round over fewer members than
/// this costs no more than its launches.
inline constexpr std::uint64_t least_run_members = 4096;

/// Suffixes in runs longer than the first sort compares, sorted by the lengths of their runs; see
/// runs.cu. The remaining groups have one letter, one length and one side, and their members
/// differ only after their runs: they sort as the last suffixes of their runs do, which the rounds
/// sort. So rounds never read the letters of a long run.
template <Position Index>
struct LongRuns {
  SuffixGroups<Index> groups;
  DeviceBuffer<Index> targets;  ///< by member: the last suffix of its run, sorted by the rounds
};

/// Sorts the run groups with at least least_run_members members. Waits for the stream:
/// once if there are none, else up to four times.
///
/// \param keys          sorted, of all suffixes; on return, the keys of the suffixes in these
///                      groups are odd, so that first_groups() skips them
/// \param suffix_array  sorted by `keys`; on return, the slots of the run groups are sorted by run
///                      lengths
/// \param budget        bytes of device memory that may be held in total
/// \param held          of these, bytes held already, keys and suffix array included
/// \throws Error (out_of_memory)  the run groups do not fit in the budget
///
/// Complexity: O(r + u log u) for r members and u runs. Memory with 32-bit positions: at most
/// r / 2 + 12 u or 36 u bytes; for a letter of which the first sort compares d, u is at most n / (d + 1). The result
/// takes 15.25 bytes for each suffix that is not alone.
template <class Key, Position Index>
[[nodiscard]] LongRuns<Index> sort_long_runs(const PrefixCode& code, const SymbolStream& text,
                                             DeviceBuffer<Key>& keys,
                                             DeviceBuffer<Index>& suffix_array,
                                             std::uint64_t budget, std::uint64_t held,
                                             cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
