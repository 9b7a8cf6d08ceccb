// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apps/genome_index/star_letters.hpp"
#include "sortie/genome_index.hpp"

namespace sortie::genomes {

/// Strands as STAR's tables number them.
enum class Strand : std::uint8_t { unknown = 0, forward = 1, reverse = 2 };

/// An exon. Positions are of the genome with its padding.
struct GtfExon {
  std::uint64_t transcript;  ///< number in GtfExons::transcripts()
  std::uint64_t begin;       ///< of its first base
  std::uint64_t last;        ///< its last base
  std::uint64_t gene;        ///< number in GtfExons::genes()
};

struct GtfTranscript {
  std::string_view id;
  Strand strand;  ///< that of its first line
};

/// A gene, with the attributes of its first line.
struct GtfGene {
  std::string_view id;
  std::string_view name;
  std::string_view type;
};

/// The exons of a GTF or GFF3, as STAR reads them: columns end at any white space, quotes, `;`, `=`
/// and tabs separate the attributes, the first occurrence of an attribute counts. Transcripts and
/// genes have numbers in the order of their first exons.
///
/// Left out with a warning, as STAR does: exons of records that the genome lacks, and exons that end
/// behind their record. An exon without a transcript is one of its own; exons without a gene belong
/// to the gene `MissingGeneID`.
class GtfExons {
 public:
  /// \param content  of the file `options.gtf`, decompressed; as the options and the letters, it
  ///                 lives as long
  /// \throws Error (input) no exon is left; an exon with fewer than 8 columns, or of which begin and
  ///         end are not numbers from 1 in ascending order, of which STAR would make a wrong index
  GtfExons(std::string_view content, const StarAnnotationOptions& options,
           const StarLetters& letters);

  [[nodiscard]] const std::vector<GtfExon>& exons() const { return exons_; }
  [[nodiscard]] const std::vector<GtfTranscript>& transcripts() const { return transcripts_; }
  [[nodiscard]] const std::vector<GtfGene>& genes() const { return genes_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  /// Lines of one kind, for a warning.
  struct LineCount {
    std::uint64_t lines = 0;
    std::uint64_t first = 0;  ///< number of the first line

    void add(std::uint64_t line) {
      if (lines++ == 0) first = line;
    }
  };

  void read_line(std::string_view line, std::uint64_t number);
  void add_exon(const GtfExon& range, std::string_view record, Strand strand,
                std::string_view attributes, std::uint64_t number);
  void warn(const LineCount& count, std::string_view what);

  const StarAnnotationOptions& options_;
  const StarLetters& letters_;
  std::deque<std::string> made_names_;
  std::unordered_map<std::string_view, std::size_t> records_;
  std::unordered_map<std::string_view, std::uint64_t> transcript_numbers_;
  std::unordered_map<std::string_view, std::uint64_t> gene_numbers_;
  std::vector<GtfExon> exons_;
  std::vector<GtfTranscript> transcripts_;
  std::vector<GtfGene> genes_;
  LineCount unknown_records_;
  LineCount beyond_records_;
  LineCount without_transcript_;
  LineCount without_gene_;
  std::uint64_t exon_lines_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace sortie::genomes
