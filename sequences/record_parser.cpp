// SPDX-License-Identifier: Apache-2.0
#include "sequences/record_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie::sequences {
namespace {

std::string describe_byte(char byte) {
  const auto value = static_cast<std::uint8_t>(byte);
  if (value == '\r') return "a carriage return inside a line";
  if (value < 0x20 || value == 0x7f) return fmt::format("control byte 0x{:02x}", value);
  return "symbol " + sortie::quoted(std::string_view(&byte, 1));
}

}  // namespace

RecordParser::RecordParser(std::string file, const ReadOptions& options, const SymbolTable& table,
                           std::uint64_t expected_bytes, std::uint64_t most_bytes)
    : file_(std::move(file)), options_(options), table_(table), most_bytes_(most_bytes) {
  text_.symbols.reserve(std::min(expected_bytes, most_bytes));
  advise_large_pages(text_.symbols.data(), text_.symbols.capacity());
}

void RecordParser::feed(std::span<const char> bytes) {
  if (bytes.empty()) return;
  // A byte yields at most one symbol: a separator takes the place of the '>' or '@' of its header.
  if (const std::uint64_t most = held() + bytes.size(); text_.symbols.size() < most) {
    require(most);
    text_.symbols.resize(most);
  }
  if (std::exchange(ended_in_return_, false) && bytes.front() != '\n') take("\r");
  const char* position = bytes.data();
  const char* end = position + bytes.size();
  if (bytes.back() == '\r') {
    ended_in_return_ = true;
    --end;
  }
  while (position != end) {
    const TextLine line = line_at(position, end);
    if (!line.text.empty()) take(line.text);
    if (line.next == nullptr) return;
    end_line();
    position = line.next;
  }
}

void RecordParser::join(ParsedPiece& piece) {
  switch (piece.format()) {
    case Format::fasta:
      return join_fasta(piece);
    case Format::fastq:
      join_fastq(piece, true);
      return;
    case Format::unknown:
      return feed(piece.bytes());
  }
}

bool RecordParser::join_without_symbols(ParsedPiece& piece) {
  if (piece.format() == Format::fastq) return join_fastq(piece, false);
  join(piece);
  return false;
}

void RecordParser::join_fasta(ParsedPiece& piece) {
  const std::span<const char> bytes = piece.bytes();
  if (bytes.empty()) return;
  const std::string_view first = piece.first_line();
  const bool starts_line = !inside_line_ && !first.empty();
  const bool in_sequence = starts_line ? first.front() != '>' : line_ == Line::sequence;
  // What has to be looked at byte by byte: the lines before the first record, and errors.
  if (format_ != Format::fasta || text_.records.empty() || !piece.regular() ||
      (ended_in_return_ && bytes.front() != '\n') ||
      (!first.empty() && in_sequence && !piece.first_is_symbols()))
    return feed(bytes);

  ended_in_return_ = piece.ends_in_return();
  std::span<const std::uint8_t> symbols = piece.symbols();
  std::size_t skipped = 0;  // symbols that the first line would be if it were not a header
  if (!first.empty() && !in_sequence) {
    take(first);
    skipped = piece.first_symbols();
  } else if (starts_line) {
    line_ = Line::sequence;
    inside_line_ = true;
  }
  if (piece.first_line_ends()) end_line();
  const std::uint64_t first_symbol = size_ - skipped;
  append(symbols.subspan(skipped));
  append_records(piece, first_symbol);
  if (piece.tail() == ParsedPiece::Tail::none) return;
  inside_line_ = true;
  line_ = piece.tail() == ParsedPiece::Tail::header ? Line::header : Line::sequence;
  if (line_ == Line::header) header_ = piece.tail_header();
}

/// \return whether the records were taken as they were parsed, and their symbols were left
bool RecordParser::join_fastq(ParsedPiece& piece, bool takes_symbols) {
  const std::span<const char> bytes = piece.bytes();
  feed(bytes.first(piece.records_begin()));
  if (piece.starts().empty() || !between_fastq_records()) {
    feed(bytes.subspan(piece.records_begin()));
    return false;
  }
  if (!text_.records.empty()) {
    const std::uint8_t separator = Text::separator;
    append({&separator, 1});
  }
  const std::uint64_t first_symbol = size_;
  if (takes_symbols) {
    append(piece.symbols());
  } else {
    size_ += piece.symbols().size();
    taken_ += piece.symbols().size();
  }
  append_records(piece, first_symbol);
  sequence_lines_ = 1;
  quality_line_ = line_number_ - 1;
  feed(bytes.subspan(piece.records_end()));
  return !takes_symbols;
}

