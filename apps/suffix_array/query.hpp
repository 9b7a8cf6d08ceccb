#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array {

/// Patterns to look for, one behind the other: pattern i is letters[begins[i] .. begins[i + 1]).
/// None of them holds a separator: every byte is a letter.
struct PatternView {
  std::span<const std::uint8_t> letters;
  std::span<const std::uint64_t> begins;  ///< one more than there are patterns, ascending

  [[nodiscard]] std::uint64_t size() const { return begins.empty() ? 0 : begins.size() - 1; }
};

/// Entries [begin, end) of a suffix array. The suffixes there are the places where a pattern
/// occurs, end - begin times; an empty range tells where it would be.
struct EntryRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] constexpr std::uint64_t count() const { return end - begin; }
  friend bool operator==(const EntryRange&, const EntryRange&) = default;
};

/// Finds each pattern by binary search in a suffix array. Occurrences lie within one record. The
/// empty pattern occurs at every position, separators included.
///
/// To locate occurrences, read suffixes[range.begin .. range.end), which are in the order of the
/// suffix array, not of the text.
///
/// \param context   backend, device, threads, memory budget, report (phase "query"; on a GPU, "copy
///                  in" and "copy out" too)
/// \param suffixes  the suffix array of `text`, which is not checked
/// \return one range a pattern, in the order of the patterns; the same on every backend
/// \throws Error (usage)  suffixes.size() is not text.size(), an entry is none of its positions
///                        (host), or begins is not ascending within letters
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity: O(m + log n) comparisons of a letter a pattern of m letters on common texts,
/// O(m log n) at worst; on a GPU, one thread a pattern. Extra memory: 16 bytes a pattern, and a
/// bit a symbol if there are separators; on a GPU the text, the suffix array and the patterns as
/// well.
/// Source: Manber, Myers (SIAM J. Comput. 1993), section 2, without the table of common prefixes.
template <Position Pos>
[[nodiscard]] std::vector<EntryRange> find(const Context& context, const TextView& text,
                                           std::span<const Pos> suffixes,
                                           const PatternView& patterns);

/// No bound of the positions that locate() gives for a pattern.
inline constexpr std::uint64_t all_hits = std::numeric_limits<std::uint64_t>::max();

/// Where patterns occur: pattern i at positions[begins[i] .. begins[i + 1]), in the order of the
/// suffix array, and ranges[i].count() times in all.
template <Position Pos>
struct Occurrences {
  std::vector<EntryRange> ranges;     ///< one a pattern
  std::vector<std::uint64_t> begins;  ///< one more than there are patterns
  std::vector<Pos> positions;
};

/// Finds each pattern as find() does, and tells the positions where it occurs: of a pattern that
/// occurs more than `most_hits` times those of the first entries of its range.
///
/// \param context  as for find(); phase "locate" too, and on a GPU the figure
///                 "device_search_seconds": the search and the gathering of positions between two
///                 CUDA events, copies not counted
/// \throws Error as find()
/// Complexity: find(), and a read of the suffix array for each position. Extra memory beside the
/// result, on a GPU: all of the result, too.
template <Position Pos>
[[nodiscard]] Occurrences<Pos> locate(const Context& context, const TextView& text,
                                      std::span<const Pos> suffixes, const PatternView& patterns,
                                      std::uint64_t most_hits = all_hits);

}  // namespace sortie::suffix_array
