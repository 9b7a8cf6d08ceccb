// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array {

/// Puts a suffix array in bounded order: by the first `letters` letters of each suffix, and
/// suffixes that agree in these by position. A query for up to that many letters then gives
/// positions in the order of the text. The order of suffixes that end within `letters` letters does
/// not change.
///
/// Suffixes that agree are neighbours already: they are the segments of one segmented sort of
/// positions.
///
/// \param context  for the sort; report: phase "bounded order"
/// \param lcp      the LCP array; on return that of the bounded order, no entry above `letters`
/// \param letters  at least 1
/// \throws Error (usage)  arrays of different sizes, or 0 letters; other errors as segmented_sort()
/// Complexity: O(n), and a segmented sort of the positions in groups. Extra memory: 2 sizeof(Pos)
/// bytes for each group, and that of segmented_sort().
template <Position Pos>
void bound_order(const Context& context, std::span<Pos> suffixes, std::span<Pos> lcp,
                 std::uint64_t letters);

/// Checks by definition that `suffixes` are all positions of the text in bounded order. Runs on the
/// host.
/// \throws Error (check)  names the first wrong entry
/// Complexity: for each two neighbours, O(log separators) and the letters that they have in common,
/// up to `letters`. Extra memory: n bits.
template <Position Pos>
void check_bounded_order(const HostContext& context, const TextView& text,
                         std::span<const Pos> suffixes, std::uint64_t letters);

}  // namespace sortie::suffix_array
