#pragma once

#include <array>
#include <cstdint>

#include "sortie/sequences/fasta.hpp"

namespace sortie::sequences {

/// What becomes of each byte of a sequence line: one look-up a byte decides on case, alphabet and
/// white space.
struct SymbolTable {
  explicit SymbolTable(const ReadOptions& options);

  /// The symbol to store, or 0 where the byte is none: white space or a fault.
  std::array<std::uint8_t, 256> symbol{};
};

/// Blanks and tabs: they may stand in sequence lines and are dropped.
[[nodiscard]] constexpr bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

}  // namespace sortie::sequences
