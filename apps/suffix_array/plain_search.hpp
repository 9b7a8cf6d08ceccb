#pragma once

#include <cstdint>
#include <vector>

#include "sortie/apps/suffix_array/query.hpp"

namespace sortie::suffix_array {

/// Counts the occurrences of each pattern by a walk over the text, without any suffix array: what
/// queries are checked against.
///
/// \param context   threads, report (phase "plain search"); runs on the host
/// \param patterns  as for find(); the empty pattern occurs at every position
/// \return a count a pattern, in the order of the patterns; occurrences lie within one record
/// \throws Error (usage)  begins of patterns out of order
/// Complexity: O(n) steps of a rolling hash for every length that patterns have, on all threads;
/// a window whose hash is one of a pattern's is compared letter by letter. Extra memory: some 32
/// bytes a pattern, and a bit a symbol if there are separators.
/// Source: Karp, Rabin (IBM J. Res. Dev. 1987), of many patterns at once.
[[nodiscard]] std::vector<std::uint64_t> count_by_plain_search(const Context& context,
                                                               const TextView& text,
                                                               const PatternView& patterns);

/// Checks what locate() gave against the text: counts by count_by_plain_search(), and of each
/// pattern that its positions differ from each other, and that it stands at every one of them. So
/// where all positions were asked for, none is missing either.
/// \param most_hits  as it was given to locate()
/// \throws Error (check) naming the first pattern at fault
template <Position Pos>
void check_occurrences(const Context& context, const TextView& text, const PatternView& patterns,
                       const Occurrences<Pos>& occurrences, std::uint64_t most_hits = all_hits);

}  // namespace sortie::suffix_array
