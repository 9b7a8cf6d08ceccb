// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/files/byte_source.hpp"
#include "sequences/record_parser.hpp"
#include "sequences/symbol_table.hpp"
#include "sortie/fasta.hpp"
#include "sortie/text.hpp"

namespace sortie::genome_matches {

/// Reads the records of several FASTA or FASTQ files, some at a time. A plain file of a usual size
/// is read as a whole, since several threads can do that.
class QueryReader {
 public:
  /// \param most_bytes  of the records that are in memory at a time
  QueryReader(std::span<const std::string> paths, std::uint64_t most_bytes);

  /// The next records, in upper case: as many as have `wanted` symbols together, but at least one.
  /// No records: the end. \throws Error as sequences::read_fasta()
  [[nodiscard]] sequences::Text next(std::uint64_t wanted);

 private:
  sequences::ReadOptions options_;
  sequences::SymbolTable table_;
  std::span<const std::string> paths_;  ///< not begun yet
  std::uint64_t most_bytes_;
  std::optional<ByteSource> source_;
  std::optional<sequences::RecordParser> parser_;
  std::vector<char> buffer_;
};

}  // namespace sortie::genome_matches
