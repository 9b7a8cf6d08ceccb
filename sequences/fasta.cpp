// SPDX-License-Identifier: Apache-2.0
#include "sequences/fasta_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "core/whole_file.hpp"
#include "sortie/error.hpp"

namespace sortie::sequences {
namespace {

// A block is parsed right after decompression, while it is in the L2 cache.
constexpr std::size_t block_bytes = std::size_t{256} << 10;

// gzip takes 2.1 bits per base of DNA and 8 to 10 bits per byte of noise. Reserved memory that is
// not touched costs nothing; reallocating the text costs a copy.
constexpr std::uint64_t usual_compression = 4;

/// Blanks and tabs are allowed in sequence lines and dropped.
constexpr bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

// Quality characters of all FASTQ dialects (Cock et al., Nucleic Acids Research 38, 2010).
constexpr char lowest_quality = '!';
constexpr char highest_quality = '~';

std::string describe_byte(char byte) {
  const auto value = static_cast<std::uint8_t>(byte);
  if (value == '\r') return "a carriage return inside a line";
  if (value < 0x20 || value == 0x7f) return fmt::format("control byte 0x{:02x}", value);
  return "symbol " + sortie::quoted(std::string_view(&byte, 1));
}

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
               std::uint64_t most_bytes)
      : file_(std::move(file)), options_(options), most_bytes_(most_bytes) {
    for (std::size_t byte = 0; byte < table_.size(); ++byte) {
      const auto letter = static_cast<std::uint8_t>(byte);
      if (is_blank(static_cast<char>(letter)) || !contains(options.alphabet, letter)) continue;
      const bool raise = options.letter_case == Case::upper && letter >= 'a' && letter <= 'z';
      table_[byte] = raise ? static_cast<std::uint8_t>(letter - 'a' + 'A') : letter;
    }
    text_.symbols.reserve(std::min(expected_bytes, most_bytes));
  }

  /// Parses the next bytes, which must not end between CR and LF.
  /// \throws Error (input, out_of_memory)
  void feed(std::span<const char> block) {
    // A byte yields at most one symbol: a separator takes the place of the '>' or '@' of its header.
    if (text_.symbols.size() < size_ + block.size()) grow(size_ + block.size());
    const char* position = block.data();
    const char* const end = position + block.size();
    while (position != end) {
      const auto* newline = static_cast<const char*>(
          std::memchr(position, '\n', static_cast<std::size_t>(end - position)));
      const char* stop = newline == nullptr ? end : newline;
      // A carriage return is part of the line end.
      const char* text_end =
          newline != nullptr && stop != position && stop[-1] == '\r' ? stop - 1 : stop;
      if (text_end != position) {
        take(std::string_view(position, static_cast<std::size_t>(text_end - position)));
      }
      if (newline == nullptr) break;
      end_line();
      position = newline + 1;
    }
  }

  /// Ends the last record and returns the text. \throws Error (input) no record, or an incomplete
  /// record
  [[nodiscard]] Text finish() {
    if (inside_line_) end_line();
    if (text_.records.empty())
      throw input_error(file_, 0, line_number_ == 1 ? "an empty file" : "nothing but empty lines",
                        "a FASTA or FASTQ record");
    Record& last = text_.records.back();
    last.length = size_ - last.offset;
    if (format_ == Format::fastq && (quality_wanted_ || quality_line_ == 0)) {
      const std::string missing =
          quality_wanted_ ? fmt::format("{} more quality values", last.length - quality_length_)
                          : "a '+' line and quality values";
      throw input_error(file_, line_number_ - 1, "the end of the file",
                        fmt::format("{} for record {}", missing, sortie::quoted(last.name)));
    }
    text_.symbols.resize(size_);
    return std::move(text_);
  }

 private:
  enum class Format { unknown, fasta, fastq };
  enum class Line { blank, header, sequence, plus, quality };

  void grow(std::uint64_t size) {
    const std::uint64_t copied = size > text_.symbols.capacity() ? text_.symbols.size() : 0;
    const std::uint64_t wanted = copied + size + text_.records.size() * sizeof(Record);
    if (wanted > most_bytes_) {
      const Error error = out_of_memory_error("the text", wanted, most_bytes_);
      throw Error(error.kind(), fmt::format("{}: {}", file_, error.what()));
    }
    text_.symbols.resize(size);
  }

  void take(std::string_view piece) {
    if (!inside_line_) {
      line_ = kind_of_line(piece.front());
      line_start_ = size_;
      inside_line_ = true;
      if (line_ == Line::header || line_ == Line::plus) piece.remove_prefix(1);
    }
    switch (line_) {
      case Line::header:
        return append_header(piece);
      case Line::sequence:
        return append_symbols(piece);
      case Line::quality:
        return append_quality(piece);
      case Line::plus:  // may repeat the name, which is ignored
      case Line::blank:
        return;
    }
  }

  void end_line() {
    if (inside_line_) {
      if (line_ == Line::header) start_record();
      if (line_ == Line::sequence && size_ != line_start_) ++sequence_lines_;
      if (line_ == Line::quality) end_quality_line();
    }
    inside_line_ = false;
    ++line_number_;
  }

