#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/device_build.hpp"
#include "sortie/apps/suffix_array/cuda/runs.hpp"
#include "sortie/apps/suffix_array/cuda/suffix_groups.hpp"
#include "sortie/apps/suffix_array/cuda/symbol_stream.cuh"

namespace sortie::suffix_array::cuda {

/// Whether finish_by_samples can take suffixes that agree in `depth` symbols: samples must be
/// chosen from more positions than the longest run that sort_long_runs has left to others.
[[nodiscard]] bool can_sample(const SymbolStream& text, std::uint64_t depth);

/// Puts all suffixes that are left to their places, however many symbols they agree in.
///
/// Every suffix of a group has a sample some symbols further on (sampling.cuh), all of them at the
/// same distance, so the ranks of the samples order the group. A tenth or so of the suffixes are
/// samples. These are sorted by prefix doubling, with steps from sample to sample in place of
/// symbols: the 2^i-th sample further on decides round i. So texts with long repeats go through the
/// many rounds with few items, and every other suffix is sorted once more.
///
/// \param runs          suffixes within long runs; each is decided by its target
/// \param list          all others
/// \param depth         symbols in which the members of each group of `list` agree, at least
/// \param suffix_array  every suffix once; groups in their slots
/// \param budget        bytes of device memory that may be held in all
/// \param held          of these, bytes held beside `runs` and `list`
/// \return rounds of the samples
/// \throws Error (out_of_memory)  the samples do not fit in the budget
/// Waits for the stream twice, and once a round.
///
/// Memory, for n symbols, m members of both lists, s samples, u of these in groups:
///   sample marks and their counts n / 4 bytes; ranks 4 s; steps 8 s; the samples' list 19 u + 8 u
///   while sorted; keys of all members 8 m, an alternate of their items 4 m.
template <Position Index>
std::uint64_t finish_by_samples(const SymbolStream& text, LongRuns<Index> runs,
                                SuffixGroups<Index> list, std::uint64_t depth,
                                DeviceBuffer<Index>& suffix_array, std::uint64_t budget,
                                std::uint64_t held, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
