// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace sortie::suffix_array::host {

/// A string whose suffixes are sorted by induction: the bytes of a text, or names of its substrings.
///
/// A suffix is of type S if it is less than the next one, else of type L. It is an LMS suffix
/// (leftmost S) if it is of type S and the one before it of type L; the first suffix is none. An LMS
/// substring ends with the first symbol of the next LMS suffix. No two LMS suffixes are neighbours,
/// and the bytes of a text have a third as many as symbols.
/// Source: Nong, Zhang, Chan (IEEE Transactions on Computers 60, 2011), section 2.
template <class Symbol>
struct SymbolString {
  std::span<const Symbol> symbols;
  std::uint64_t alphabet = 256;  ///< symbols are below it
  /// Symbols 0 are ends of records: each is a symbol of its own, less than all that follow it. The end
  /// of the string is the greatest of them. Otherwise, it is less than all symbols.
  bool has_separators = false;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(symbols.size()); }
  [[nodiscard]] bool is_separator(Symbol symbol) const { return has_separators && symbol == 0; }
};

/// Symbols after the end of a string of names that can be read: a key reads as many at once.
inline constexpr std::uint32_t symbols_after_names = 16;

/// The symbols before a position: the four bytes before it, the nearest one lowest, and 0 for those before
/// the text; or the name before it. \pre of names, position > 0
[[nodiscard]] inline std::uint32_t symbols_before(const SymbolString<std::uint8_t>& text,
                                                  std::uint32_t position) {
  std::uint32_t symbols = 0;
  if (position >= sizeof(symbols)) {
    std::memcpy(&symbols, text.symbols.data() + position - sizeof(symbols), sizeof(symbols));
    if constexpr (std::endian::native == std::endian::little) symbols = __builtin_bswap32(symbols);
  } else {
    for (std::uint32_t i = 0; i < position; ++i)
      symbols |= std::uint32_t{text.symbols[position - 1 - i]} << (8 * i);
  }
  return symbols;
}
[[nodiscard]] inline std::uint32_t symbols_before(const SymbolString<std::uint32_t>& names,
                                                  std::uint32_t position) {
  return names.symbols[position - 1];
}

struct LmsSuffix {
  std::uint32_t position = 0;
  std::uint32_t before = 0;  ///< symbols_before()
};

/// LMS suffixes of each of equal shares of a string.
template <class Symbol>
[[nodiscard]] std::vector<std::uint64_t> count_lms_suffixes(const SymbolString<Symbol>& string);

/// Finds the LMS suffixes, by ascending position.
/// \param counts  of count_lms_suffixes()
/// \param found   memory for their sum
template <class Symbol>
void find_lms_suffixes(const SymbolString<Symbol>& string, std::span<const std::uint64_t> counts,
                       LmsSuffix* found);

}  // namespace sortie::suffix_array::host
