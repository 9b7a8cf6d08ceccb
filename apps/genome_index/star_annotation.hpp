// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/genome_index/gtf_exons.hpp"
#include "apps/genome_index/star_letters.hpp"

namespace sortie::genomes {

/// An intron between two exons of a transcript. Positions are of the genome with its padding.
struct Intron {
  std::uint64_t begin;  ///< its first base
  std::uint64_t last;   ///< its last base
  Strand strand;
};

/// What STAR derives from exons alone: four tables of exons, transcripts and genes, which it reads
/// when it maps (`--quantMode`), and the introns. See docs/genomes.md for the columns.
struct StarAnnotation {
  std::string exon_genes;       ///< `exonGeTrInfo.tab`
  std::string genes;            ///< `geneInfo.tab`
  std::string transcripts;      ///< `transcriptInfo.tab`
  std::string exons;            ///< `exonInfo.tab`
  std::string junctions;        ///< `sjdbList.fromGTF.out.tab`
  std::vector<Intron> introns;  ///< ascending; the same one on each of its strands
  /// Transcripts with exons in several records, which STAR joins by a junction.
  std::uint64_t divided_transcripts = 0;

  /// Complexity: O(n log n) for n exons.
  StarAnnotation(const GtfExons& gtf, const StarLetters& letters);
};

}  // namespace sortie::genomes
