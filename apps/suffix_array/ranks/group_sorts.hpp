// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/suffix_array/ranks/first_sort.hpp"
#include "cluster/rank_memory.hpp"

namespace sortie::suffix_array::on_ranks {

/// Sorts all suffixes that the first sort leaves, by samples (host/samples/samples.hpp).
/// Collective.
///
/// Every rank marks the suffixes of its groups, finds the samples in its part of the text, and sorts
/// some groups of samples in each round; all receive the marks, the samples, and what each round has
/// changed. Then each sorts its groups of suffixes, and fills its slots of runs, without messages;
/// groups that several ranks share are sorted together once.
///
/// \param memory  of which the text and the share are held
/// \return rounds of the samples
/// \throws Error (out_of_memory) the samples do not fit on a rank
/// Complexity on each of r ranks: O((m + s log s) / r + s) for m suffixes in groups of all ranks and
/// s samples, 3 % of these in a genome. To each rank are sent n / 4 bytes for n symbols, 2 P s with
/// positions of P bytes, and 3 P for each sample of equal rank in each round; 8 s bytes are added up.
/// Memory of a rank: 3 n / 8 + P n / 32 and 4 P s bytes, and 5 P for each sample that it sorts.
template <Position Pos>
std::uint64_t finish_by_samples(Exchanges& exchanges, const Context& context,
                                const cluster::RankMemory& memory, const PackedText& text,
                                SlotShare<Pos>& share);

}  // namespace sortie::suffix_array::on_ranks
