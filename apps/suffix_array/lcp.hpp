#pragma once

#include <span>
#include <vector>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array {

/// The LCP array of a text: entry i tells how many letters the suffixes in entries i - 1 and i of
/// the suffix array have in common at their beginnings; entry 0 is 0. A suffix ends at the end of
/// its record (see TextView), and ends have nothing in common.
///
/// \param context   backend, device, threads, memory budget, report (phase "lcp"; on a GPU, "copy
///                  in" and "copy out" too)
/// \param suffixes  the suffix array of `text`. It is not checked: check() does that. Of another
///                  permutation the result is of no use, but computed without fault.
/// \throws Error (usage)  suffixes.size() is not text.size(), or an entry is none of its positions
/// (host)
/// \throws Error (out_of_memory, unavailable, device)
///
/// Complexity: host O(n) letters for n symbols, and O(t n) for texts of long repeats on t threads;
/// GPU O(n log n) letters at worst, 21 bases at a time. Extra memory: host sizeof(Pos) bytes a
/// symbol, GPU as lcp_on_device (cuda/device_lcp.hpp). Where that is more than the memory
/// budget or than is free there, the host does it, and the report has the figure "lcp_on_host".
///
/// Source: Karkkainen, Manzini, Puglisi: Permuted Longest-Common-Prefix Array (CPM 2009).
template <Position Pos>
[[nodiscard]] std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                                         std::span<const Pos> suffixes);

/// Checks that `lcp` is the LCP array of `text` and its suffix array `suffixes`, by other means
/// than it was made: every entry must be followed by two different symbols or an end; where the
/// suffixes have equal letters before them, the entry of the suffixes one letter earlier must be
/// one more; where not, the letters are compared, O(n log n) of them in all (op. cit., theorem 1).
/// \throws Error (check) naming an entry at fault
/// \throws Error (usage) suffixes.size() is not text.size(), or an entry is none of its positions
/// Extra memory: sizeof(Pos) bytes a symbol. Runs on the host.
template <Position Pos>
void check_lcp(const Context& context, const TextView& text, std::span<const Pos> suffixes,
               std::span<const Pos> lcp);

}  // namespace sortie::suffix_array
