// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sortie/export.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array {

/// The LCP array of a text: entry i is the length of the longest common prefix, in letters, of the
/// suffixes in entries i - 1 and i of the suffix array; entry 0 is 0. A suffix ends at the end of
/// its record (see TextView), and ends are equal to nothing, not even to each other.
///
/// \param context   backend, device, threads, memory budget, progress on the host, report (phase
///                  "lcp"; on a GPU also "copy in" and "copy out")
/// \param suffixes  the suffix array of `text`, not checked (check() does that): for another
///                  permutation the result is meaningless
/// \throws Error (usage)  suffixes.size() is not text.size(), or an entry is not one of its
///                        positions (checked on the host only)
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity: on the host O(n) letters for n symbols, O(t n) for texts with long repeats on t
/// threads; on a GPU O(n log n) letters in the worst case, 21 bases at a time. Extra memory: on the
/// host sizeof(Pos) bytes a symbol; on a GPU the text, the suffix array and the memory of
/// lcp_on_device(). If that exceeds the budget or the free device memory, the host computes the
/// result, and the report has the figure "lcp_on_host".
/// Source: Karkkainen, Manzini, Puglisi: Permuted Longest-Common-Prefix Array (CPM 2009).
template <Position Pos>
[[nodiscard]] SORTIE_API std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                                                    std::span<const Pos> suffixes);

/// Checks that `lcp` is the LCP array of `text` and its suffix array `suffixes`, by another method
/// than lcp_array(): after the common letters of every entry, two different symbols or an end must
/// follow; where equal letters precede the two suffixes, the entry of the suffixes that begin with
/// these letters must be greater by one; for all other entries the letters are compared. Runs on
/// the host.
/// \param context  threads, memory budget, progress, report (phase "check lcp")
/// \throws Error (check)  names a wrong entry
/// \throws Error (usage)  as lcp_array()
/// Complexity: O(n log n) letters (Karkkainen, Manzini, Puglisi, theorem 1). Extra memory:
/// sizeof(Pos) bytes a symbol.
template <Position Pos>
SORTIE_API void check_lcp(const HostContext& context, const TextView& text,
                          std::span<const Pos> suffixes, std::span<const Pos> lcp);

}  // namespace sortie::suffix_array
