// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/query.hpp"
#include "sortie/suffix_array.hpp"

/// What the program offers beyond the public headers: suffix arrays in bounded order, and the check
/// of queries by a search of the text.
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

/// Counts the occurrences of each pattern by a scan of the text, without a suffix array: the
/// reference for checking queries. Occurrences lie within one record; the empty pattern occurs at
/// every position. Runs on the host (phase "plain search").
/// \throws Error (usage)  begins of patterns out of order
/// Complexity: O(n) steps of a rolling hash for each distinct pattern length, on all threads; a
/// window whose hash equals that of a pattern is compared letter by letter. Extra memory: some 64
/// bytes a pattern, and a bit a symbol if there are separators.
/// Source: Karp, Rabin (IBM J. Res. Dev. 1987), for many patterns at once.
[[nodiscard]] std::vector<std::uint64_t> count_by_plain_search(const HostContext& context,
                                                               const TextView& text,
                                                               const PatternView& patterns);

/// Checks a result of locate() against the text: the counts by count_by_plain_search(), and for
/// each pattern that its positions are distinct and that the pattern occurs at every one of them.
/// With all positions requested, this also proves that none is missing.
/// \param most_hits  the value that was passed to locate()
/// \throws Error (check)  names the first wrong pattern
template <Position Pos>
void check_occurrences(const HostContext& context, const TextView& text,
                       const PatternView& patterns, const Occurrences<Pos>& occurrences,
                       std::uint64_t most_hits = all_hits);

}  // namespace sortie::suffix_array