/// \param first_symbol  position in the text of the first symbol of the piece
void RecordParser::append_records(ParsedPiece& piece, std::uint64_t first_symbol) {
  for (ParsedPiece::Start& start : piece.starts()) {
    const std::uint64_t offset = first_symbol + start.offset;
    if (!text_.records.empty()) {
      Record& last = text_.records.back();
      last.length = offset - 1 - last.offset;
    }
    text_.records.push_back({std::move(start.name), offset, 0});
  }
  line_number_ += piece.line_ends();
}

void RecordParser::append(std::span<const std::uint8_t> symbols) {
  require(held() + symbols.size());
  text_.symbols.resize(held());
  text_.symbols.insert(text_.symbols.end(), symbols.begin(), symbols.end());
  size_ += symbols.size();
}

Text RecordParser::finish() {
  if (inside_line_) end_line();
  if (text_.records.empty())
    throw input_error(file_, 0, line_number_ == 1 ? "an empty file" : "nothing but empty lines",
                      "a FASTA or FASTQ record");
  Record& last = text_.records.back();
  last.length = size_ - last.offset;
  if (format_ == Format::fastq && !between_fastq_records()) {
    const std::string missing =
        quality_wanted_ ? fmt::format("{} more quality values", last.length - quality_length_)
                        : "a '+' line and quality values";
    throw input_error(file_, line_number_ - 1, "the end of the file",
                      fmt::format("{} for record {}", missing, sortie::quoted(last.name)));
  }
  text_.symbols.resize(held());
  return std::move(text_);
}

void RecordParser::take_blocks(std::uint64_t block_symbols, std::vector<std::uint8_t>& to) {
  const std::uint64_t count = held() / block_symbols * block_symbols;
  const auto end = text_.symbols.begin() + static_cast<std::ptrdiff_t>(count);
  to.assign(text_.symbols.begin(), end);
  if (count == 0) return;
  text_.symbols.resize(held());
  text_.symbols.erase(text_.symbols.begin(),
                      text_.symbols.begin() + static_cast<std::ptrdiff_t>(count));
  taken_ += count;
}

void RecordParser::take_symbols(std::uint64_t overlap, std::vector<std::uint8_t>& to) {
  const std::uint64_t size = held();
  to.assign(text_.symbols.begin(), text_.symbols.begin() + static_cast<std::ptrdiff_t>(size));
  const std::uint64_t kept = std::min(overlap, size);
  std::copy_n(to.end() - static_cast<std::ptrdiff_t>(kept), kept, text_.symbols.begin());
  taken_ += size - kept;
  if (text_.records.size() > 1) text_.records.erase(text_.records.begin(), text_.records.end() - 1);
}

Text RecordParser::take_records() {
  Text complete;
  const std::uint64_t count = complete_symbols();
  if (count == 0) return complete;
  std::vector<std::uint8_t> rest(text_.symbols.begin() + static_cast<std::ptrdiff_t>(count),
                                 text_.symbols.begin() + static_cast<std::ptrdiff_t>(held()));
  complete.symbols = std::exchange(text_.symbols, std::move(rest));
  complete.symbols.resize(count - 1);  // without the separator
  Record last = std::move(text_.records.back());
  text_.records.pop_back();
  complete.records = std::exchange(text_.records, {});
  last.offset = 0;
  text_.records.push_back(std::move(last));
  size_ -= count;
  line_start_ -= std::min(line_start_, count);
  return complete;
}

/// Checks that the text may hold `size` symbols.
void RecordParser::require(std::uint64_t size) const {
  const std::uint64_t copied = size > text_.symbols.capacity() ? text_.symbols.size() : 0;
  const std::uint64_t wanted = copied + size + text_.records.size() * sizeof(Record);
  if (wanted <= most_bytes_) return;
  const Error error = out_of_memory_error("the text", wanted, most_bytes_);
  throw Error(error.kind(), fmt::format("{}: {}", file_, error.what()));
}

/// Parses bytes of one line, without its end.
void RecordParser::take(std::string_view part) {
  if (!inside_line_) {
    line_ = kind_of_line(part.front());
    line_start_ = size_;
    inside_line_ = true;
    if (line_ == Line::header || line_ == Line::plus) part.remove_prefix(1);
  }
  switch (line_) {
    case Line::header:
      return append_header(part);
    case Line::sequence:
      return append_symbols(part);
    case Line::quality:
      return append_quality(part);
    case Line::plus:  // may repeat the name, which is ignored
    case Line::blank:
      return;
  }
}

