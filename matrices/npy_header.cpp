// SPDX-License-Identifier: Apache-2.0
#include "matrices/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "sortie/error.hpp"

namespace sortie::matrices::detail {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view npy_magic = "\x93NUMPY"sv;
constexpr std::size_t npy_version_at = npy_magic.size();
constexpr std::size_t npy_length_at = npy_version_at + 2;

unsigned npy_byte(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// Bytes before the text of the dictionary.
std::size_t npy_text_begin(std::string_view start) {
  return npy_length_at + (npy_byte(start, npy_version_at) == 1 ? 2 : 4);
}

/// The dictionary of a header. Functions return empty for what they do not accept.
class NpyDictionary {
 public:
  explicit NpyDictionary(std::string_view text) : rest_(text) {}

  std::optional<NpyHeader> parse() {
    NpyHeader header;
    bool has_descr = false;
    bool has_shape = false;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':')) return std::nullopt;
      if (*key == "descr") {
        const auto descr = string();
        if (!descr) return std::nullopt;
        header.descr = *descr;
        has_descr = true;
      } else if (*key == "shape") {
        if (!shape(header.shape)) return std::nullopt;
        has_shape = true;
      } else if (*key != "fortran_order" || !(word("True") || word("False"))) {
        // The order of the elements is of no concern with less than two dimensions.
        return std::nullopt;
      }
      if (!take(',') && !next_is('}')) return std::nullopt;
    }
    if (!has_descr || !has_shape) return std::nullopt;
    return header;
  }

 private:
  bool next_is(char c) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
    return rest_.starts_with(c);
  }
  bool take(char c) {
    if (!next_is(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view expected) {
    if (!next_is(expected.front()) || !rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::string_view> string() {
    const char quote = next_is('"') ? '"' : '\'';
    if (!take(quote)) return std::nullopt;
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view content = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return content;
  }
  bool shape(std::vector<std::int64_t>& sizes) {
    if (!take('(')) return false;
    while (!take(')')) {
      std::int64_t size = 0;
      static_cast<void>(next_is(' '));  // skips spaces
      const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc{} || size < 0) return false;
      rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
      static_cast<void>(take('L'));  // long integers of Python 2
      sizes.push_back(size);
      if (!take(',') && !next_is(')')) return false;
    }
    return true;
  }

  std::string_view rest_;
};

}  // namespace

std::string npy_header(std::string_view descr, std::string_view shape) {
  std::string header(npy_magic);
  constexpr std::size_t text_begin = npy_length_at + 2;
  header += "\x01\x00"sv;
  header += static_cast<char>(npy_header_bytes - text_begin);
  header += '\0';
  header += fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
  header.resize(npy_header_bytes - 1, ' ');
  header += '\n';
  return header;
}

std::uint64_t npy_header_length(std::string_view place, std::string_view start) {
  if (!start.starts_with(npy_magic) || start.size() < npy_start_bytes) {
    throw input_error(place, 0, sortie::quoted(start.substr(0, npy_magic.size())),
                      "the begin of a NumPy array, \"\\x93NUMPY\"");
  }
  const unsigned version = npy_byte(start, npy_version_at);
  if (version < 1 || version > 3) {
    throw input_error(place, 0, fmt::format("a NumPy array of version {}", version),
                      "a version from 1 to 3");
  }
  std::uint64_t length = 0;
  const std::size_t text_begin = npy_text_begin(start);
  for (std::size_t at = text_begin; at-- > npy_length_at;)
    length = length << 8 | npy_byte(start, at);
  return text_begin + length;
}

NpyHeader parse_npy_header(std::string_view place, std::string_view header) {
  const std::string_view text = header.substr(npy_text_begin(header));
  const auto parsed = NpyDictionary(text).parse();
  if (!parsed) {
    throw input_error(place, 0, fmt::format("the array header {}", sortie::quoted(text)),
                      "'descr' of a number type, 'fortran_order' and 'shape'");
  }
  return *parsed;
}

}  // namespace sortie::matrices::detail
