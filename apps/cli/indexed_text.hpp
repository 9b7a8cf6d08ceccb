// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/fasta.hpp"
#include "sortie/suffix_array.hpp"
#include "sortie/text.hpp"

namespace sortie::cli {

/// How the symbols of a file are converted to the text of an index. Patterns are converted
/// likewise.
struct TextPolicy {
  sequences::Case letter_case = sequences::Case::upper;
  sequences::Alphabet alphabet = sequences::Alphabet::automatic;
  sequences::Ambiguity ambiguity = sequences::Ambiguity::keep;
  bool reverse_complement = false;
};

/// A text and the positions of its separators.
struct IndexedText {
  sequences::Text text;
  std::vector<std::uint64_t> separators;  ///< between records, and in place of ambiguous letters
  /// The smallest alphabet that contains the text, detected before letters are replaced.
  sequences::Alphabet alphabet = sequences::Alphabet::automatic;

  [[nodiscard]] std::uint64_t letters() const { return text.symbols.size() - separators.size(); }
  [[nodiscard]] suffix_array::TextView view() const { return {text.symbols, separators}; }
};

/// Reads a file with sequences::read_fasta() and applies the policy: case and alphabet, then the
/// reverse complement, then ambiguous letters.
/// \throws Error as read_fasta(); (input) the policy requires nucleotides and the text has other
///         letters
[[nodiscard]] IndexedText read_indexed_text(const Context& context, const std::string& path,
                                            const TextPolicy& policy);

/// Applies case and ambiguity to the letters of patterns. Letters that the text replaces by
/// separators are kept; they do not occur in the text.
void map_letters(const TextPolicy& policy, std::span<std::uint8_t> letters);

}  // namespace sortie::cli
