// SPDX-License-Identifier: Apache-2.0
#include "sortie/float16.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sortie::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T>
class Float16Test : public testing::Test {
 protected:
  static T of_bits(std::uint32_t bits) {
    return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
  }
  static constexpr std::uint32_t infinite = std::is_same_v<T, Float16> ? 0x7c00 : 0x7f80;
};
using Types16 = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(Float16Test, Types16);

TYPED_TEST(Float16Test, EveryNumberSurvivesTheWayToFloatAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float number{this->of_bits(bits)};
    ASSERT_EQ(std::isnan(number), (bits & 0x7fff) > this->infinite) << bits;
    if (std::isnan(number)) {
      ASSERT_TRUE(std::isnan(float{TypeParam(number)})) << bits;
    } else {
      ASSERT_EQ(TypeParam(number).bits, bits);
    }
  }
}

// The numbers between two neighbours, of both signs; beyond the last one is infinity.
TYPED_TEST(Float16Test, RoundsToTheNearestOrEven) {
  for (std::uint32_t bits = 0; bits < this->infinite; ++bits) {
    const double low = float{this->of_bits(bits)};
    const double high = bits + 1 < this->infinite ? float{this->of_bits(bits + 1)}
                                                  : 2 * low - float{this->of_bits(bits - 1)};
    if (high > std::numeric_limits<float>::max()) break;
    const auto middle = static_cast<float>((low + high) / 2);
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const auto rounded = [&](float number) {
        return std::uint32_t{TypeParam(sign != 0 ? -number : number).bits};
      };
      ASSERT_EQ(rounded(middle), (bits + bits % 2) | sign);
      ASSERT_EQ(rounded(std::nextafter(middle, 0.0F)), bits | sign);
      ASSERT_EQ(rounded(std::nextafter(middle, infinity)), (bits + 1) | sign);
    }
  }
}

TEST(Float16, KnownNumbers) {
  EXPECT_EQ(Float16(1).bits, 0x3c00);
  EXPECT_EQ(Float16(-2).bits, 0xc000);
  EXPECT_EQ(float{Float16(65504)}, 65504);
  EXPECT_EQ(float{Float16(65520)}, infinity);
  EXPECT_EQ(BFloat16(1).bits, 0x3f80);
  EXPECT_EQ(float{BFloat16(257)}, 256);
  EXPECT_TRUE(Float16(0) == Float16(-0.0F));
  EXPECT_FALSE(Float16(NAN) == Float16(NAN));
}

}  // namespace
}  // namespace sortie::test
