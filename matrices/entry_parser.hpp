// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "matrices/matrix_market_text.hpp"
#include "sortie/error.hpp"

/// Internal to matrices: parser for the numbers and the entry lines of a Matrix Market file.
///
/// parse_usual_line is the fast path for common lines ("17 1", "17 1 0.5"): it validates the line
/// but does not report errors. Lines that it rejects are parsed word by word by parse_line, which
/// accepts the rarer valid forms (a comment, a '+', the last line of a chunk) and throws a
/// description of the error otherwise.
namespace sortie::matrices::detail {

enum class NumberStatus { ok, not_a_number, out_of_range };

/// Bytes that parse_index() may read from its start.
inline constexpr std::ptrdiff_t index_reach = 24;

/// Parses the digits at `at`. Returns their number, or 0 if there are none or more than 18.
///
/// Reads eight bytes at a time: most indices have one to seven digits in irregular order, and a
/// loop over the digits would mispredict its last iteration for most of them.
/// \pre index_reach bytes are readable
inline int parse_index(const char* at, std::uint64_t& value) {
  int length = 0;
  value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    // The high bit of a byte is set if it is not a digit. Exact up to and including the first such
    // byte; carries can only affect the bytes after it.
    const std::uint64_t other =
        ((word + 0x4646464646464646ULL) | (word - 0x3030303030303030ULL)) & 0x8080808080808080ULL;
    length = other == 0 ? 8 : std::countr_zero(other) / 8;
    if (length == 0) return 0;
    word <<= 64 - 8 * length;  // leading zero bytes count as digits 0
    word = ((word & 0x0f0f0f0f0f0f0f0fULL) * 2561) >> 8;
    word = ((word & 0x00ff00ff00ff00ffULL) * 6553601) >> 16;
    value = ((word & 0x0000ffff0000ffffULL) * 42949672960001ULL) >> 32;
    if (length < 8) return length;
  }
  for (; at[length] >= '0' && at[length] <= '9'; ++length) {
    if (length == 18) return 0;
    value = value * 10 + static_cast<std::uint64_t>(at[length] - '0');
  }
  return length;
}

/// Skips a '+' before a digit or point, which std::from_chars does not accept.
inline const char* skip_plus(const char* at, const char* end) {
  const bool plus = end - at > 1 && *at == '+' && at[1] != '-' && at[1] != '+';
  return plus ? at + 1 : at;
}

/// Parses a real number like std::from_chars, except that numbers too small for Real become 0 (like
/// strtod).
template <class Real>
NumberStatus parse_plain_real(const char*& at, const char* end, Real& value) {
  const char* const start = at;
  const auto [stop, error] = std::from_chars(start, end, value);
  if (error == std::errc::invalid_argument) return NumberStatus::not_a_number;
  at = stop;
  const bool infinite = error == std::errc{} && std::isinf(value);
  const bool written_infinite = infinite && (start[*start == '-' ? 1 : 0] | 0x20) == 'i';
  if (error == std::errc{} && infinite == written_infinite) return NumberStatus::ok;
  // The number is too large or too small; a wider type shows which.
  long double wide = 0;
  const bool tiny = std::from_chars(start, stop, wide).ec == std::errc{} && std::abs(wide) < 1;
  if (!tiny) return NumberStatus::out_of_range;
  value = *start == '-' ? -Real{0} : Real{0};
  return NumberStatus::ok;
}

/// Parses a real number at `at` and advances `at` past it. Accepts a leading '+', "inf" and "nan",
/// and the Fortran exponent letter D.
template <class Real>
NumberStatus parse_real(const char*& at, const char* end, Real& value) {
  const char* const start = skip_plus(at, end);
  at = start;
  const NumberStatus status = parse_plain_real(at, end, value);
  if (status == NumberStatus::not_a_number || at == end || (*at | 0x20) != 'd') return status;
  // Parses again with an E in place of the D. Numbers too long for the copy do not occur.
  std::array<char, 128> copy;
  const auto length = std::min<std::ptrdiff_t>(end - start, copy.size());
  if (at - start >= length) return NumberStatus::not_a_number;
  std::copy_n(start, length, copy.begin());
  copy[static_cast<std::size_t>(at - start)] = 'e';
  const char* copy_at = copy.data();
  const NumberStatus again = parse_plain_real(copy_at, copy.data() + length, value);
  at = start + (copy_at - copy.data());
  return again;
}

