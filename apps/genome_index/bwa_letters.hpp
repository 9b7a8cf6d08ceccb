// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/genome_index/base_codes.hpp"
#include "apps/genome_index/genome_text.hpp"
#include "core/host_memory.hpp"

namespace sortie::genomes {

/// The letters of a genome as bwa reads them.
///
/// Every byte of a line is a letter, but for one carriage return at its end: unless the record has
/// no other letter before. Letters other than A, C, G and T, in upper or lower case, are holes:
/// they are replaced by the pseudo-random numbers of lrand48() after srand48(11), in the order of
/// the file.
class BwaLetters {
 public:
  /// Scans the genome on all threads. \throws Error (input) a record of 2^31 letters or more, or a
  /// line that bwa would take for a header or for FASTQ qualities
  explicit BwaLetters(const GenomeText& genome);

  [[nodiscard]] std::uint64_t size() const { return begins_.back(); }
  [[nodiscard]] std::uint64_t holes() const { return holes_.size(); }
  /// Letters that are neither A, C, G, T, N nor another letter of IUPAC for DNA.
  [[nodiscard]] std::uint64_t foreign() const { return foreign_; }

  /// Contents of the files `.amb` and `.ann`.
  [[nodiscard]] std::string amb() const;
  [[nodiscard]] std::string ann() const;

  /// Writes the codes 0 to 3 of all letters, then those of their reverse complement.
  /// \param codes      size() elements, or 2 size() for both strands
  /// \param complement whether those of the reverse complement are written
  /// \param discards   frees the memory of the genome's bytes meanwhile
  /// \return numbers of the codes of the letters
  LetterCounts write_codes(std::uint8_t* codes, bool complement, bool discards) const;

 private:
  /// A run of equal letters that are replaced.
  struct Hole {
    std::uint64_t begin;
    std::uint64_t length;
    std::size_t record;
    char letter;
  };

  template <class VisitLetters>
  void for_each_line(const GenomePiece& piece, const VisitLetters& visit) const;

  const GenomeText& genome_;
  std::vector<std::uint64_t> begins_;         ///< of each piece in letters, and the end
  std::vector<std::uint64_t> replaced_;       ///< letters of holes before each piece, and all
  std::vector<std::uint64_t> record_begins_;  ///< of each record in letters, and the end
  std::vector<Hole> holes_;
  std::uint64_t foreign_ = 0;
};

}  // namespace sortie::genomes
