// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "apps/genome_index/genome_text.hpp"

namespace sortie::genomes {

/// A run of gaps (N and the other IUPAC codes, -), and the run of bases that follows it.
struct BaseRun {
  std::uint64_t gaps = 0;
  std::uint64_t bases = 0;  ///< 0 in the last run of a record that ends with gaps, or is empty
};

/// A record in the order of bowtie2.
struct BaseRecord {
  std::string_view name;  ///< the whole header line
  std::uint64_t first_run = 0;
  std::uint64_t runs = 0;    ///< at least 1
  std::uint64_t length = 0;  ///< gaps and bases
  std::uint64_t first_base = 0;
  std::uint64_t bases = 0;
};

/// A genome as bowtie2 and HISAT2 read it: the bases of all records, joined, without the gaps
/// between them. Other bytes are left out.
///
/// These tools read a FASTA byte by byte, and so records differ from those of GenomeText: '>' begins
/// one also within a line, a carriage return ends a header, records without a byte between two
/// headers do not exist. A gap that ends a run of bases and is the last byte of the file is not read.
class BaseText {
 public:
  /// \pre `genome` lives as long
  /// \throws Error (input) no base; '#' in a sequence, at which the tools crash
  explicit BaseText(const GenomeText& genome);

  [[nodiscard]] const std::vector<BaseRecord>& records() const { return records_; }
  [[nodiscard]] std::span<const BaseRun> runs_of(const BaseRecord& record) const {
    return std::span(runs_).subspan(record.first_run, record.runs);
  }
  /// Bases of all records.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Bytes that are neither bases nor gaps nor white space.
  [[nodiscard]] std::uint64_t foreign() const { return foreign_; }

  /// Writes all bases, A C G T as 0 1 2 3.
  /// \param discards  frees the memory of the genome's bytes meanwhile, headers aside
  void write_codes(std::uint8_t* codes, bool discards) const;

 private:
  /// A part of a record: the task of a loop.
  struct Piece {
    std::size_t record = 0;
    std::string_view bytes;
    std::uint64_t first_base = 0;
  };

  void find_records(const GenomeText& genome);
  void add_record(std::string_view name, std::string_view bytes);
  void find_runs(const GenomeText& genome);

  const GenomeText& genome_;
  std::vector<BaseRecord> records_;
  std::vector<BaseRun> runs_;
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
  std::uint64_t foreign_ = 0;
};

}  // namespace sortie::genomes
