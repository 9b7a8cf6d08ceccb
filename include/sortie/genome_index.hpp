// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"

/// Index files of aligners, byte for byte those of the tools: bwa, bwa-mem2, bowtie2, HISAT2, STAR.
namespace sortie::genomes {

/// STAR: junctions of known transcripts, whose sequences are inserted into the index.
struct StarAnnotationOptions {
  /// A GTF or GFF3, plain, gzip or zstd (--sjdbGTFfile); empty: no junctions, and the rest has no
  /// effect.
  std::string gtf;
  /// Bases of each side of a junction (--sjdbOverhang), 1 to 4999.
  std::uint32_t overhang = 100;
  /// Column 3 of the lines that are read (--sjdbGTFfeatureExon).
  std::string exon_feature = "exon";
  /// Attribute with the transcript of an exon (--sjdbGTFtagExonParentTranscript).
  std::string transcript_tag = "transcript_id";
  /// Attribute with the gene of an exon (--sjdbGTFtagExonParentGene).
  std::string gene_tag = "gene_id";
  /// What the names of the GTF lack before those of the FASTA (--sjdbGTFchrPrefix).
  std::string record_prefix;
};

struct GenomeIndexOptions {
  std::vector<std::string> formats;  ///< of format_names(), each at most once
  /// Path and begin of the names of all files (`PREFIX.bwt`); for STAR, a folder (`PREFIX/SA`).
  std::string prefix;
  /// STAR: letters of the longest prefixes in `SAindex` (--genomeSAindexNbases), 1 to 16.
  std::uint32_t star_index_bases = 14;
  /// STAR: records begin at multiples of this power of two (--genomeChrBinNbits), 1 to 40.
  std::uint32_t star_bin_bits = 18;
  StarAnnotationOptions star_annotation;
  /// bowtie2, hisat2: numbers of 64 bits (`.bt2l`, `.ht2l`), which the tools choose only for a FASTA
  /// of more than 4 GiB - 200 bytes.
  bool large = false;
  /// hisat2: the version that the index is for, which is part of it.
  std::string hisat2_version = "2.2.1";
  /// Called when the FASTA is read, before a GPU is used, which may start meanwhile; may be empty.
  std::function<void()> await_device;
};

/// A file of an index.
struct IndexFileSize {
  std::string path;
  std::uint64_t bytes = 0;
};

/// What an index takes, and what is remarkable about its FASTA.
struct GenomeIndexPlan {
  std::uint64_t records = 0;
  std::uint64_t letters = 0;         ///< all bytes of sequences but line ends
  std::vector<IndexFileSize> files;  ///< in the order of the formats
  std::uint64_t memory = 0;          ///< bytes of host memory that the work takes at most
  std::vector<std::string> warnings;
};

/// Names of the formats that are supported, in alphabetical order.
[[nodiscard]] SORTIE_API std::vector<std::string_view> format_names();

/// Reads a FASTA and computes sizes and memory of its index.
/// \param fasta  file name; plain, gzip or zstd; "-" is standard input
/// \throws Error as write_genome_index()
[[nodiscard]] SORTIE_API GenomeIndexPlan plan_genome_index(const Context& context,
                                                           const std::string& fasta,
                                                           const GenomeIndexOptions& options);

/// Writes the index of a FASTA in one or several formats. Existing files are replaced when all
/// files of all formats are complete; if anything fails, nothing is left.
///
/// Sequences are what each tool reads: see docs/genomes.md. The bytes do not depend on threads,
/// memory or backend.
///
/// \param context  backend and device of the suffix array; threads; memory budget of all; progress:
///                 "read", and the phases of suffix_array::build(); report: these phases and one
///                 for each text that is indexed
/// \return the plan, with the files that are written
/// \throws Error (input) not FASTA, no letters, two records of one name, what a tool cannot index
/// (a
///         record of 2^31 letters and more for bwa, ...); (usage) unknown format; (output);
///         (out_of_memory); (unavailable, device)
/// Complexity: that of suffix_array::build() for each text: both strands for bwa and bwa-mem2,
/// which share it; the bases, which bowtie2 and HISAT2 share, and for bowtie2 their reverse; and for
/// STAR. Memory: the FASTA if it is compressed, one byte for each letter of the text, and what the
/// suffix array takes; for bowtie2 and HISAT2 2 bits a letter and 10 MiB more.
SORTIE_API GenomeIndexPlan write_genome_index(const Context& context, const std::string& fasta,
                                              const GenomeIndexOptions& options);

/// Builds the same index, and compares it with existing files, of any maker, instead of writing it.
/// \throws Error (check) naming the first file that differs and its first byte that does; also as
///         write_genome_index(), but for (output)
SORTIE_API GenomeIndexPlan check_genome_index(const Context& context, const std::string& fasta,
                                              const GenomeIndexOptions& options);

}  // namespace sortie::genomes
