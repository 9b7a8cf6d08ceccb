#include "sortie/sequences/symbol_table.hpp"

namespace sortie::sequences {

SymbolTable::SymbolTable(const ReadOptions& options) {
  for (std::size_t byte = 0; byte < symbol.size(); ++byte) {
    const auto letter = static_cast<std::uint8_t>(byte);
    if (is_blank(static_cast<char>(letter)) || !contains(options.alphabet, letter)) continue;
    const bool raise = options.letter_case == Case::upper && letter >= 'a' && letter <= 'z';
    symbol[byte] = raise ? static_cast<std::uint8_t>(letter - 'a' + 'A') : letter;
  }
}

}  // namespace sortie::sequences
