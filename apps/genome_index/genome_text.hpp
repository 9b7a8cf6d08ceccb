// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/byte_buffer.hpp"
#include "sortie/context.hpp"

namespace sortie::genomes {

/// A record of a FASTA, in its bytes.
struct GenomeRecord {
  std::string_view
      header;             ///< the line after '>', without its line feed; a carriage return remains
  std::string_view body;  ///< the lines up to the next record, with their line ends

  /// The header up to the first white space.
  [[nodiscard]] std::string_view name() const {
    return header.substr(0, header.find_first_of(" \t\n\v\f\r"));
  }
};

/// A part of a record's body. It ends with a line, or, within a line longer than a piece, between
/// two bytes of which neither is a line feed or a carriage return.
struct GenomePiece {
  std::size_t record = 0;
  std::string_view bytes;
  bool first = false;      ///< of the record. An empty body has one piece, too
  bool continues = false;  ///< begins within a line
};

/// A FASTA file, decompressed, as its bytes. Aligners differ in which of these are letters, so each
/// format takes its own letters from the pieces.
class GenomeText {
 public:
  /// \throws Error (input) the file cannot be read, is empty, damaged or not FASTA (its first byte
  ///         is not '>'), two records have one name, or no record has a byte that is a letter;
  ///         (out_of_memory)
  GenomeText(const HostContext& context, const std::string& path);

  /// For messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<GenomeRecord>& records() const { return records_; }
  /// All bodies, in order, in pieces of 1 to 16 MiB: the tasks of loops over the letters.
  [[nodiscard]] const std::vector<GenomePiece>& pieces() const { return pieces_; }
  /// Frees the memory of a part of a body, whose bytes are not read again.
  void discard(std::string_view part) const;
  /// The number of the line, from 1, in which a byte of the file is.
  [[nodiscard]] std::uint64_t line_of(const char* byte) const;
  /// Bytes of the file, decompressed.
  [[nodiscard]] std::uint64_t bytes() const { return content_.size; }

 private:
  void find_records();
  void require_letters() const;
  void require_distinct_names() const;
  void divide_bodies();

  std::string name_;
  ByteBuffer content_;
  std::vector<GenomeRecord> records_;
  std::vector<GenomePiece> pieces_;
};

/// Gives the letters A, C, G and T, of both cases, the codes 0 to 3 in a table of codes by byte.
constexpr void set_base_codes(std::array<std::uint8_t, 256>& codes) {
  for (const std::size_t lower : {0, 32}) {
    codes['A' + lower] = 0;
    codes['C' + lower] = 1;
    codes['G' + lower] = 2;
    codes['T' + lower] = 3;
  }
}

}  // namespace sortie::genomes
