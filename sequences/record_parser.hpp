#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sortie/sequences/fasta.hpp"
#include "sortie/sequences/symbol_table.hpp"

namespace sortie::sequences {

/// Turns the bytes of a FASTA or FASTQ file, fed block by block, into a Text.
///
/// A line may be cut by the end of a block anywhere but between CR and LF. Lines are found with
/// memchr and their symbols stored through one table look-up each, so a genome costs a small part
/// of what its decompression does.
class RecordParser {
 public:
  /// \param file  the name for messages
  /// \param expected_bytes  an estimate of the bytes to come, to reserve memory; 0 when unknown
  RecordParser(std::string file, const ReadOptions& options, std::uint64_t expected_bytes);

  /// Takes the next bytes, which must not end between CR and LF. \throws Error (input)
  void feed(std::span<const char> block);

  /// Ends the last record and hands out the text. \throws Error (input) no record or half of one
  [[nodiscard]] Text finish();

 private:
  enum class Format { unknown, fasta, fastq };
  enum class Line { blank, header, sequence, plus, quality };

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
  SymbolTable table_;
  Text text_;
  std::uint64_t size_ = 0;  ///< symbols stored; text_.symbols has room beyond them

  Format format_ = Format::unknown;
  Line line_ = Line::blank;  ///< kind of the line that the next bytes belong to
  bool inside_line_ = false;
  std::uint64_t line_number_ = 1;
  std::uint64_t line_start_ = 0;  ///< value of size_ at the start of a sequence line

  std::string header_;
  std::uint64_t sequence_lines_ = 0;  ///< FASTQ: lines of the present record that hold symbols
  std::uint64_t quality_line_ = 0;    ///< FASTQ: number of the first quality line
  std::uint64_t quality_length_ = 0;
  bool quality_wanted_ = false;  ///< FASTQ: the '+' line has been seen, its qualities not all
};

}  // namespace sortie::sequences