  Line kind_of_line(char first) {
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

  Line kind_of_fastq_line(char first) {
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

  void append_header(std::string_view piece) {
    const auto* bad = std::find_if(piece.begin(), piece.end(), [](char byte) {
      return static_cast<std::uint8_t>(byte) < 0x20 && byte != '\t';
    });
    if (bad != piece.end()) {
      fail(describe_byte(*bad) + " in a header", "text and a line end LF or CRLF");
    }
    header_.append(piece);
  }

  void start_record() {
    if (!text_.records.empty()) {
      Record& last = text_.records.back();
      last.length = size_ - last.offset;
      text_.symbols[size_++] = Text::separator;
    }
    text_.records.push_back({std::exchange(header_, {}), size_, 0});
    sequence_lines_ = 0;
    quality_line_ = 0;
  }

  void append_symbols(std::string_view piece) {
    std::uint8_t* out = text_.symbols.data() + size_;
    bool all_symbols = true;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      out[i] = table_[static_cast<std::uint8_t>(piece[i])];
      all_symbols &= out[i] != 0;
    }
    if (all_symbols) {
      size_ += piece.size();
      return;
    }
    for (const char byte : piece) {
      const std::uint8_t symbol = table_[static_cast<std::uint8_t>(byte)];
      if (symbol != 0) {
        text_.symbols[size_++] = symbol;
      } else if (!is_blank(byte)) {
        const std::string_view allowed = letters(options_.alphabet);
        fail(describe_byte(byte), allowed.empty() ? "letters and line ends LF or CRLF"
                                                  : fmt::format("a symbol of the alphabet {} ({})",
                                                                name(options_.alphabet), allowed));
      }
    }
  }

  void append_quality(std::string_view piece) {
    const auto* bad = std::find_if(piece.begin(), piece.end(), [](char byte) {
      return byte < lowest_quality || byte > highest_quality;
    });
    if (bad != piece.end()) {
      fail(describe_byte(*bad) + " in a quality line", "characters from '!' to '~'");
    }
    quality_length_ += piece.size();
  }

  // Quality lines continue until there are as many values as symbols. If the sequence is on one line,
  // the qualities must be too: a short line is then reported at once instead of being filled up from
  // the following records.
  void end_quality_line() {
    const std::uint64_t length = size_ - text_.records.back().offset;
    if (quality_length_ > length || (quality_length_ < length && sequence_lines_ == 1)) {
      throw input_error(file_, quality_line_, fmt::format("{} quality values", quality_length_),
                        fmt::format("{}, one for each symbol of record {}", length,
                                    sortie::quoted(text_.records.back().name)));
    }
    quality_wanted_ = quality_length_ < length;
  }

  [[noreturn]] void fail(std::string_view found, std::string_view expected) const {
    throw input_error(file_, line_number_, found, expected);
  }

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

}  // namespace

Text read_fasta(const HostContext& context, const std::string& path, const ReadOptions& options) {
  PhaseTimer timer(context, "read");
  ByteSource source(path);
  const std::uint64_t hint = source.size_hint() * (source.compressed() ? usual_compression : 1);
  RecordParser parser(source.name(), options, hint, HostMemoryBudget(context).left());
  std::vector<char> block(block_bytes);
  std::uint64_t bytes = 0;
  std::size_t kept = 0;  // 1 if the block ended with a carriage return, kept for the next block
  for (bool more = true; more;) {
    const std::size_t wanted = block.size() - kept;
    const std::size_t got = source.read(std::span(block).subspan(kept));
    more = got == wanted;
    bytes += got;
    const std::size_t filled = kept + got;
    kept = filled != 0 && block[filled - 1] == '\r' ? 1 : 0;
    parser.feed(std::span(block).first(filled - kept));
    if (kept != 0) block.front() = '\r';
    report_progress(context, "read", bytes, source.compressed() ? 0 : hint);
  }
  timer.set_bytes(bytes);
  return parser.finish();
}

Text parse_fasta(const std::string& name, std::span<const char> content,
                 const ReadOptions& options) {
  RecordParser parser(name, options, content.size(), std::numeric_limits<std::uint64_t>::max());
  parser.feed(content);
  return parser.finish();
}

void write_fasta(const std::string& path, const Text& text, std::size_t width) {
  WholeFile file(path);
  std::string buffer;
  const auto flush = [&](std::size_t limit) {
    if (buffer.size() <= limit) return;
    file.write(std::string_view(buffer));
    buffer.clear();
  };
  for (const Record& record : text.records) {
    buffer.append(1, '>').append(record.name).append(1, '\n');
    const auto* symbols = reinterpret_cast<const char*>(text.symbols.data()) + record.offset;
    const std::size_t line = width == 0 ? std::max<std::size_t>(record.length, 1) : width;
    for (std::size_t begin = 0; begin < record.length; begin += line) {
      buffer.append(symbols + begin, std::min<std::size_t>(line, record.length - begin));
      buffer.append(1, '\n');
      flush(block_bytes);
    }
  }
  flush(0);
  file.commit();
}

}  // namespace sortie::sequences
