// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sortie/fasta.hpp"
#include "sortie/text.hpp"

namespace sortie::sequences {

/// Blanks and tabs are allowed in sequence lines and dropped.
constexpr bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

/// The symbol to store for each byte of a sequence line: it stands for case, alphabet and white
/// space. Immutable, so that all threads share it.
class SymbolTable {
 public:
  explicit SymbolTable(const ReadOptions& options);

  /// 0 for white space and invalid bytes.
  [[nodiscard]] std::uint8_t operator[](char byte) const {
    return table_[static_cast<std::uint8_t>(byte)];
  }

  /// Stores the symbols of the first bytes, up to one that has none, and returns their number.
  /// \param to  has space for `size` symbols, all of which may be written
  [[nodiscard]] std::size_t copy(const char* from, std::size_t size, std::uint8_t* to) const;

 private:
  std::array<std::uint8_t, 256> table_{};
  bool every_printable_ = true;  ///< all ASCII characters from '!' to '~' have symbols
  signed char case_bit_ = 0;     ///< changed in letters from 'a' to 'z', if every_printable_
};

}  // namespace sortie::sequences
