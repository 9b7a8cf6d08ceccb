// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/arriving_array.hpp"
#include "sequences/symbol_blocks.hpp"
#include "sortie/context.hpp"
#include "sortie/fasta.hpp"
#include "sortie/suffix_array.hpp"
#include "sortie/text.hpp"

/// The files of an index: its text, and arrays of the text with their descriptions.
namespace sortie::cli {

/// What the input of an index is.
enum class InputFormat {
  fasta,  ///< FASTA or FASTQ
  text,   ///< files that are one document each, of any bytes
  jsonl,  ///< one document on each line
};

/// "fasta", "text" or "jsonl". \throws Error (usage)
[[nodiscard]] InputFormat parse_input_format(std::string_view text);

/// How the symbols of a file are converted to the text of an index. Patterns are converted
/// likewise. Those of texts are kept as they are.
struct TextPolicy {
  sequences::Case letter_case = sequences::Case::upper;
  sequences::Alphabet alphabet = sequences::Alphabet::automatic;
  sequences::Ambiguity ambiguity = sequences::Ambiguity::keep;
  bool reverse_complement = false;
  InputFormat input = InputFormat::fasta;
  std::string field = "text";  ///< of JSONL

  [[nodiscard]] bool is_text() const { return input != InputFormat::fasta; }
};

/// A text and the positions of its separators.
struct IndexedText {
  sequences::Text text;
  std::vector<std::uint64_t> separators;  ///< between records, and in place of ambiguous letters
  /// The smallest alphabet that contains the text, detected before letters are replaced.
  sequences::Alphabet alphabet = sequences::Alphabet::automatic;

  std::uint64_t released = 0;  ///< symbols that are not held any more

  [[nodiscard]] std::uint64_t symbols() const { return text.symbols.size() + released; }
  [[nodiscard]] std::uint64_t letters() const { return symbols() - separators.size(); }
  /// Frees the symbols.
  void release() { released += std::exchange(text.symbols, {}).size(); }
  [[nodiscard]] suffix_array::TextView view() const { return {text.symbols, separators}; }
};

/// Reads a file with sequences::read_fasta() and applies the policy: case and alphabet, then the
/// reverse complement, then ambiguous letters. Of texts, reads files with texts::read_corpus(); each
/// document is a record, named by its file and, in JSONL, its line.
/// \param paths   FASTA: one
/// \param blocks  if not null, receives the symbols packed, sealed, and the result has none; null
///                for texts
/// \throws Error as read_fasta() or read_corpus(); (input) the policy requires nucleotides and the
///         text has other letters; (usage) several files of FASTA
[[nodiscard]] IndexedText read_indexed_text(const HostContext& context,
                                            std::span<const std::string> paths,
                                            const TextPolicy& policy,
                                            sequences::SymbolBlocks* blocks = nullptr);

/// Applies case and ambiguity to the letters of patterns. Letters that the text replaces by
/// separators are kept; they do not occur in the text.
void map_letters(const TextPolicy& policy, std::span<std::uint8_t> letters);

/// Properties of the source text that the sidecar of a suffix array file records.
struct SuffixArraySource {
  std::string input;
  TextPolicy policy;
  std::uint64_t max_context = 0;  ///< number of letters that determine the order; 0: all
  const IndexedText* text = nullptr;
  std::string text_checksum;  ///< checksum_of() the symbols
  int token_bits = 0;         ///< of token_suffixes
};

/// The suffix array and the arrays derived from it.
enum class ArrayKind { suffixes, lcp, inverse, burrows_wheeler, documents, token_suffixes };

/// Bytes per position in the suffix array file of a text with `symbols` symbols: 4 if sufficient,
/// else 8. Files with 5 bytes per position are written on request only.
[[nodiscard]] int smallest_width_bytes(std::uint64_t symbols);

/// Maximum number of symbols of a text whose positions fit in `width_bytes` bytes.
[[nodiscard]] std::uint64_t most_symbols(int width_bytes);

/// The description of an array in a file, as JSON: the content of PATH.json.
/// \param count    items of the array
/// \param primary  as of write_array()
[[nodiscard]] std::string described_array(ArrayKind kind, std::uint64_t count, int width_bytes,
                                          const SuffixArraySource& source,
                                          std::optional<std::uint64_t> primary,
                                          const std::string& checksum);

/// Writes an array, which may still be arriving, as little-endian integers of 1, 4, 5 or 8 bytes, and a sidecar PATH.json that
/// describes the format and the offsets of the records. Either both files are created or none. For
/// a stream, no sidecar is written.
/// \param context  threads
/// \param primary  of the Burrows-Wheeler transform: the entry of the suffix at position 0
/// \return the checksum of the integers as written, 16 hexadecimal digits
/// \throws Error (output)
template <class Number>
std::string write_array(const HostContext& context, const std::string& path, ArrayKind kind,
                        const ArrivingArray<Number>& array, int width_bytes,
                        const SuffixArraySource& source,
                        std::optional<std::uint64_t> primary = std::nullopt);

/// Writes one integer per line.
/// \param context  threads
/// \throws Error (output)
template <class Number>
void write_array_text(const HostContext& context, const std::string& path,
                      const ArrivingArray<Number>& array);

/// The content of PATH.json, which describes the suffix array in PATH.
struct SuffixArrayDescription {
  std::string path;  ///< file of the array
  std::uint64_t symbols = 0;
  std::uint64_t letters = 0;
  int width_bytes = 4;
  TextPolicy policy;
  std::uint64_t max_context = 0;  ///< number of letters that determine the order; 0: all
  int format_version = 2;
  std::string checksum;       ///< checksum of the positions as written
  std::string text_checksum;  ///< empty in files of older versions
};

/// Reads the description of a suffix array written by `sortie suffix-array -o PATH`.
/// \throws Error (input) it is missing, or does not describe a suffix array that this version reads
[[nodiscard]] SuffixArrayDescription read_suffix_array_description(const std::string& path);

/// Checks that a suffix array was built from this text, by length and checksum.
/// \param context    threads; report (phase "check text")
/// \param text_path  file name of the text for messages
/// \throws Error (input) it was built from another text
void require_same_text(const HostContext& context, const SuffixArrayDescription& description,
                       const std::string& text_path, const IndexedText& indexed);

/// Reads the positions, plain or gzip.
/// \param context  threads; report (phase "read array")
/// \tparam Pos     wide enough for the text
/// \throws Error (input) too few or too many bytes, a position beyond the text, or a checksum that
///         differs from the description
template <suffix_array::Position Pos>
[[nodiscard]] std::vector<Pos> read_suffix_array(const HostContext& context,
                                                 const SuffixArrayDescription& description);

}  // namespace sortie::cli
