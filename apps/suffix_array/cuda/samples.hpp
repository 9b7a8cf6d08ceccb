#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/device_build.hpp"
#include "sortie/apps/suffix_array/cuda/runs.hpp"
#include "sortie/apps/suffix_array/cuda/suffix_groups.hpp"
#include "sortie/apps/suffix_array/cuda/symbol_stream.cuh"

namespace sortie::suffix_array::cuda {

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
/// \param depth         symbols compared since the first sort: the members of each group of `list`
///                      agree in SymbolStream::first_depth() and as many more; 3 at least
/// \param suffix_array  every suffix once; groups in their slots
/// \param budget        bytes of device memory that may be held in all
/// \param held          of these, bytes held beside `runs` and `list`
/// \return rounds of the samples
/// \throws Error (out_of_memory)  the samples do not fit in the budget
/// Waits for the stream three times, and for the rounds (see sample_rounds.hpp).
///
/// Memory, for n symbols, m members of both lists, s samples, u of these in groups, with 32-bit
/// positions: sets of slots and samples n bytes (3 n / 2 with long runs), targets 4 m; ranks 4 s,
/// steps 8 s, the samples' list twice and its keys 26.5 u; at last, the keys' and items' alternates
/// and scratch 10 m. The list of all members, 11.25 m, is given up meanwhile when
/// most_bytes_a_symbol or the budget would not hold otherwise: texts of short periods, where s is
/// up to n / 2.
template <Position Index>
std::uint64_t finish_by_samples(const SymbolStream& text, LongRuns<Index> runs,
                                SuffixGroups<Index> list, std::uint64_t depth,
                                DeviceBuffer<Index>& suffix_array, std::uint64_t budget,
                                std::uint64_t held, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
