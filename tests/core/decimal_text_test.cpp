// SPDX-License-Identifier: Apache-2.0
#include "core/decimal_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "core/random.hpp"

namespace sortie::test {
namespace {

/// The text of put_decimal(). Bytes outside the decimal_text_room bytes at its argument must not
/// change.
template <class Number>
std::string decimal(Number number) {
  std::array<char, decimal_text_room + 16> text;
  text.fill('#');
  char* const begin = text.data() + 8;
  const std::string result(begin, put_decimal(begin, number));
  const auto unchanged = [](char c) { return c == '#'; };
  EXPECT_TRUE(std::all_of(text.data(), begin, unchanged)) << result;
  EXPECT_TRUE(std::all_of(begin + decimal_text_room, text.data() + text.size(), unchanged))
      << result;
  return result;
}

template <class Number>
std::string reference(Number number) {
  std::array<char, 64> text = {};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

/// Of a number and its negative.
template <class Real>
void expect_reference(Real number) {
  ASSERT_EQ(decimal(number), reference(number));
  ASSERT_EQ(decimal(-number), reference(-number));
}

TEST(DecimalText, Integers) {
  Random random(1);
  EXPECT_EQ(decimal(std::uint64_t{0}), "0");
  for (std::uint64_t power = 1;; power *= 10) {
    for (const std::uint64_t near : {power - 1, power, power + 1, 5 * (power / 10)})
      ASSERT_EQ(decimal(near), reference(near));
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t number = random.below(power) + power;
      ASSERT_EQ(decimal(number), reference(number));
    }
    if (power > std::numeric_limits<std::uint64_t>::max() / 10) break;
  }
  const auto greatest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(decimal(greatest), reference(greatest));
}

TEST(DecimalText, EveryNumberOfEightDigitsHasItsDigits) {
  // The digits of the halves are made independently of each other.
  for (std::uint64_t half = 0; half < 10'000; ++half) {
    for (const std::uint64_t number : {half, half * 10'000, half * 10'001})
      ASSERT_EQ(decimal(number), reference(number));
  }
}

template <class Real>
class DecimalTextOf : public testing::Test {
 protected:
  using Bits = std::conditional_t<std::is_same_v<Real, float>, std::uint32_t, std::uint64_t>;
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DecimalTextOf, Reals);

TYPED_TEST(DecimalTextOf, SpecialValues) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const TypeParam number :
       {TypeParam(0), Limits::min(), Limits::denorm_min(), Limits::max(), Limits::infinity(),
        Limits::quiet_NaN(), Limits::epsilon(), TypeParam(1e22), TypeParam(123456e10),
        TypeParam(1e15), TypeParam(1e16), TypeParam(1e17)})
    expect_reference(number);
  EXPECT_EQ(decimal(TypeParam(-0.0)), "-0");
  EXPECT_EQ(decimal(TypeParam(100000)), "1e+05");
  EXPECT_EQ(decimal(TypeParam(1200000)), "1200000");
  EXPECT_EQ(decimal(TypeParam(0.001)), "0.001");
  EXPECT_EQ(decimal(TypeParam(0.0001)), "1e-04");
  EXPECT_EQ(decimal(TypeParam(-0.5)), "-0.5");
}

TYPED_TEST(DecimalTextOf, Integers) {
  constexpr int digits = std::numeric_limits<TypeParam>::digits;
  // Around the powers of two, beyond those below which all integers are represented.
  for (int exponent = 0; exponent < digits + 4; ++exponent) {
    const auto power = static_cast<std::int64_t>(std::uint64_t{1} << exponent);
    for (std::int64_t number = std::max<std::int64_t>(power - 50, 0); number < power + 50; ++number)
      expect_reference(static_cast<TypeParam>(number));
  }
  // With any number of trailing zeros.
  for (std::int64_t power = 1; power < 1'000'000'000'000'000'000; power *= 10) {
    for (const int factor : {1, 2, 9, 10, 11, 12, 99, 101, 123, 999, 1001, 9007})
      expect_reference(static_cast<TypeParam>(power * (factor % 9)) +
                       static_cast<TypeParam>(factor));
    for (const std::int64_t factor : {1, 2, 5, 9})
      expect_reference(static_cast<TypeParam>(power * factor));
  }
  Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t number = random.next() >> (11 + random.below(53));
    expect_reference(static_cast<TypeParam>(number));
    expect_reference(static_cast<TypeParam>(number / 100'000 * 100'000));
  }
}

// Of 1 to 17 significant digits, and the numbers beside them.
TYPED_TEST(DecimalTextOf, Decimals) {
  Random random(3);
  for (int digits = 1; digits <= 17; ++digits) {
    for (int i = 0; i < 4000; ++i) {
      const auto exponent = static_cast<int>(random.below(30)) - 20;
      std::string text;
      for (int digit = 0; digit < digits; ++digit)
        text += static_cast<char>('0' + random.below(10));
      text += "e" + std::to_string(exponent);
      TypeParam number = 0;
      ASSERT_EQ(std::from_chars(text.data(), text.data() + text.size(), number).ec, std::errc());
      expect_reference(number);
      expect_reference(std::nextafter(number, TypeParam(0)));
      expect_reference(std::nextafter(number, std::numeric_limits<TypeParam>::max()));
    }
  }
}

// All short decimals of few digits, and those at the limits of the digits that are unique.
TYPED_TEST(DecimalTextOf, FixedPoint) {
  for (const int scale : {10, 1000, 100'000, 1'000'000}) {
    for (int i = 0; i < 20'000; ++i)
      expect_reference(static_cast<TypeParam>(i) / static_cast<TypeParam>(scale));
  }
  for (const double limit : {1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}) {
    TypeParam below = static_cast<TypeParam>(limit);
    TypeParam above = below;
    for (int i = 0; i < 200; ++i) {
      expect_reference(below);
      expect_reference(above);
      below = std::nextafter(below, TypeParam(0));
      above = std::nextafter(above, std::numeric_limits<TypeParam>::max());
    }
    for (int i = -200; i < 200; ++i) expect_reference(static_cast<TypeParam>(limit + i * 1e-8));
  }
}

// Any bits; all 2^32 floats agreed when this was written.
TYPED_TEST(DecimalTextOf, RandomBits) {
  Random random(4);
  for (int i = 0; i < 200'000; ++i) {
    const auto number =
        std::bit_cast<TypeParam>(static_cast<typename TestFixture::Bits>(random.next()));
    ASSERT_EQ(decimal(number), reference(number));
  }
}

}  // namespace
}  // namespace sortie::test
