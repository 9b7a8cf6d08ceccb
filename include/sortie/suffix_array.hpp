// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"

namespace sortie::suffix_array {

/// Types of positions: 32 bits address texts of up to 2^32 - 2 symbols.
template <class T>
concept Position = std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;

/// A text to index. Symbols are any bytes, 0 included; separators are given by position.
///
/// The suffix at p is symbols[p ..) up to the next separator or the end of the text, whichever
/// comes first. That end sorts before every symbol. Suffixes that are equal up to their ends are
/// ordered by position (the end of an earlier record sorts before the end of a later one; the end
/// of the text is last). The suffix of a separator is the bare end: separators come first, by
/// position.
struct TextView {
  std::span<const std::uint8_t> symbols;
  std::span<const std::uint64_t> separators;  ///< ascending positions of record ends within symbols

  TextView() = default;
  TextView(std::span<const std::uint8_t> text, std::span<const std::uint64_t> ends = {})
      : symbols(text), separators(ends) {}
  [[nodiscard]] std::uint64_t size() const { return symbols.size(); }
};

/// Builds the suffix array of a text: the start positions of all suffixes (those of separators
/// included) in lexicographic order of bytes. The result is the same for every backend and number of
/// threads.
///
/// \param context  backend, device, threads, memory budget, progress, report (phases, among them
///                 "pack", "sort", "rounds", by induced sorting "names", "induce"; figures "rounds",
///                 "unresolved_after_first_sort", "lms_suffixes")
/// \throws Error (usage)  the text is longer than Pos can address
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity of prefix doubling for n symbols: O(n) word operations for the first sort, for each
/// of at most four rounds that compare text, and for the last sort by the ranks of samples;
/// O(s log s) for s samples, with at most log2(r) rounds for repeats of r samples. For genomes,
/// samples are 3 % (host) or 4 to 11 % (GPU) of the suffixes that the text rounds leave in groups.
/// On the host, texts in which many suffixes agree in more symbols than doubling compares at once are
/// built by induced sorting: O(n), and the sorts of distinct substrings.
/// Host memory, text excluded and result included, with 32-bit positions: 12.5 bytes a symbol for
/// DNA, 13.3 for other texts, and up to 16 where a short period makes every second suffix a sample;
/// by induced sorting 8 to 13, and 14 with separators; with 64-bit positions at most twice that. With
/// a smaller budget, or less free memory, the host doubles in several passes, down to 9 bytes a symbol
/// for DNA and 10 for texts without such periods. Below that the call throws before any work.
/// GPU memory: at most 33 bytes a symbol with 32-bit positions, text included. With less, the
/// suffix array is built in ranges, down to 1.5 bytes a symbol for DNA and 2.4 for any text (figure
/// "ranges" of the report); below that the call throws.
/// Source: Hou, Liu, Wang, Feng (ICS 2017), section 5.1; Manber, Myers (SIAM J. Comput. 1993);
/// Larsson, Sadakane (Theoretical Computer Science 387, 2007); Nong, Zhang, Chan (IEEE Transactions
/// on Computers 60, 2011).
template <Position Pos>
[[nodiscard]] SORTIE_API std::vector<Pos> build(const Context& context, const TextView& text);

/// Checks on the host that `suffixes` is the suffix array of `text`: a permutation in which each
/// two neighbours are in order by their first symbols and the ranks of the suffixes after these.
/// \param context  threads, memory budget, progress, report (phase "check")
/// \throws Error (check)  names the first wrong entry
/// \throws Error (out_of_memory)
/// Complexity: O(n). Extra memory: sizeof(Pos) bytes a symbol.
/// Source: Burkhardt, Karkkainen (CPM 2003), section 8.
template <Position Pos>
SORTIE_API void check(const HostContext& context, const TextView& text,
                      std::span<const Pos> suffixes);

/// The inverse of a suffix array: entry p is the rank of the suffix at position p, so that
/// inverse[suffixes[i]] == i.
///
/// \param context   backend, device, threads, memory budget, progress on the host, report (phase
///                  "inverse"; on a GPU also "copy in" and "copy out")
/// \param suffixes  a permutation of 0 .. suffixes.size() - 1
/// \throws Error (usage)  an entry is not below suffixes.size() (checked on the host only)
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity: O(n). Extra memory: none besides the result on the host; on a GPU both arrays. If
/// they do not fit there, the host computes the result, and the report has the figure
/// "inverse_on_host".
template <Position Pos>
[[nodiscard]] SORTIE_API std::vector<Pos> inverse_suffix_array(const Context& context,
                                                               std::span<const Pos> suffixes);

}  // namespace sortie::suffix_array
