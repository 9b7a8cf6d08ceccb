// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sortie/export.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array {

/// Patterns to search for, concatenated: pattern i is letters[begins[i] .. begins[i + 1]). Every
/// byte is a letter, so no pattern matches a separator.
struct PatternView {
  std::span<const std::uint8_t> letters;
  std::span<const std::uint64_t> begins;  ///< one entry more than patterns, ascending

  [[nodiscard]] std::uint64_t size() const { return begins.empty() ? 0 : begins.size() - 1; }
};

/// Entries [begin, end) of a suffix array. Their suffixes are the end - begin occurrences of a
/// pattern; an empty range is where the pattern would be inserted.
struct EntryRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] constexpr std::uint64_t count() const { return end - begin; }
  friend bool operator==(const EntryRange&, const EntryRange&) = default;
};

/// Finds each pattern by binary search in a suffix array. Occurrences lie within one record; their
/// positions are suffixes[range.begin .. range.end), in the order of the suffix array. The empty
/// pattern occurs at every position, separators included.
/// \param context   backend, device, threads, memory budget, progress on the host, report (phase
///                  "query"; on a GPU also "copy in" and "copy out")
/// \param suffixes  the suffix array of `text`; not checked
/// \return one range for each pattern, in the order of the patterns; the same on every backend
/// \throws Error (usage)  suffixes.size() is not text.size(), an entry is not one of its positions
///                        (checked on the host only), or begins is not ascending within letters
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity: O(m + log n) letter comparisons for a pattern of m letters on common texts,
/// O(m log n) in the worst case; a GPU searches one pattern per thread. Extra memory: 16 bytes a
/// pattern, and a bit a symbol if there are separators; on a GPU also the text, the suffix array
/// and the patterns.
/// Source: Manber, Myers (SIAM J. Comput. 1993), section 2, without the table of common prefixes.
template <Position Pos>
[[nodiscard]] SORTIE_API std::vector<EntryRange> find(const Context& context, const TextView& text,
                                                      std::span<const Pos> suffixes,
                                                      const PatternView& patterns);

/// Value of most_hits: no limit on the number of positions that locate() returns for a pattern.
inline constexpr std::uint64_t all_hits = std::numeric_limits<std::uint64_t>::max();

/// The occurrences of patterns: pattern i occurs ranges[i].count() times; its positions, at most
/// most_hits of them, are positions[begins[i] .. begins[i + 1]), in the order of the suffix array.
template <Position Pos>
struct Occurrences {
  std::vector<EntryRange> ranges;     ///< one for each pattern
  std::vector<std::uint64_t> begins;  ///< one entry more than patterns
  std::vector<Pos> positions;
};

/// Finds each pattern as find() does, and returns the positions where it occurs, at most
/// `most_hits` for each pattern: those of the first entries of its range.
/// \param context  as for find(); also phase "locate", and on a GPU the figure
///                 "device_search_seconds": time of the search and of the gathering of positions,
///                 measured by CUDA events, copies excluded
/// \throws Error  as find()
/// Complexity: find(), and one read of the suffix array for each position. Extra memory: as find();
/// on a GPU also the result.
template <Position Pos>
[[nodiscard]] SORTIE_API Occurrences<Pos> locate(const Context& context, const TextView& text,
                                                 std::span<const Pos> suffixes,
                                                 const PatternView& patterns,
                                                 std::uint64_t most_hits = all_hits);

}  // namespace sortie::suffix_array
