// SPDX-License-Identifier: Apache-2.0
#include "sequences/parsed_piece.hpp"

#include <algorithm>
#include <cstring>

#include "sortie/text.hpp"

namespace sortie::sequences {
namespace {

// Quality characters of all FASTQ dialects (Cock et al., Nucleic Acids Research 38, 2010).
constexpr char lowest_quality = '!';
constexpr char highest_quality = '~';

const char* find_line_end(const char* begin, const char* end) {
  return static_cast<const char*>(std::memchr(begin, '\n', static_cast<std::size_t>(end - begin)));
}

std::string_view text_between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

/// Whether no byte is bad. Looks at all bytes, so that the loop is one of vectors.
template <class IsBad>
bool all_good(std::string_view text, IsBad is_bad) {
  std::uint8_t bad = 0;
  for (const char byte : text) bad |= static_cast<std::uint8_t>(is_bad(byte));
  return bad == 0;
}

bool is_bad_in_header(char byte) {
  return (static_cast<std::uint8_t>(byte) < 0x20) & (byte != '\t');
}

bool is_bad_in_quality(char byte) {
  return (byte < lowest_quality) | (byte > highest_quality);
}

}  // namespace

Format format_of(std::span<const char> content) {
  const char* const end = content.data() + content.size();
  for (const char* position = content.data(); position != nullptr && position != end;) {
    const TextLine line = line_at(position, end);
    position = line.next;
    if (line.text.empty() || is_blank(line.text.front())) continue;
    if (line.text.front() == '>') return Format::fasta;
    return line.text.front() == '@' ? Format::fastq : Format::unknown;
  }
  return Format::unknown;
}

TextLine line_at(const char* begin, const char* end) {
  const char* const line_end = find_line_end(begin, end);
  if (line_end == nullptr) return {text_between(begin, end), nullptr};
  const bool carriage_return = line_end != begin && line_end[-1] == '\r';
  return {text_between(begin, carriage_return ? line_end - 1 : line_end), line_end + 1};
}

std::string_view::const_iterator find_bad_in_header(std::string_view header) {
  if (all_good(header, is_bad_in_header)) return header.end();
  return std::find_if(header.begin(), header.end(), is_bad_in_header);
}

std::string_view::const_iterator find_bad_in_quality(std::string_view quality) {
  if (all_good(quality, is_bad_in_quality)) return quality.end();
  return std::find_if(quality.begin(), quality.end(), is_bad_in_quality);
}

void ParsedPiece::hold(std::span<const char> bytes) {
  bytes_ = bytes;
  format_ = Format::unknown;
  size_ = 0;
  starts_.clear();
  line_ends_ = 0;
}

/// Appends the symbols of a line. Returns false if it has other bytes than symbols and blanks.
bool ParsedPiece::copy_line(const SymbolTable& table, std::string_view line) {
  while (true) {
    const std::size_t copied = table.copy(line.data(), line.size(), symbols_.get() + size_);
    size_ += copied;
    line.remove_prefix(copied);
    if (line.empty()) return true;
    if (!is_blank(line.front())) return false;
    line.remove_prefix(1);
  }
}

void ParsedPiece::parse_fasta(const SymbolTable& table, std::span<const char> bytes) {
  hold(bytes);
  format_ = Format::fasta;
  // A byte yields at most one symbol: a separator takes the place of the '>' of its header.
  if (capacity_ < bytes.size()) {
    symbols_ = std::make_unique_for_overwrite<std::uint8_t[]>(bytes.size());
    capacity_ = bytes.size();
  }
  ends_in_return_ = !bytes.empty() && bytes.back() == '\r';
  const char* const end = bytes.data() + bytes.size() - (ends_in_return_ ? 1 : 0);
  const TextLine first = line_at(bytes.data(), end);
  first_line_ = first.text;
  first_line_ends_ = first.next != nullptr;
  first_is_symbols_ = copy_line(table, first.text);
  if (!first_is_symbols_) size_ = 0;
  first_symbols_ = size_;
  tail_ = Tail::none;
  regular_ = true;
  if (first_line_ends_) parse_fasta_lines(table, first.next, end);
}

void ParsedPiece::parse_fasta_lines(const SymbolTable& table, const char* begin, const char* end) {
  const char* position = begin;
  while (position != end) {
    if (*position == '>') {
      const TextLine line = line_at(position, end);
      const std::string_view name = line.text.substr(1);
      regular_ = find_bad_in_header(name) == name.end();
      if (!regular_) return;
      if (line.next == nullptr) {
        tail_ = Tail::header;
        tail_header_ = name;
        return;
      }
      symbols_[size_++] = Text::separator;
      start_at(name, size_);
      ++line_ends_;
      position = line.next;
      continue;
    }
    // A line of symbols: its end is found while they are copied.
    while (true) {
      const std::size_t copied =
          table.copy(position, static_cast<std::size_t>(end - position), symbols_.get() + size_);
      size_ += copied;
      position += copied;
      if (position == end) {
        tail_ = Tail::sequence;
        return;
      }
      if (*position == '\r' && position + 1 != end && position[1] == '\n') ++position;
      if (*position == '\n') break;
      regular_ = is_blank(*position);
      if (!regular_) return;
      ++position;
    }
    ++position;
    ++line_ends_;
  }
}

void ParsedPiece::parse_fastq(const SymbolTable& table, std::span<const char> bytes) {
  hold(bytes);
  format_ = Format::fastq;
  if (capacity_ < bytes.size()) {
    symbols_ = std::make_unique_for_overwrite<std::uint8_t[]>(bytes.size());
    capacity_ = bytes.size();
  }
  records_begin_ = 0;
  records_end_ = 0;
  if (bytes.empty()) return;
  const char* const end = bytes.data() + bytes.size();
  // Five line starts suffice if the layout is that of four lines; the first of them need not be a
  // line start.
  constexpr int tried_lines = 5;
  const char* position = bytes.data();
  for (int tried = 0; tried < tried_lines; ++tried) {
    position = line_at(position, end).next;
    if (position == nullptr || position == end) return;
    const char* next = parse_fastq_record(table, position, end);
    if (next == nullptr) continue;
    records_begin_ = static_cast<std::size_t>(position - bytes.data());
    for (; next != nullptr && next != end; next = parse_fastq_record(table, next, end))
      records_end_ = static_cast<std::size_t>(next - bytes.data());
    if (next == end) records_end_ = bytes.size();
    return;
  }
}

/// Appends the record that begins at `begin`. Returns the place after it; null if it is not whole,
/// or not of four lines that are valid: nothing is appended then.
const char* ParsedPiece::parse_fastq_record(const SymbolTable& table, const char* begin,
                                            const char* end) {
  if (*begin != '@') return nullptr;
  const TextLine header = line_at(begin, end);
  if (header.next == nullptr || header.next == end) return nullptr;
  const TextLine sequence = line_at(header.next, end);
  if (sequence.next == nullptr || sequence.next == end || *sequence.next != '+') return nullptr;
  const TextLine plus = line_at(sequence.next, end);
  if (plus.next == nullptr || plus.next == end) return nullptr;
  const TextLine quality = line_at(plus.next, end);
  if (quality.next == nullptr || sequence.text.empty() ||
      quality.text.size() != sequence.text.size())
    return nullptr;
  const std::string_view name = header.text.substr(1);
  if (sequence.text.front() == '@' || sequence.text.front() == '+' ||
      find_bad_in_header(name) != name.end() ||
      find_bad_in_quality(quality.text) != quality.text.end())
    return nullptr;
  const std::size_t separated = size_ + (starts_.empty() ? 0 : 1);
  if (table.copy(sequence.text.data(), sequence.text.size(), symbols_.get() + separated) !=
      sequence.text.size())
    return nullptr;
  if (!starts_.empty()) symbols_[size_] = Text::separator;
  start_at(name, separated);
  size_ = separated + sequence.text.size();
  line_ends_ += 4;
  return quality.next;
}

}  // namespace sortie::sequences
