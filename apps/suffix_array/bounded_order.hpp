#pragma once

#include <cstdint>
#include <span>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array {

/// Puts a suffix array in bounded order: by the first `letters` letters of each suffix, and those
/// that agree in them by position, so that a query for up to that many letters gives positions in
/// the order of the text. The order of suffixes that end within `letters` letters is as before.
///
/// The suffixes that agree are neighbours already: they are the segments of one segmented sort of
/// positions.
///
/// \param context   backend of the sort, device, threads, memory budget, report (phase "bounded
///                  order")
/// \param suffixes  a suffix array; rearranged
/// \param lcp       its LCP array; on return that of the bounded order, no entry above `letters`
/// \param letters   at least 1
/// \throws Error (usage)  arrays of different sizes, or 0 letters
/// \throws Error as segmented_sort
/// Complexity O(n), and a segmented sort of the positions that are in groups. Extra memory: 2
/// sizeof(Pos) bytes for each group, and that of segmented_sort.
template <Position Pos>
void bound_order(const Context& context, std::span<Pos> suffixes, std::span<Pos> lcp,
                 std::uint64_t letters);

/// Checks by definition that `suffixes` are all positions of the text in bounded order.
/// \throws Error (check) naming the first entry at fault
/// Complexity: O(n) and, for each neighbours, the letters that they have in common, up to
/// `letters`. Extra memory: sizeof(Pos) bytes a symbol. Runs on the host.
template <Position Pos>
void check_bounded_order(const Context& context, const TextView& text,
                         std::span<const Pos> suffixes, std::uint64_t letters);

}  // namespace sortie::suffix_array
