#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sortie/sequences/text.hpp"

namespace sortie::sequences {

/// What becomes of symbols of nucleotides other than A, C, G, T and U (either case): N, the other
/// IUPAC codes and gaps.
enum class Ambiguity {
  keep,      ///< letters like all others
  unify,     ///< each becomes N (n in lower case)
  separate,  ///< each becomes an end, like that of a record: nothing that holds one is ever found
};

/// "keep", "unify" or "separate".
[[nodiscard]] std::string_view name(Ambiguity ambiguity);
/// The reverse of name(). \throws Error (usage)
[[nodiscard]] Ambiguity parse_ambiguity(std::string_view text);

/// True for A, C, G, T, U and their lower case.
[[nodiscard]] bool is_base(std::uint8_t symbol);

/// Every letter that is no base becomes N, n where it is in lower case. Separators (byte 0) stay.
/// O(n), in place.
void unify_ambiguous(std::span<std::uint8_t> symbols);

/// Every letter that is no base becomes Text::separator; records keep their offsets and lengths.
/// \return the positions of all separators now in the text, ascending: those between records, too
/// O(n), in place; memory: 8 bytes a separator.
[[nodiscard]] std::vector<std::uint64_t> separate_ambiguous(Text& text);

}  // namespace sortie::sequences
