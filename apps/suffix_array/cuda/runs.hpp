#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "sortie/apps/suffix_array/cuda/pack.hpp"
#include "sortie/apps/suffix_array/cuda/suffix_groups.hpp"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {

/// Fewest members of a run group that is sorted by run lengths. Long runs, as gaps of N are, would
/// else go through log2(length) rounds with all their suffixes; a round over fewer members than
/// this costs no more than its launches.
inline constexpr std::uint64_t least_run_members = 4096;

/// Suffixes in runs that are longer than the first sort has seen, sorted by the lengths of their
/// runs; see runs.cuh. What is left of them are groups of one letter, one length and one side,
/// whose members differ in what comes behind their runs: they sort as the last suffixes of their
/// runs do, which are left to the rounds. So rounds never look at the letters of a long run.
template <Position Index>
struct LongRuns {
  SuffixGroups<Index> groups;
  DeviceBuffer<Index> targets;  ///< by member: the last suffix of its run that the rounds sort
};

/// Sorts the run groups with at least least_run_members members. Waits for the stream, once if
/// there are none, else four times.
///
/// \param keys          sorted, of all suffixes; on return, those of the suffixes in question are
///                      odd, so that first_groups() passes over them
/// \param suffix_array  sorted by `keys`; on return, the slots of the run groups hold what is known
///                      of them
/// \param budget        bytes of device memory that may be held in all
/// \param held          of these, bytes held already, keys and suffix array among them
/// \throws Error (out_of_memory)  the run groups do not fit in the budget
///
/// Complexity: O(r + u log u) for r members and u runs. Memory with 32-bit positions: 32 u bytes at
/// most; of a letter that the first sort sees d times, u is at most n / (d + 1). And 15.25 bytes
/// for each suffix that is not alone, the result.
template <class Key, Position Index>
[[nodiscard]] LongRuns<Index> sort_long_runs(const PrefixCode& code, const SymbolStream& text,
                                             DeviceBuffer<Key>& keys,
                                             DeviceBuffer<Index>& suffix_array,
                                             std::uint64_t budget, std::uint64_t held,
                                             cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