void RecordParser::end_line() {
  if (inside_line_) {
    if (line_ == Line::header) start_record();
    if (line_ == Line::sequence && size_ != line_start_) ++sequence_lines_;
    if (line_ == Line::quality) end_quality_line();
  }
  inside_line_ = false;
  ++line_number_;
}

bool RecordParser::between_fastq_records() const {
  return format_ == Format::fastq && !inside_line_ && !quality_wanted_ &&
         (text_.records.empty() || quality_line_ != 0);
}

RecordParser::Line RecordParser::kind_of_line(char first) {
  if (format_ == Format::unknown) {
    if (is_blank(first)) return Line::blank;
    if (first != '>' && first != '@') {
      fail(describe_byte(first) + " at the start of the first line",
           "a header that begins with '>' (FASTA) or '@' (FASTQ)");
    }
    format_ = first == '>' ? Format::fasta : Format::fastq;
  }
  if (format_ == Format::fasta) return first == '>' ? Line::header : Line::sequence;
  return kind_of_fastq_line(first);
}

RecordParser::Line RecordParser::kind_of_fastq_line(char first) {
  if (quality_wanted_) {
    if (quality_line_ == 0) quality_line_ = line_number_;
    return Line::quality;
  }
  const bool within_sequence = !text_.records.empty() && quality_line_ == 0;
  if (!within_sequence) {
    if (first == '@') return Line::header;
    if (is_blank(first)) return Line::blank;
    fail(describe_byte(first) + " at the start of a line", "a header that begins with '@'");
  }
  if (first == '@') fail("a header line", "a line that begins with '+' after the sequence");
  if (first != '+') return Line::sequence;
  const std::uint64_t length = size_ - text_.records.back().offset;
  quality_wanted_ = length != 0;
  quality_line_ = quality_wanted_ ? 0 : line_number_;  // an empty record has no qualities
  quality_length_ = 0;
  return Line::plus;
}

void RecordParser::append_header(std::string_view part) {
  if (const auto* bad = find_bad_in_header(part); bad != part.end())
    fail(describe_byte(*bad) + " in a header", "text and a line end LF or CRLF");
  header_.append(part);
}

void RecordParser::start_record() {
  if (!text_.records.empty()) {
    Record& last = text_.records.back();
    last.length = size_ - last.offset;
    if (text_.symbols.size() == held()) text_.symbols.push_back(Text::separator);
    text_.symbols[held()] = Text::separator;
    ++size_;
  }
  text_.records.push_back({std::exchange(header_, {}), size_, 0});
  sequence_lines_ = 0;
  quality_line_ = 0;
}

void RecordParser::append_symbols(std::string_view part) {
  while (true) {
    const std::size_t copied = table_.copy(part.data(), part.size(), text_.symbols.data() + held());
    size_ += copied;
    part.remove_prefix(copied);
    if (part.empty()) return;
    if (!is_blank(part.front())) {
      const std::string_view allowed = letters(options_.alphabet);
      fail(describe_byte(part.front()),
           allowed.empty()
               ? "letters and line ends LF or CRLF"
               : fmt::format("a symbol of the alphabet {} ({})", name(options_.alphabet), allowed));
    }
    part.remove_prefix(1);
  }
}

void RecordParser::append_quality(std::string_view part) {
  if (const auto* bad = find_bad_in_quality(part); bad != part.end())
    fail(describe_byte(*bad) + " in a quality line", "characters from '!' to '~'");
  quality_length_ += part.size();
}

// Quality lines continue until there are as many values as symbols. If the sequence is on one line,
// the qualities must be too: a short line is then reported at once instead of being filled up from
// the following records.
void RecordParser::end_quality_line() {
  const std::uint64_t length = size_ - text_.records.back().offset;
  if (quality_length_ > length || (quality_length_ < length && sequence_lines_ == 1)) {
    throw input_error(file_, quality_line_, fmt::format("{} quality values", quality_length_),
                      fmt::format("{}, one for each symbol of record {}", length,
                                  sortie::quoted(text_.records.back().name)));
  }
  quality_wanted_ = quality_length_ < length;
}

void RecordParser::fail(std::string_view found, std::string_view expected) const {
  throw input_error(file_, line_number_, found, expected);
}

}  // namespace sortie::sequences
