// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/suffix_array/ranks/first_sort.hpp"
#include "cluster/rank_memory.hpp"

namespace sortie::suffix_array::on_ranks {

/// Sorts all suffixes that the first sort leaves, by samples (host/samples/samples.hpp).
/// Collective.
///
/// Every rank marks the suffixes of all groups, chooses the same samples, and sorts these. Then it
/// sorts its groups, and fills its slots of runs, without messages; groups that several ranks share
/// are sorted together once.
///
/// \param memory  of which the text and the share are held
/// \return rounds of the samples
/// \throws Error (out_of_memory) the samples do not fit on a rank
/// Complexity: O(m + s log s) on each rank for m suffixes in groups of all ranks and s samples, 3 %
/// of these in a genome; n / 8 bytes and 8 s are added up. Memory of a rank: 3 n / 8 + P n / 32 and
/// 8 P s bytes for n symbols and positions of P bytes.
template <Position Pos>
std::uint64_t finish_by_samples(Exchanges& exchanges, const Context& context,
                                const cluster::RankMemory& memory, const PackedText& text,
                                SlotShare<Pos>& share);

}  // namespace sortie::suffix_array::on_ranks
