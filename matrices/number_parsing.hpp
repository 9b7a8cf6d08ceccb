// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <type_traits>

/// Internal to matrices: parsing of the numbers in Matrix Market files.
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

}  // namespace sortie::matrices::detail
