#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie::sequences {

/// One record of a FASTA or FASTQ file.
struct Record {
  std::string name;          ///< the header line without '>' or '@'; may be empty
  std::uint64_t offset = 0;  ///< first symbol in Text::symbols
  std::uint64_t length = 0;  ///< number of symbols; may be 0
};

/// Records joined to one text: record 0, separator, record 1, separator, ..., last record.
///
/// The separator is the byte 0, which no letter may be; a text of r records has r - 1 of them. In
/// every order that Sortie computes, a separator sorts before every letter, and separators among
/// themselves by position.
struct Text {
  static constexpr std::uint8_t separator = 0;

  std::vector<std::uint8_t> symbols;
  std::vector<Record> records;

  /// Positions of the separators, ascending: records.size() - 1 of them (0 for an empty text).
  [[nodiscard]] std::vector<std::uint64_t> separators() const;
  /// Index of the record that holds a position (a separator belongs to the record before it).
  /// O(log records). \throws Error (usage) position beyond the text
  [[nodiscard]] std::size_t record_of(std::uint64_t position) const;
  /// Number of letters, separators not counted.
  [[nodiscard]] std::uint64_t letters() const;
};

enum class Alphabet {
  automatic,  ///< detect; while reading, any byte that is no control character
  dna,        ///< A C G T
  dna_iupac,  ///< A C G T and N, R, Y, S, W, K, M, B, D, H, V, -
  rna,        ///< A C G U
  rna_iupac,
  protein,  ///< 20 amino acids and B J O U X Z * -
  bytes,    ///< anything but line ends and the byte 0
};

/// "auto", "dna", "dna-iupac", "rna", "rna-iupac", "protein" or "bytes".
[[nodiscard]] std::string_view name(Alphabet alphabet);
/// The reverse of name(). \throws Error (usage)
[[nodiscard]] Alphabet parse_alphabet(std::string_view text);
/// The symbols of an alphabet in upper case; empty for `automatic` and `bytes`.
[[nodiscard]] std::string_view letters(Alphabet alphabet);

/// How often each byte stands in the text, separators not counted.
[[nodiscard]] std::array<std::uint64_t, 256> histogram(const Text& text);

/// The smallest alphabet, in the order of the enum, that holds every symbol (case ignored).
[[nodiscard]] Alphabet detect_alphabet(const Text& text);

/// True when `symbol` (either case) belongs to the alphabet.
[[nodiscard]] bool contains(Alphabet alphabet, std::uint8_t symbol);

}  // namespace sortie::sequences
