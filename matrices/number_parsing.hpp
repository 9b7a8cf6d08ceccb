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

/// Internal to matrices: numbers as they stand in Matrix Market files.
namespace sortie::matrices::detail {

enum class NumberStatus { ok, not_a_number, out_of_range };

/// Bytes that parse_index may look at from its start.
inline constexpr std::ptrdiff_t index_reach = 24;

/// Reads the digits at `at`; returns how many they are, 0 when there is none or more than 18.
///
/// Eight bytes are taken at once: indices mostly have one to seven digits in no order, and a loop
/// over digits would mispredict its end on most of them.
/// \pre index_reach bytes can be read
inline int parse_index(const char* at, std::uint64_t& value) {
  int length = 0;
  value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    // The high bit of a byte is set when it is no digit; exact up to and including the first such
    // byte, carries can only spoil those behind it.
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

/// Reads a real number as std::from_chars does, but one too small for Real becomes 0 (as by
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
  // Out of range on one side or the other: a wider type tells which.
  long double wide = 0;
  const bool tiny = std::from_chars(start, stop, wide).ec == std::errc{} && std::abs(wide) < 1;
  if (!tiny) return NumberStatus::out_of_range;
  value = *start == '-' ? -Real{0} : Real{0};
  return NumberStatus::ok;
}

/// Reads a real number at `at` and moves `at` behind it. Accepts a leading '+', "inf" and "nan",
/// and the exponent letter D that Fortran writes.
template <class Real>
NumberStatus parse_real(const char*& at, const char* end, Real& value) {
  const char* const start = skip_plus(at, end);
  at = start;
  const NumberStatus status = parse_plain_real(at, end, value);
  if (status == NumberStatus::not_a_number || at == end || (*at | 0x20) != 'd') return status;
  // Once more with an E in place of the D. A mantissa too long for the copy is nobody's number.
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

/// Reads an integer at `at` and moves `at` behind it; beyond 64 bits the nearest real is taken.
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
