// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/genome_index/star_annotation.hpp"
#include "apps/genome_index/star_letters.hpp"

namespace sortie::genomes {

/// The junctions that STAR inserts: the bases before and behind an intron, joined.
///
/// An intron can be shifted while the base that leaves it on one side equals the one that enters it
/// on the other: all positions give the same joined sequence. Of introns that are equal when shifted
/// to the left as far as possible, one is kept: one with the splice sites of a known motif before
/// others, then the leftmost. Of equal introns on both strands, one is kept, too: that on the strand
/// of its motif; without a motif, its strand is unknown.
///
/// The text of a junction has 2 * overhang + 1 bytes: overhang letters before the intron, as many
/// behind it, and padding. It stands behind the genome.
class StarJunctions {
 public:
  /// Most junctions for which STAR reserves positions (--limitSjdbInsertNsj).
  static constexpr std::uint64_t most = 1'000'000;

  /// \param codes  of letters.write()
  /// \throws Error (input) more than `most` junctions
  /// Complexity: O(n log n + n * overhang) for n introns.
  StarJunctions(const StarLetters& letters, const std::uint8_t* codes,
                std::span<const Intron> introns, std::uint32_t overhang);

  [[nodiscard]] std::uint64_t size() const { return junctions_.size(); }
  /// File `sjdbInfo.txt`.
  [[nodiscard]] std::string info_table() const;
  /// File `sjdbList.out.tab`.
  [[nodiscard]] std::string list_table() const;

  /// The bytes of all junctions in `Genome`: codes 0 to 3, 4 for N, and padding. Where an exon ends
  /// near the end of its record, padding and letters of the neighbour are within a junction, as in
  /// STAR.
  [[nodiscard]] const std::vector<std::uint8_t>& text() const { return text_; }
  /// Parts of the text without padding, as records of the genome. Their letters follow those of the
  /// genome, without padding.
  [[nodiscard]] std::vector<StarLetters::Record> records() const;
  /// A, C, G and T of the text.
  [[nodiscard]] std::uint64_t bases() const;

 private:
  struct Junction {
    std::uint64_t begin;  ///< of the intron; without a motif, shifted to the left
    std::uint64_t last;
    std::uint8_t motif;  ///< 0: none; 1 and 2: GT/AG and its reverse complement; GC/AG; AT/AC
    std::uint8_t left;   ///< bases by which the intron of the GTF can be shifted, at most 255
    std::uint8_t right;
    Strand strand;

    /// From begin and last to those of the GTF.
    [[nodiscard]] std::uint64_t shift() const { return motif == 0 ? left : 0; }
  };

  void choose(std::vector<Junction> found);
  void write_text(const std::uint8_t* codes);

  const StarLetters* letters_;
  std::uint32_t overhang_;
  std::vector<Junction> junctions_;  ///< ascending
  std::vector<std::uint8_t> text_;
};

}  // namespace sortie::genomes
