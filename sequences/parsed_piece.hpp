// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sequences/symbol_table.hpp"

/// Internal to Sortie: what can be parsed of a piece of a FASTA or FASTQ file while the text before
/// it is not known. RecordParser::join() completes it.
namespace sortie::sequences {

enum class Format { unknown, fasta, fastq };

/// The format of a file that begins with these bytes. `unknown`: neither, or empty lines only.
[[nodiscard]] Format format_of(std::span<const char> content);

/// A line, and what follows it.
struct TextLine {
  std::string_view text;       ///< without its line end, LF or CRLF
  const char* next = nullptr;  ///< start of the next line; null if the line has no end
};

/// The line that starts at `begin`. \pre begin < end
[[nodiscard]] TextLine line_at(const char* begin, const char* end);

/// The first byte of a header that may not be there; the end if there is none.
[[nodiscard]] std::string_view::const_iterator find_bad_in_header(std::string_view header);
/// The same for a line of FASTQ qualities.
[[nodiscard]] std::string_view::const_iterator find_bad_in_quality(std::string_view quality);

/// A piece of a file, which may begin and end anywhere.
class ParsedPiece {
 public:
  /// A record whose header is in the piece.
  struct Start {
    std::string name;
    std::size_t offset = 0;  ///< in symbols()
  };

  /// Keeps of starts() only the last one, without its name.
  void keep_last_start() { keeps_starts_ = false; }

  /// Parses a piece of a FASTA file, the first line as symbols, since its begin is not known.
  void parse_fasta(const SymbolTable& table, std::span<const char> bytes);

  /// Parses the records of a FASTQ file that are whole in the piece and have four lines: from the
  /// first line that can be a header, up to the first record of another layout.
  void parse_fastq(const SymbolTable& table, std::span<const char> bytes);

  /// Holds a piece of which nothing has been parsed.
  void hold(std::span<const char> bytes);

  [[nodiscard]] std::span<const char> bytes() const { return bytes_; }
  [[nodiscard]] Format format() const { return format_; }
  /// The symbols of the piece, with a separator before each header but, in FASTQ, the first.
  [[nodiscard]] std::span<const std::uint8_t> symbols() const { return {symbols_.get(), size_}; }
  [[nodiscard]] std::span<std::uint8_t> symbols() { return {symbols_.get(), size_}; }
  [[nodiscard]] std::vector<Start>& starts() { return starts_; }
  /// Line ends of the parsed part.
  [[nodiscard]] std::uint64_t line_ends() const { return line_ends_; }

  // FASTA

  /// Whether the lines after the first one are valid.
  [[nodiscard]] bool regular() const { return regular_; }
  /// The first line, without its end and without a carriage return at the end of the piece.
  [[nodiscard]] std::string_view first_line() const { return first_line_; }
  [[nodiscard]] bool first_line_ends() const { return first_line_ends_; }
  /// Number of symbols of the first line, if it is valid as symbols.
  [[nodiscard]] std::size_t first_symbols() const { return first_symbols_; }
  [[nodiscard]] bool first_is_symbols() const { return first_is_symbols_; }
  /// The kind of the last line, if it is not the first one.
  enum class Tail { none, sequence, header };
  [[nodiscard]] Tail tail() const { return tail_; }
  /// The part of the last header that is in the piece, without '>'.
  [[nodiscard]] std::string_view tail_header() const { return tail_header_; }
  /// Whether the piece ends with a carriage return, which the next piece may complete.
  [[nodiscard]] bool ends_in_return() const { return ends_in_return_; }

  // FASTQ

  /// The range of bytes() whose records have been parsed.
  [[nodiscard]] std::size_t records_begin() const { return records_begin_; }
  [[nodiscard]] std::size_t records_end() const { return records_end_; }

 private:
  bool copy_line(const SymbolTable& table, std::string_view line);
  void parse_fasta_lines(const SymbolTable& table, const char* begin, const char* end);
  const char* parse_fastq_record(const SymbolTable& table, const char* begin, const char* end);
  void start_at(std::string_view name, std::size_t offset) {
    if (keeps_starts_) {
      starts_.push_back({std::string(name), offset});
    } else {
      starts_.resize(1);
      starts_[0].offset = offset;
    }
  }

  std::span<const char> bytes_;
  Format format_ = Format::unknown;
  std::unique_ptr<std::uint8_t[]> symbols_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::vector<Start> starts_;
  std::uint64_t line_ends_ = 0;
  bool keeps_starts_ = true;

  bool regular_ = false;
  std::string_view first_line_;
  bool first_line_ends_ = false;
  std::size_t first_symbols_ = 0;
  bool first_is_symbols_ = false;
  Tail tail_ = Tail::none;
  std::string_view tail_header_;
  bool ends_in_return_ = false;

  std::size_t records_begin_ = 0;
  std::size_t records_end_ = 0;
};

}  // namespace sortie::sequences
