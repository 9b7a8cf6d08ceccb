// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sortie/query.hpp"

namespace sortie::suffix_array {

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
