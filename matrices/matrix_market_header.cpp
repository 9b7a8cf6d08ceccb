// SPDX-License-Identifier: Apache-2.0
#include "matrices/matrix_market_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "core/files/byte_source.hpp"
#include "sortie/error.hpp"

namespace sortie::matrices::detail {

namespace {

// In the order of the enums.
constexpr std::array<std::string_view, 4> symmetry_names{"general", "symmetric", "skew-symmetric",
                                                         "hermitian"};
constexpr std::array<std::string_view, 4> field_names{"real", "integer", "pattern", "complex"};
constexpr std::array<std::string_view, 2> format_names{"array", "coordinate"};

// True if a word in upper or lower case is `lower`.
bool is_spelled(std::string_view word, std::string_view lower) {
  return std::equal(word.begin(), word.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
  });
}

// Parses the lines at the start of a file one by one and keeps track of the position.
class HeaderParser {
 public:
  HeaderParser(std::string_view name, std::string_view text, bool complete)
      : name_(name), text_(text), complete_(complete) {}

  std::optional<ParsedHeader> run() {
    if (text_.empty() && complete_) {
      throw input_error(name_, 0, "an empty file", "a Matrix Market file");
    }
    if (!next_line()) return std::nullopt;
    parse_banner();
    do {
      if (position_ == text_.size() && complete_) fail("the end of the file", size_line_words());
      if (!next_line()) return std::nullopt;
    } while (is_skipped(line_));
    parse_sizes();
    check_sizes();
    result_.size_line = line_number_;
    result_.data_begin = position_;
    return result_;
  }

 private:
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const {
    throw input_error(name_, line_number_, found, expected);
  }

  // Returns false if the line does not end within the text and more text may follow.
  bool next_line() {
    const std::size_t end = text_.find('\n', position_);
    if (end == std::string_view::npos && !complete_) return false;
    line_ = text_.substr(position_, end == std::string_view::npos ? end : end - position_);
    position_ = std::min(text_.size(), position_ + line_.size() + 1);
    ++line_number_;
    return true;
  }

  // Parses the next word of the banner, which must be one of `choices`; returns its index.
  template <std::size_t n>
  std::size_t take_choice(std::string_view& rest, const std::array<std::string_view, n>& choices) {
    const std::string_view word = take_word(rest);
    const auto found = std::find_if(choices.begin(), choices.end(), [&](std::string_view choice) {
      return is_spelled(word, choice);
    });
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
    std::string expected;
    for (std::size_t i = 0; i < n; ++i) {
      const std::string_view joint = i == 0 ? "" : i + 1 == n ? " or " : ", ";
      expected += fmt::format("{}\"{}\"", joint, choices[i]);
    }
    fail(word.empty() ? "the end of the line" : sortie::quoted(word), expected);
  }

  void parse_banner() {
    MatrixMarketHeader& header = result_.header;
    std::string_view rest = line_;
    if (const std::string_view word = take_word(rest); !is_spelled(word, "%%matrixmarket")) {
      fail(word.empty() ? "a blank line" : sortie::quoted(word),
           "the banner \"%%MatrixMarket matrix ...\"");
    }
    take_choice(rest, std::array<std::string_view, 1>{"matrix"});
    header.coordinate = take_choice(rest, format_names) == 1;
    header.field = static_cast<Field>(take_choice(rest, field_names));
    header.symmetry = static_cast<Symmetry>(take_choice(rest, symmetry_names));
    if (const std::string_view word = take_word(rest); !word.empty()) {
      fail(sortie::quoted(word), "the end of the line");
    }
    if (header.field == Field::pattern && !header.coordinate) {
      fail("\"pattern\" with \"array\"", "\"real\", \"integer\" or \"complex\"");
    }
    if (header.field == Field::pattern && header.symmetry == Symmetry::skew_symmetric) {
      fail("\"skew-symmetric\" with \"pattern\"", "\"general\" or \"symmetric\"");
    }
    if (header.field != Field::complex && header.symmetry == Symmetry::hermitian) {
      fail(fmt::format("\"hermitian\" with \"{}\"",
                       field_names[static_cast<std::size_t>(header.field)]),
           "\"complex\"");
    }
  }

  std::string_view size_line_words() const {
    return result_.header.coordinate ? "the size line (rows, columns, entries)"
                                     : "the size line (rows, columns)";
  }

  void parse_sizes() {
    MatrixMarketHeader& header = result_.header;
    std::vector<std::string_view> words;
    std::string_view rest = line_;
    for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
      words.push_back(word);
    }
    if (words.size() != (header.coordinate ? 3U : 2U)) {
      fail(sortie::quoted(trimmed(line_)), size_line_words());
    }
    header.rows = parse_size(words[0], "rows");
    header.cols = parse_size(words[1], "columns");
    if (header.coordinate) header.entries = parse_size(words[2], "entries");
  }

  std::int64_t parse_size(std::string_view word, std::string_view what) const {
    std::int64_t size = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, size);
    if (error != std::errc{} || stop != end || size < 0) {
      fail(sortie::quoted(word), fmt::format("a number of {} from 0 to {}", what,
                                             std::numeric_limits<std::int64_t>::max()));
    }
    return size;
  }

  void check_sizes() {
    MatrixMarketHeader& header = result_.header;
    const bool general = header.symmetry == Symmetry::general;
    if (!general && header.rows != header.cols) {
      fail(fmt::format("{} rows and {} columns", header.rows, header.cols),
           fmt::format("as many rows as columns ({})", detail::name(header.symmetry)));
    }
    if (!header.coordinate) {
      std::int64_t cells = 0;
      if (__builtin_mul_overflow(header.rows, header.cols, &cells)) {
        fail(fmt::format("{} rows and {} columns", header.rows, header.cols),
             "an array of fewer than 2^63 entries");
      }
      const std::int64_t diagonal = header.symmetry == Symmetry::skew_symmetric ? 0 : header.rows;
      header.entries = general ? cells : (cells - header.rows) / 2 + diagonal;
    } else if (header.entries > 0 && (header.rows == 0 || header.cols == 0)) {
      fail(
          fmt::format("{} entries", header.entries),
          fmt::format("0 entries in a matrix of {} rows and {} columns", header.rows, header.cols));
    }
  }

  std::string_view name_;
  std::string_view text_;
  bool complete_;
  std::size_t position_ = 0;
  std::int64_t line_number_ = 0;
  std::string_view line_;
  ParsedHeader result_;
};

}  // namespace

std::string_view name(Symmetry symmetry) {
  return symmetry_names[static_cast<std::size_t>(symmetry)];
}

std::optional<ParsedHeader> parse_header(std::string_view name, std::string_view text,
                                         bool complete) {
  return HeaderParser(name, text, complete).run();
}

}  // namespace sortie::matrices::detail

namespace sortie::matrices {

MatrixMarketHeader read_matrix_market_header(const std::string& path) {
  constexpr std::size_t step = 1 << 16;  // comments are rarely longer
  ByteSource source(path);
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + step);
    const std::size_t bytes = source.read({text.data() + before, step});
    text.resize(before + bytes);
    if (const auto parsed = detail::parse_header(path, text, bytes < step)) return parsed->header;
  }
}

}  // namespace sortie::matrices