/// Parses an integer at `at` and advances `at` past it. Integers beyond 64 bits are read as the
/// nearest real.
template <class Real>
NumberStatus parse_integer(const char*& at, const char* end, Real& value) {
  const char* const start = skip_plus(at, end);
  std::int64_t integer = 0;
  const auto [stop, error] = std::from_chars(start, end, integer);
  if (error == std::errc::invalid_argument) return NumberStatus::not_a_number;
  at = stop;
  value = static_cast<Real>(integer);
  if (error == std::errc{}) return NumberStatus::ok;
  const auto real = std::from_chars(start, stop, value);
  return real.ec == std::errc{} && !std::isinf(value) ? NumberStatus::ok
                                                      : NumberStatus::out_of_range;
}

/// Description of an error in a line.
struct LineFault {
  std::string found;
  std::string expected;
};

/// The form of valid entry lines.
struct LineFormat : MatrixMarketHeader {
  explicit LineFormat(const MatrixMarketHeader& header)
      : MatrixMarketHeader(header),
        least_gap(symmetry == Symmetry::general          ? -cols
                  : symmetry == Symmetry::skew_symmetric ? 1
                                                         : 0) {}

  std::int64_t least_gap;  ///< minimum row - column: symmetric files store only one triangle
};

/// Parsed entries; one slot per line of the text.
template <Scalar Value, Index Idx>
struct EntryStore {
  EntryStore(std::size_t slots, bool indices, bool numbers) {
    if (indices) {
      rows = std::make_unique_for_overwrite<Idx[]>(slots);
      cols = std::make_unique_for_overwrite<Idx[]>(slots);
    }
    if (numbers) values = std::make_unique_for_overwrite<Value[]>(slots);
  }

  std::unique_ptr<Idx[]> rows;
  std::unique_ptr<Idx[]> cols;
  std::unique_ptr<Value[]> values;  ///< null for pattern files
};

/// A range of whole lines of the text, each ending with '\n', and the result of parsing them.
struct Chunk {
  Chunk(const char* first, const char* last) : begin(first), end(last) {}

  const char* begin;
  const char* end;
  std::int64_t first_line = 0;  ///< number of the first line in the file, 1-based
  std::int64_t first_slot = 0;  ///< first slot of the chunk in the store
  std::int64_t entries = 0;     ///< valid entries before the end or the first error
  std::optional<LineFault> fault;
  const char* fault_at = nullptr;
};

template <Scalar Value>
struct Entry {
  std::int64_t row = 0;  ///< 0-based; unused for arrays
  std::int64_t col = 0;
  Value value{1};
};

template <Field field, class Real>
NumberStatus parse_number(const char*& at, const char* end, Real& value) {
  if constexpr (field == Field::integer) return parse_integer(at, end, value);
  return parse_real(at, end, value);
}

inline bool separates(char c) {
  return c == ' ' || c == '\t';
}

/// Parses an index from 1 to `size`, preceded by blanks, and stores it 0-based. Returns false if
/// there is none. \pre [at, end) contains a '\n'
inline bool parse_usual_index(const char*& at, const char* end, std::int64_t size,
                              std::int64_t& index) {
  while (separates(*at)) ++at;
  if (end - at < index_reach) return false;
  std::uint64_t number = 0;
  const int digits = parse_index(at, number);
  at += digits;
  index = static_cast<std::int64_t>(number) - 1;
  return digits > 0 && number - 1 < static_cast<std::uint64_t>(size);
}

/// Parses the one or two numbers of an entry, each preceded by blanks. Returns false if they are
/// missing.
template <Field field, Scalar Value>
bool parse_usual_value(const char*& at, const char* end, Value& value) {
  const auto parse = [&](auto& number) {
    while (separates(*at)) ++at;
    return parse_number<field>(at, end, number) == NumberStatus::ok;
  };
  std::conditional_t<std::is_same_v<Value, float>, float, double> real = 0;
  if (!parse(real)) return false;
  value = real;
  if constexpr (field == Field::complex) {
    double imaginary = 0;
    if (!separates(*at) || !parse(imaginary)) return false;
    value.imag(imaginary);
  }
  return true;
}

/// Parses the line at `at`. Returns the start of the next line, or null if the line does not have
/// the common form. \pre every line of [at, end) ends with '\n'
template <Field field, Scalar Value>
const char* parse_usual_line(const LineFormat& format, const char* at, const char* end,
                             Entry<Value>& entry) {
  if (format.coordinate) {
    if (!parse_usual_index(at, end, format.rows, entry.row) ||
        !parse_usual_index(at, end, format.cols, entry.col) ||
        entry.row - entry.col < format.least_gap) {
      return nullptr;
    }
    if (field != Field::pattern && !separates(*at)) return nullptr;
  }
  if constexpr (field != Field::pattern) {
    if (!parse_usual_value<field>(at, end, entry.value)) return nullptr;
  }
  while (is_blank(*at)) ++at;
  return *at == '\n' ? at + 1 : nullptr;
}

