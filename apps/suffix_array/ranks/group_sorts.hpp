// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/suffix_array/ranks/first_sort.hpp"

/// Sorts of the groups that the first sort leaves.
namespace sortie::suffix_array::on_ranks {

/// Sorts the groups of this rank that the first sort leaves by further words of the text, as long
/// as that takes less than an exchange would: each pass compares four times as many words as the
/// one before, and passes end when they would read more than eight words for each slot. Groups that
/// several ranks share are left. Not collective.
///
/// \return symbols in which the suffixes of each remaining group of this rank agree, without an
///         end; the greatest number if no group remains Extra memory: a bit for each slot.
template <Position Pos>
[[nodiscard]] std::uint64_t sort_repeats(const PackedText& text, SlotShare<Pos>& share);

/// Sorts the groups that are left on any rank by prefix doubling: the suffixes of a group, which
/// agree in `depth` symbols, are sorted by the groups of the suffixes `depth` symbols later, which
/// their owners tell; then depth is doubled. Collective.
///
/// \param depth  on all ranks the same; suffixes of a group agree in as many, without an end
/// \return rounds
/// Complexity: O(log(n / depth)) rounds. A round sends 3 or 4 positions for each suffix that is in
/// a group, and sorts these. Memory for positions of P bytes: 2 P for each symbol of the share, the
/// suffix array included, and 3 P for each suffix in a group, or 16 + 2 P bytes more where ranks
/// share it.
/// Source: Manber, Myers (SIAM J. Comput. 1993); Larsson, Sadakane (Theoretical Computer Science
/// 387, 2007); over ranks: Flick, Aluru (SC 2015).
template <Position Pos>
std::uint64_t double_prefixes(Exchanges& exchanges, const Context& context, const PackedText& text,
                              SlotShare<Pos>& share, std::uint64_t depth);

}  // namespace sortie::suffix_array::on_ranks
