// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sequences/parsed_piece.hpp"
#include "sequences/symbol_table.hpp"
#include "sortie/fasta.hpp"
#include "sortie/text.hpp"

namespace sortie::sequences {

/// Parses the bytes of a FASTA or FASTQ file, passed piece by piece, into a Text.
///
/// feed() and join() have the same effect, errors included, whatever the pieces are: a piece may
/// end anywhere. join() takes a piece that another thread has parsed, as far as that is possible
/// without the text before it; it appends the symbols as a whole, and feeds only what is left.
class RecordParser {
 public:
  /// \param file            file name for messages
  /// \param table           of these options; has to outlive the parser
  /// \param expected_bytes  estimated total bytes, used to reserve memory; 0 if unknown
  /// \param most_bytes      bytes that the text may take
  RecordParser(std::string file, const ReadOptions& options, const SymbolTable& table,
               std::uint64_t expected_bytes, std::uint64_t most_bytes);

  /// Parses the next bytes. \throws Error (input, out_of_memory)
  void feed(std::span<const char> bytes);

  /// The same for bytes that have been parsed; takes the names of the piece.
  void join(ParsedPiece& piece);

  /// join(), but leaves the symbols of whole FASTQ records to the caller, as if take_symbols() had
  /// moved them out. What it does takes no longer if the piece has more records.
  /// \return whether the caller has to take the symbols of the piece
  [[nodiscard]] bool join_without_symbols(ParsedPiece& piece);

  /// Moves the first symbols that are stored out of the text, as many as there are whole blocks of:
  /// so it never has more than a block and what a piece adds. Replaces the content of `to`.
  void take_blocks(std::uint64_t block_symbols, std::vector<std::uint8_t>& to);

  /// Moves the symbols out of the text, and drops all records but the last one. The last `overlap`
  /// symbols are also the first ones of the next call. Replaces the content of `to`.
  void take_symbols(std::uint64_t overlap, std::vector<std::uint8_t>& to);

  /// Symbols of the records that are complete: all but the last one.
  [[nodiscard]] std::uint64_t complete_symbols() const {
    return text_.records.empty() ? 0 : text_.records.back().offset;
  }
  /// Moves the complete records out of the text. \pre take_blocks() is not used
  [[nodiscard]] Text take_records();

  /// Ends the last record and returns the text, without the symbols that were taken. A carriage return at the very end is dropped.
  /// \throws Error (input) no record, or an incomplete record
  [[nodiscard]] Text finish();

 private:
  enum class Line { blank, header, sequence, plus, quality };

  void join_fasta(ParsedPiece& piece);
  bool join_fastq(ParsedPiece& piece, bool takes_symbols);
  void append(std::span<const std::uint8_t> symbols);
  void append_records(ParsedPiece& piece, std::uint64_t first_symbol);

  void require(std::uint64_t size) const;
  void take(std::string_view part);
  void end_line();
  [[nodiscard]] bool between_fastq_records() const;
  [[nodiscard]] Line kind_of_line(char first);
  [[nodiscard]] Line kind_of_fastq_line(char first);
  void append_header(std::string_view part);
  void start_record();
  void append_symbols(std::string_view part);
  void append_quality(std::string_view part);
  void end_quality_line();
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const;
  /// Symbols stored in text_.symbols, which may be larger.
  [[nodiscard]] std::uint64_t held() const { return size_ - taken_; }

  std::string file_;
  ReadOptions options_;
  const SymbolTable& table_;
  std::uint64_t most_bytes_;
  Text text_;
  std::uint64_t size_ = 0;   ///< symbols so far
  std::uint64_t taken_ = 0;  ///< those that are not in text_ any more, or never were

  Format format_ = Format::unknown;
  Line line_ = Line::blank;  ///< kind of the current line
  bool inside_line_ = false;
  bool ended_in_return_ = false;  ///< the bytes so far end with a carriage return, not yet parsed
  std::uint64_t line_number_ = 1;
  std::uint64_t line_start_ = 0;  ///< value of size_ at the start of a sequence line

  std::string header_;
  std::uint64_t sequence_lines_ = 0;  ///< FASTQ: lines of the current record that contain symbols
  std::uint64_t quality_line_ = 0;    ///< FASTQ: number of the first quality line
  std::uint64_t quality_length_ = 0;
  bool quality_wanted_ = false;  ///< FASTQ: after the '+' line, before the last quality value
};

}  // namespace sortie::sequences
