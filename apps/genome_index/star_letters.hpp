// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/genome_index/genome_text.hpp"

namespace sortie::genomes {

/// The letters of a genome as STAR reads them: the bytes of all lines but control characters, which
/// are bytes below 32 and, since its characters are signed, above 127. Letters other than A, C, G
/// and T, in upper or lower case, are N.
class StarLetters {
 public:
  static constexpr std::uint8_t padding = 5;

  /// A record in the genome, where it is followed by padding.
  struct Record {
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
    std::uint64_t number = 0;  ///< letters of the records before
  };

  /// \param bin_bits  records begin at multiples of 2^bin_bits
  /// \throws Error (input) a control character before a letter of the same line: STAR would shift
  ///         the letters; no letter is A, C, G or T
  StarLetters(const GenomeText& genome, std::uint32_t bin_bits);

  /// Those of the genome, padding included.
  [[nodiscard]] std::uint64_t genome_size() const { return genome_size_; }
  /// Letters of all records.
  [[nodiscard]] std::uint64_t size() const { return begins_.back(); }
  /// A, C, G and T.
  [[nodiscard]] std::uint64_t bases() const { return bases_; }
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  /// The record of a position in the genome; in padding, that of the record before it.
  [[nodiscard]] std::size_t record_of(std::uint64_t position) const;
  /// The name of a record: the first word of its header.
  [[nodiscard]] std::string_view name(std::size_t record) const;

  /// Writes the codes of all letters, without padding: 0 to 3, and 4 for N.
  void write(std::uint8_t* codes) const;

 private:
  template <class VisitLetters>
  void for_each_line(std::size_t piece, const VisitLetters& visit) const;

  const GenomeText& genome_;
  std::vector<std::uint64_t> begins_;  ///< of each piece in letters, and the end
  std::vector<Record> records_;
  std::uint64_t genome_size_ = 0;
  std::uint64_t bases_ = 0;
};

}  // namespace sortie::genomes