/// Removes an index from 1 to `size` from the front of the line and returns it 0-based.
inline std::int64_t take_index(std::string_view& line, std::int64_t size, std::string_view kind) {
  const auto range = [&] { return fmt::format("from 1 to {}", size); };
  const std::string_view word = take_word(line);
  if (word.empty()) {
    throw LineFault{"the end of the line", fmt::format("a {} index {}", kind, range())};
  }
  std::int64_t index = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(skip_plus(word.data(), end), end, index);
  if (error == std::errc::invalid_argument || stop != end) {
    throw LineFault{sortie::quoted(word), fmt::format("a {} index {}", kind, range())};
  }
  if (error == std::errc::result_out_of_range || index < 1 || index > size) {
    throw LineFault{fmt::format("{} index {}", kind, word.substr(0, 40)), "an index " + range()};
  }
  return index - 1;
}

/// Removes a number from the front of the line and returns it.
template <Field field, class Real>
Real take_number(std::string_view& line, std::string_view what) {
  const std::string_view word = take_word(line);
  if (word.empty()) throw LineFault{"the end of the line", std::string(what)};
  Real value = 0;
  const char* at = word.data();
  const char* const end = at + word.size();
  const NumberStatus status = parse_number<field>(at, end, value);
  if (status == NumberStatus::not_a_number || at != end) {
    throw LineFault{sortie::quoted(word), std::string(what)};
  }
  if (status == NumberStatus::out_of_range) {
    throw LineFault{sortie::quoted(word), fmt::format("{} of magnitude up to {}", what,
                                                      std::numeric_limits<Real>::max())};
  }
  return value;
}

/// Parses a line word by word. \throws LineFault
template <Field field, Scalar Value>
Entry<Value> parse_line(const LineFormat& format, std::string_view line) {
  Entry<Value> entry;
  if (format.coordinate) {
    entry.row = take_index(line, format.rows, "row");
    entry.col = take_index(line, format.cols, "column");
    if (entry.row - entry.col < format.least_gap) {
      throw LineFault{
          fmt::format("entry ({}, {}) {} the diagonal", entry.row + 1, entry.col + 1,
                      entry.row == entry.col ? "on" : "above"),
          fmt::format("entries {} the diagonal ({})",
                      format.symmetry == Symmetry::skew_symmetric ? "below" : "on or below",
                      name(format.symmetry))};
    }
  }
  if constexpr (field == Field::complex) {
    const double real = take_number<field, double>(line, "a real part");
    entry.value = Value(real, take_number<field, double>(line, "an imaginary part"));
  } else if constexpr (field != Field::pattern) {
    using Real = std::conditional_t<std::is_same_v<Value, float>, float, double>;
    entry.value =
        take_number<field, Real>(line, field == Field::integer ? "an integer" : "a real number");
  }
  if (const std::string_view word = take_word(line); !word.empty()) {
    throw LineFault{sortie::quoted(word), "the end of the line"};
  }
  return entry;
}

/// Parses all lines of a chunk into the store, up to the first error.
template <Field field, Scalar Value, Index Idx>
void parse_chunk(const LineFormat& format, const EntryStore<Value, Idx>& store, Chunk& chunk) {
  std::int64_t slot = chunk.first_slot;
  Entry<Value> entry;
  for (const char* at = chunk.begin; at != chunk.end;) {
    const char* next = parse_usual_line<field>(format, at, chunk.end, entry);
    if (next == nullptr) {
      const char* const line_end = find_newline(at, chunk.end);
      const std::string_view line(at, static_cast<std::size_t>(line_end - at));
      next = line_end + 1;
      if (is_skipped(line)) {
        at = next;
        continue;
      }
      try {
        entry = parse_line<field, Value>(format, line);
      } catch (LineFault& fault) {
        chunk.fault = std::move(fault);
        chunk.fault_at = at;
        break;
      }
    }
    if (format.coordinate) {
      store.rows[slot] = static_cast<Idx>(entry.row);
      store.cols[slot] = static_cast<Idx>(entry.col);
    }
    if constexpr (field != Field::pattern) store.values[slot] = entry.value;
    ++slot;
    at = next;
  }
  chunk.entries = slot - chunk.first_slot;
}

}  // namespace sortie::matrices::detail
