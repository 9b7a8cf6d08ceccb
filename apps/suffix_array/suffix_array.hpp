#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sortie/core/context.hpp"
#include "sortie/sequences/text.hpp"

namespace sortie::suffix_array {

/// Ways to build a suffix array.
enum class Algorithm {
  automatic,
  prefix_doubling,  ///< packed prefixes, then doubling by segmented sort (host and CUDA)
  reference,        ///< comparison sort of suffixes, for tests
  divsufsort,       ///< libdivsufsort (host)
  dc3,              ///< the skew algorithm of Karkkainen and Sanders (CUDA), a baseline
};

[[nodiscard]] std::string_view name(Algorithm algorithm);
/// \throws Error (usage)
[[nodiscard]] Algorithm parse_algorithm(std::string_view text);
[[nodiscard]] std::span<const Algorithm> algorithms(Backend backend);

/// Types of positions: 32 bits hold texts of up to 2^32 - 2 symbols.
template <class T>
concept Position = std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;

/// A text to index. Symbols are any bytes, also 0; the separators are told by position.
///
/// A suffix at p is symbols[p ..) up to the next separator or the end of the text, whichever comes
/// first, and that end sorts before every symbol. Suffixes that are equal up to their ends are
/// ordered by position (the end of an earlier record sorts before the end of a later one; the end
/// of the text last). A separator's own suffix is its bare end: separators come first, by position.
struct TextView {
  std::span<const std::uint8_t> symbols;
  std::span<const std::uint64_t> separators;  ///< ascending positions of record ends within symbols

  TextView() = default;
  TextView(std::span<const std::uint8_t> text, std::span<const std::uint64_t> ends = {})
      : symbols(text), separators(ends) {}
  [[nodiscard]] std::uint64_t size() const { return symbols.size(); }
};

/// Builds the suffix array of a text: the start positions of all suffixes (those of separators
/// included) in lexicographic order of bytes.
///
/// \param context  backend, device, threads, memory budget, progress, report (phases, among them
///                 "pack", "sort", "rounds"; figures "rounds", "unresolved_after_first_sort")
/// \throws Error (usage)  text longer than Pos can address
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity O(n log n) words of work for n symbols, at most log2(longest repeat) rounds.
/// Host memory beside the text, result included, with 32-bit positions: 12.5 bytes a symbol for
/// DNA, 13.3 for any text, and up to 16 where a short period makes every second suffix a sample;
/// with 64-bit positions at most twice that (host/prefix_doubling.cpp has the table). Where less is
/// granted or free, the work is done in several goes, from 9 bytes a symbol on for DNA and 10 for
/// texts without such periods. A text that needs more than context.memory_budget, or than is free,
/// is refused before work begins.
/// On a GPU at most 33 bytes a symbol, the text counted (cuda/device_build.hpp); where these are
/// not granted or free, the suffix array is made in ranges, from 1.5 bytes a symbol on for DNA
/// and 2.4 for any text (cuda/ranges/range_build.hpp; the report has the figure "ranges"), and
/// refused below. The result is the same for every backend, algorithm and number of threads.
/// Source: Hou et al. (ICS 2017), section 5.1; Manber and Myers (1993); Larsson and Sadakane
/// (1999).
template <Position Pos>
[[nodiscard]] std::vector<Pos> build(const Context& context, const TextView& text,
                                     Algorithm algorithm = Algorithm::automatic);

/// Checks in O(n) that `suffixes` is the suffix array of `text`: a permutation whose neighbours are
/// in order by first symbol and by the rank of the rest.
/// \throws Error (check) naming the first entry at fault
/// Extra memory: sizeof(Pos) bytes a symbol.
/// Source: Burkhardt, Karkkainen (CPM 2003), section 8.
template <Position Pos>
void check(const Context& context, const TextView& text, std::span<const Pos> suffixes);

}  // namespace sortie::suffix_array
