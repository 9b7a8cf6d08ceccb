// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "sortie/fasta.hpp"

namespace sortie::sequences {

/// Parses the bytes of a FASTA or FASTQ file, passed block by block, into a Text.
///
/// A block may end anywhere within a line except between CR and LF. Lines are found with memchr,
/// and each symbol takes one table look-up, so parsing a genome takes a small fraction of the time
/// of its decompression.
class RecordParser {
 public:
  /// \param file            file name for messages
  /// \param expected_bytes  estimated total bytes, used to reserve memory; 0 if unknown
  /// \param most_bytes      bytes that the text may take
  RecordParser(std::string file, const ReadOptions& options, std::uint64_t expected_bytes,
               std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max());

  /// Parses the next bytes, which must not end between CR and LF.
  /// \throws Error (input, out_of_memory)
  void feed(std::span<const char> block);

  /// Ends the last record and returns the text. \throws Error (input) no record, or an incomplete
  /// record
  [[nodiscard]] Text finish();

 private:
  enum class Format { unknown, fasta, fastq };
  enum class Line { blank, header, sequence, plus, quality };

  void grow(std::uint64_t size);
  void take(std::string_view piece);
  void end_line();
  [[nodiscard]] Line kind_of_line(char first);
  [[nodiscard]] Line kind_of_fastq_line(char first);
  void append_header(std::string_view piece);
  void append_symbols(std::string_view piece);
  void append_symbols_slowly(std::string_view piece);
  void append_quality(std::string_view piece);
  void start_record();
  void end_quality_line();
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const;

  std::string file_;
  ReadOptions options_;
  /// The symbol to store for each byte of a sequence line, or 0 for white space and invalid bytes:
  /// one look-up covers case, alphabet and white space.
  std::array<std::uint8_t, 256> table_{};
  std::uint64_t most_bytes_;
  Text text_;
  std::uint64_t size_ = 0;  ///< symbols stored; text_.symbols may be larger

  Format format_ = Format::unknown;
  Line line_ = Line::blank;  ///< kind of the current line
  bool inside_line_ = false;
  std::uint64_t line_number_ = 1;
  std::uint64_t line_start_ = 0;  ///< value of size_ at the start of a sequence line

  std::string header_;
  std::uint64_t sequence_lines_ = 0;  ///< FASTQ: lines of the current record that contain symbols
  std::uint64_t quality_line_ = 0;    ///< FASTQ: number of the first quality line
  std::uint64_t quality_length_ = 0;
  bool quality_wanted_ = false;  ///< FASTQ: after the '+' line, before the last quality value
};

}  // namespace sortie::sequences
