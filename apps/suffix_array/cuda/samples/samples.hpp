// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/samples/minimizers.cuh"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "sortie/device_suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// The suffixes of a text that a construction sorts: all, or those of minimizers.
template <class Index>
struct SortedPositions {
  std::uint64_t size = 0;              ///< symbols of the text
  MinimizerChoice minimizers{};        ///< no bits: positions are no minimizers
  NumberedSet<Index> minimizer_set{};  ///< no words: the same
};

/// Sorts all suffixes that the text rounds leave, however many symbols they agree in.
///
/// Every suffix of a group has a sample a few symbols ahead (samples.cu), all members at the same
/// distance, so the ranks of the samples order the group. About 2 / (window + 1) of these suffixes
/// are samples: 4 to 11 % for DNA. The samples are sorted by double_steps(). So texts with long
/// repeats go through their many rounds with few items, and every other suffix is sorted only once
/// more.
///
/// \param runs          suffixes within long runs; each is ordered by its target
/// \param list          all others
/// \param depth         symbols compared since the first sort: the members of each group of `list`
///                      agree in SymbolStream::first_depth() and as many more; at least 3
/// \param suffix_array  every suffix once; groups in their slots
/// \param budget        bytes of device memory that may be held in total
/// \param held          of these, bytes held besides `runs` and `list`
/// \param coded         of a text that was compared by codes: the members of each group agree in
///                      `depth` bits of these, at least 3 ContextCode::longest. Freed before the
///                      rounds, unless minimizers are sorted.
/// \param positions     which suffixes are sorted
/// \return rounds of the samples
/// Waits for the stream three times, and for the rounds.
///
/// Memory, for n symbols, m members of both lists, s samples, u of these in groups, with 32-bit
/// positions: sets of slots and samples n bytes (3 n / 2 with long runs), targets 4 m; ranks 4 s,
/// steps 8 s, the samples' list twice and its keys 26.5 u; last, the alternates of keys and items
/// and scratch 10 m. The list of all members, 11.25 m, is freed during the rounds if otherwise
/// most_bytes_a_symbol or the budget would be exceeded: in texts of short periods, s up to n / 2.
/// The samples of all k minimizers are found in text order if memory allows: 2 k until the rounds,
/// and 4 k before.
template <Position Index>
std::uint64_t finish_by_samples(const SymbolStream& text, LongRuns<Index> runs,
                                SuffixGroups<Index> list, std::uint64_t depth,
                                DeviceBuffer<Index>& suffix_array, std::uint64_t budget,
                                std::uint64_t held, CodedTextBuffer& coded,
                                const SortedPositions<Index>& positions, cudaStream_t stream);

/// Prefix doubling over samples, with steps from sample to sample in place of symbols: round i
/// sorts by the rank of the sample 2^i steps ahead.
///
/// \param list   groups of samples, by number, that agree up to the first step; slots are ranks
/// \param ranks  of all samples, by number: those of `list` have the first slot of their group; on
///               return, all are distinct
/// \param steps  by number: the next sample; for samples in no group, any valid number
/// \param rank_bits  all ranks and slots are below 2^rank_bits - 1
/// \param spare  bytes that may be held besides those below; with enough of them, lists that stay long
///               are ranked by fewer samples, and large groups sorted together
/// \return number of rounds
/// Waits for the stream once a round, every third round where groups are small. Complexity:
/// O(u log r) for u samples in groups, and repeats of r steps. Memory for s samples: a second array
/// of steps, 4 s bytes; keys 4 u and the memory of a refinement or a sort of the groups.
template <Position Index>
std::uint64_t double_steps(SuffixGroups<Index> list, DeviceBuffer<Index>& ranks,
                           DeviceBuffer<Index> steps, int rank_bits, std::uint64_t spare,
                           cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
