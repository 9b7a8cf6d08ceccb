// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

/// Decimal text of numbers, with the bytes of std::to_chars.
///
/// Integers, and numbers of few digits, take some nanoseconds and no branch that depends on the
/// number of digits. All other numbers take std::to_chars.

namespace sortie {

/// Bytes that put_decimal() may store to, of which the text is the first part: it stores words.
inline constexpr std::size_t decimal_text_room = 32;

namespace detail {

inline constexpr std::uint64_t ten_to_the_8 = 100'000'000;

/// The eight digits of a number, leading zeros included, as values 0 to 9. The first digit is the
/// least significant byte. \pre number < 10^8
[[nodiscard]] inline std::uint64_t eight_digits(std::uint32_t number) {
  // Each step divides the numbers in all lanes of the word, and gives the remainders lanes of their
  // own. The quotients by reciprocals are exact for all dividends below 10^4 and 10^2.
  const std::uint64_t fours = number / 10'000 + (std::uint64_t{number % 10'000} << 32);
  const std::uint64_t hundreds = (fours * 5243 >> 19) & 0x0000'007f'0000'007f;
  const std::uint64_t pairs = hundreds + ((fours - 100 * hundreds) << 16);
  const std::uint64_t tens = (pairs * 103 >> 10) & 0x000f'000f'000f'000f;
  return tens + ((pairs - 10 * tens) << 8);
}

/// Stores eight digits as characters, the least significant byte first.
inline void store_digits(char* at, std::uint64_t digits) {
  digits |= 0x3030'3030'3030'3030;
  if constexpr (std::endian::native == std::endian::big) digits = __builtin_bswap64(digits);
  std::memcpy(at, &digits, sizeof(digits));
}

/// \pre number < 10^8
inline char* put_up_to_eight_digits(char* at, std::uint32_t number) {
  const std::uint64_t digits = eight_digits(number);
  constexpr std::uint64_t last_digit = std::uint64_t{1} << 56;  // is printed even if it is 0
  const int leading_zeros = std::countr_zero(digits | last_digit) / 8;
  store_digits(at, digits >> (8 * leading_zeros));
  return at + 8 - leading_zeros;
}

/// If `magnitude` is the value nearest to a decimal with at most eight digits after the point and
/// few enough digits to be the only one, returns that decimal times 10^8; else 0.
///
/// Distinct decimals with at most digits10 (6, 15) significant digits have distinct nearest values.
/// So no other decimal of as few digits has the value `magnitude`, and this one is the shortest. It
/// is found by rounding a product, which may be inexact; the quotient of two integers that the type
/// represents exactly is the nearest value of the decimal, so the comparison is exact.
[[nodiscard]] inline std::uint64_t short_decimal(double magnitude) {
  if (!(magnitude >= 1e-3 && magnitude < 1e7)) return 0;  // beyond, exponents may be shorter
  const auto scaled = static_cast<std::int64_t>(magnitude * 1e8 + 0.5);  // at most 15 digits
  return static_cast<double>(scaled) / 1e8 == magnitude ? static_cast<std::uint64_t>(scaled) : 0;
}

/// The same for any number of digits, of which the text has the fewest that are in the interval of
/// the numbers that are rounded to `magnitude`, and of those the nearest. Decimals of at most six
/// digits are distinct, so the search begins with six. A product of `magnitude` and 10^8 has 24 + 19
/// bits, so that all differences here are exact.
[[nodiscard]] inline std::uint64_t short_decimal(float magnitude) {
  constexpr std::uint32_t fraction_bits = 0x007f'ffff;
  const auto bits = std::bit_cast<std::uint32_t>(magnitude);
  // The interval of a power of two is narrower below.
  if (!(magnitude >= 1e-3F && magnitude < 1e5F) || (bits & fraction_bits) == 0) return 0;
  constexpr std::array<std::int32_t, 9> powers{1,       10,        100,        1000,       10'000,
                                               100'000, 1'000'000, 10'000'000, 100'000'000};
  const double half_width = std::bit_cast<float>(bits & ~fraction_bits) * 0x1p-24;
  std::size_t decimals = 8;
  for (const float limit : {1e-2F, 1e-1F, 1e0F, 1e1F, 1e2F, 1e3F, 1e4F})
    decimals -= magnitude >= limit ? 1 : 0;
  for (; decimals <= 8; ++decimals) {
    const double scaled = static_cast<double>(magnitude) * powers[decimals];
    const auto nearest = static_cast<std::int64_t>(scaled + 0.5);
    const double distance = std::abs(static_cast<double>(nearest) - scaled);
    const double limit = half_width * powers[decimals];
    if (distance < limit || (distance == limit && bits % 2 == 0))
      return distance == 0.5 ? 0 : static_cast<std::uint64_t>(nearest * powers[8 - decimals]);
  }
  return 0;
}

/// \param scaled  a number times 10^8, not a multiple of 10^8, below 10^16
inline char* put_fixed_point(char* at, std::uint64_t scaled) {
  at = put_up_to_eight_digits(at, static_cast<std::uint32_t>(scaled / ten_to_the_8));
  *at++ = '.';
  const std::uint64_t digits = eight_digits(static_cast<std::uint32_t>(scaled % ten_to_the_8));
  store_digits(at, digits);
  return at + 8 - std::countl_zero(digits) / 8;  // without trailing zeros
}

}  // namespace detail

/// Stores the digits of a number and returns their end.
/// \pre decimal_text_room bytes at `at`
inline char* put_decimal(char* at, std::uint64_t number) {
  using namespace detail;
  if (number < ten_to_the_8) return put_up_to_eight_digits(at, static_cast<std::uint32_t>(number));
  const std::uint64_t high = number / ten_to_the_8;
  if (high < ten_to_the_8) {
    at = put_up_to_eight_digits(at, static_cast<std::uint32_t>(high));
  } else {
    at = put_up_to_eight_digits(at, static_cast<std::uint32_t>(high / ten_to_the_8));
    store_digits(at, eight_digits(static_cast<std::uint32_t>(high % ten_to_the_8)));
    at += 8;
  }
  store_digits(at, eight_digits(static_cast<std::uint32_t>(number % ten_to_the_8)));
  return at + 8;
}

/// Stores the shortest text that reads back to the same number, and returns its end. The bytes are
/// those of std::to_chars(at, ..., number): 100000 is 1e+05, and zero has its sign.
/// \pre decimal_text_room bytes at `at`
template <class Real>
requires(std::same_as<Real, float> || std::same_as<Real, double>) char* put_decimal(char* at,
                                                                                    Real number) {
  // All integers below are represented, so that none has a shorter text than its own digits.
  constexpr auto integers_below =
      static_cast<Real>(std::uint64_t{1} << std::numeric_limits<Real>::digits);
  const Real magnitude = std::abs(number);
  if (magnitude < integers_below) {  // false for NaN
    *at = '-';
    char* const digits = at + (std::signbit(number) ? 1 : 0);
    const auto integer = static_cast<std::int64_t>(magnitude);
    if (static_cast<Real>(integer) == magnitude) {
      // With five trailing zeros, an exponent may be shorter.
      if (integer < 100'000 || integer % 100'000 != 0)
        return put_decimal(digits, static_cast<std::uint64_t>(integer));
    } else if (const std::uint64_t scaled = detail::short_decimal(magnitude); scaled != 0) {
      return detail::put_fixed_point(digits, scaled);
    }
  }
  return std::to_chars(at, at + decimal_text_room, number).ptr;
}

}  // namespace sortie
