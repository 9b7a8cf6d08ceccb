// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/indexed_text.hpp"

#include <fmt/format.h>

#include "sortie/error.hpp"
#include "sortie/text.hpp"

namespace sortie::cli {
namespace {

using sequences::Alphabet;
using sequences::Ambiguity;

void require_nucleotides(const std::string& path, Alphabet alphabet) {
  if (alphabet != Alphabet::protein && alphabet != Alphabet::bytes) return;
  throw Error(ErrorKind::input,
              fmt::format("{}: found {} symbols, expected nucleotides, which --ambiguous and "
                          "--reverse-complement require",
                          path == "-" ? "<stdin>" : path, sequences::name(alphabet)));
}

}  // namespace

IndexedText read_indexed_text(const Context& context, const std::string& path,
                              const TextPolicy& policy) {
  IndexedText result;
  sequences::Text& text = result.text;
  HostContext reading = context;
  reading.memory_budget = 0;  // --max-memory is of the work space of the command's algorithm
  text = sequences::read_fasta(reading, path, {policy.letter_case, policy.alphabet});
  result.alphabet = sequences::detect_alphabet(text);
  if (policy.ambiguity != Ambiguity::keep || policy.reverse_complement) {
    require_nucleotides(path, result.alphabet);
  }
  // Reverse complements first: they are defined for letters, not for separators.
  if (policy.reverse_complement) sequences::append_reverse_complements(text);
  if (policy.ambiguity == Ambiguity::unify) sequences::unify_ambiguous(text.symbols);
  result.separators = policy.ambiguity == Ambiguity::separate ? sequences::separate_ambiguous(text)
                                                              : text.separators();
  return result;
}

void map_letters(const TextPolicy& policy, std::span<std::uint8_t> letters) {
  if (policy.letter_case == sequences::Case::upper) {
    for (std::uint8_t& letter : letters) {
      if (letter >= 'a' && letter <= 'z') letter = static_cast<std::uint8_t>(letter - 'a' + 'A');
    }
  }
  if (policy.ambiguity == Ambiguity::unify) sequences::unify_ambiguous(letters);
}

}  // namespace sortie::cli
