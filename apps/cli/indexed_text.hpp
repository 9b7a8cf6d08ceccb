#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/core/context.hpp"
#include "sortie/sequences/ambiguity.hpp"
#include "sortie/sequences/fasta.hpp"

namespace sortie::cli {

/// How the symbols of a file become the text of an index. Patterns go the same way.
struct TextPolicy {
  sequences::Case letter_case = sequences::Case::upper;
  sequences::Alphabet alphabet = sequences::Alphabet::automatic;
  sequences::Ambiguity ambiguity = sequences::Ambiguity::keep;
  bool reverse_complement = false;
};

/// A text and where it is cut.
struct IndexedText {
  sequences::Text text;
  std::vector<std::uint64_t> separators;  ///< between records, and in place of ambiguous letters
  /// The smallest that holds the text, found before letters were made ends.
  sequences::Alphabet alphabet = sequences::Alphabet::automatic;

  [[nodiscard]] std::uint64_t letters() const { return text.symbols.size() - separators.size(); }
  [[nodiscard]] suffix_array::TextView view() const { return {text.symbols, separators}; }
};

/// Reads a file as sequences::read_fasta does and applies the policy: case and alphabet, then the
/// other strand, then ambiguous letters.
/// \throws Error as read_fasta; (input) what the policy asks for makes no sense for other letters
///         than those of nucleotides
[[nodiscard]] IndexedText read_indexed_text(const Context& context, const std::string& path,
                                            const TextPolicy& policy);

/// Applies case and ambiguity to the letters of patterns. A letter that is an end in the text is
/// left as it is: the text has none like it.
void map_letters(const TextPolicy& policy, std::span<std::uint8_t> letters);

}  // namespace sortie::cli
