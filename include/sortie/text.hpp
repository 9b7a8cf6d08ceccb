// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/export.hpp"

namespace sortie::sequences {

/// One record of a FASTA or FASTQ file.
struct Record {
  std::string name;          ///< the header line without '>' or '@'; may be empty
  std::uint64_t offset = 0;  ///< first symbol in Text::symbols
  std::uint64_t length = 0;  ///< number of symbols; may be 0
};

/// Records joined into one text: record 0, separator, record 1, separator, ..., last record. The
/// separator is the byte 0, which is not a valid letter. In every order that Sortie computes, a
/// separator sorts before every letter, and separators sort by position.
struct SORTIE_API Text {
  static constexpr std::uint8_t separator = 0;

  std::vector<std::uint8_t> symbols;
  std::vector<Record> records;

  /// Positions of the separators, ascending: records.size() - 1 of them (0 for an empty text).
  [[nodiscard]] std::vector<std::uint64_t> separators() const;
  /// Index of the record that contains a position; a separator belongs to the record before it.
  /// Complexity: O(log records). \throws Error (usage) position beyond the text
  [[nodiscard]] std::size_t record_of(std::uint64_t position) const;
  /// Number of letters, without separators.
  [[nodiscard]] std::uint64_t letters() const;
};

enum class Alphabet {
  automatic,  ///< detected; readers accept any byte that is not a control character
  dna,        ///< A C G T
  dna_iupac,  ///< A C G T and N, R, Y, S, W, K, M, B, D, H, V, -
  rna,        ///< A C G U
  rna_iupac,
  protein,  ///< 20 amino acids and B J O U X Z * -
  bytes,    ///< any byte except line ends and 0
};

/// "auto", "dna", "dna-iupac", "rna", "rna-iupac", "protein" or "bytes".
[[nodiscard]] SORTIE_API std::string_view name(Alphabet alphabet);
/// The inverse of name(). \throws Error (usage)
[[nodiscard]] SORTIE_API Alphabet parse_alphabet(std::string_view text);
/// The symbols of an alphabet in upper case; empty for `automatic` and `bytes`.
[[nodiscard]] SORTIE_API std::string_view letters(Alphabet alphabet);

/// Number of occurrences of each byte in the text, without separators. \param threads  at least 1
[[nodiscard]] SORTIE_API std::array<std::uint64_t, 256> histogram(const Text& text,
                                                                  int threads = 1);

/// The first alphabet, in the order of the enum, that contains every symbol (case ignored).
/// \param threads  at least 1
[[nodiscard]] SORTIE_API Alphabet detect_alphabet(const Text& text, int threads = 1);

/// True if `symbol` (either case) belongs to the alphabet.
[[nodiscard]] SORTIE_API bool contains(Alphabet alphabet, std::uint8_t symbol);

/// Treatment of nucleotide symbols other than A, C, G, T and U (either case): N, the other IUPAC
/// codes and gaps.
enum class Ambiguity {
  keep,      ///< kept as ordinary letters
  unify,     ///< replaced by N (n in lower case)
  separate,  ///< replaced by a separator; no pattern matches across it
};

/// "keep", "unify" or "separate".
[[nodiscard]] SORTIE_API std::string_view name(Ambiguity ambiguity);
/// \throws Error (usage)
[[nodiscard]] SORTIE_API Ambiguity parse_ambiguity(std::string_view text);

/// True for A, C, G, T, U and their lower case.
[[nodiscard]] SORTIE_API bool is_base(std::uint8_t symbol);

/// Replaces every letter that is not a base by N (n for lower case). Separators (byte 0) are kept.
/// Complexity: O(n), in place.
SORTIE_API void unify_ambiguous(std::span<std::uint8_t> symbols);

/// Replaces every letter that is not a base by Text::separator. Records keep offsets and lengths.
/// \return the positions of all separators in the text, ascending, including those between records
/// Complexity: O(n), in place. Memory: 8 bytes per separator.
[[nodiscard]] SORTIE_API std::vector<std::uint64_t> separate_ambiguous(Text& text);

/// Suffix that append_reverse_complements() adds to the first word of a record name.
inline constexpr std::string_view reverse_complement_mark = "/reverse-complement";

/// The complement of a nucleotide, IUPAC codes included: exchanges A and T, C and G, R and Y, K and
/// M, B and V, D and H; S, W, N and - are their own complements. Case is kept.
/// \param rna  the complement of A is U; the complement of U is A in either case
/// \return 0 if the symbol is not a nucleotide
[[nodiscard]] SORTIE_API std::uint8_t complement(std::uint8_t symbol, bool rna = false);

/// Appends the reverse complement of every record as a new record, in the same order: r records
/// become 2 r, and record r + i is the reverse strand of record i. Its name is that of record i
/// with reverse_complement_mark appended to the first word.
/// \throws Error (input) a symbol is not a nucleotide, naming record and offset; the text is
///         unchanged
/// Complexity: O(n). Memory: the size of the text.
SORTIE_API void append_reverse_complements(Text& text);

}  // namespace sortie::sequences
