#pragma once

#include <cstdint>
#include <string_view>

#include "sortie/sequences/text.hpp"

namespace sortie::sequences {

/// What append_reverse_complements() adds to the names of records, after their first word.
inline constexpr std::string_view reverse_complement_mark = "/reverse-complement";

/// The complement of a nucleotide, IUPAC codes included: A and T, C and G, R and Y, K and M, B and
/// V, D and H change places; S, W, N and - stay. Case is kept.
/// \param rna  the complement of A is U; that of U is A either way
/// \return 0 where the symbol is no nucleotide
[[nodiscard]] std::uint8_t complement(std::uint8_t symbol, bool rna = false);

/// Appends the reverse complement of every record as a record of its own, in the same order: r
/// records become 2 r, and record r + i is the other strand of record i. Its name is the first word
/// of that record's with reverse_complement_mark behind it, and the rest.
/// \throws Error (input) a symbol is no nucleotide, naming record and offset; the text is as it was
/// Complexity O(n); memory: as much as the text again.
void append_reverse_complements(Text& text);

}  // namespace sortie::sequences
