// SPDX-License-Identifier: Apache-2.0

// Keys of every kind as unsigned words: in the order of the kind, and back.

#include "primitives/key_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/random.hpp"

namespace sortie::test {
namespace {

/// Whether word `a` precedes `b`, by the definition of the kind: of floating-point numbers, those
/// with the sign bit come first, the greatest magnitude first of all (IEEE 754 totalOrder).
template <class Word>
bool precedes(Word a, Word b, KeyKind kind) {
  using Signed = std::make_signed_t<Word>;
  constexpr Word sign = static_cast<Word>(Word{1} << (std::numeric_limits<Word>::digits - 1));
  if (kind == KeyKind::unsigned_integer) return a < b;
  if (kind == KeyKind::signed_integer) return static_cast<Signed>(a) < static_cast<Signed>(b);
  if ((a & sign) != (b & sign)) return (a & sign) != 0;
  return (a & sign) != 0 ? b < a : a < b;
}

/// All words of 8 and 16 bits; of longer ones, those at the borders of signs and exponents, and
/// random ones.
template <class Word>
std::vector<Word> words() {
  std::vector<Word> all;
  if constexpr (sizeof(Word) <= 2) {
    for (std::uint32_t word = 0; word <= std::numeric_limits<Word>::max(); ++word)
      all.push_back(static_cast<Word>(word));
  } else {
    Random random(sizeof(Word));
    for (int bit = 0; bit < std::numeric_limits<Word>::digits; ++bit)
      for (const int around : {-1, 0, 1})
        for (const bool inverted : {false, true}) {
          const Word word = (Word{1} << bit) + static_cast<Word>(around);
          all.push_back(inverted ? static_cast<Word>(~word) : word);
        }
    for (int i = 0; i < 10'000; ++i) all.push_back(static_cast<Word>(random()));
  }
  return all;
}

template <class Word>
class KeyCodecTest : public testing::Test {};
using Words = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(KeyCodecTest, Words);

TYPED_TEST(KeyCodecTest, KeepsTheOrderOfEveryKindInBothDirections) {
  using Word = TypeParam;
  for (const KeyKind kind :
       {KeyKind::unsigned_integer, KeyKind::signed_integer, KeyKind::floating_point}) {
    std::vector<Word> sorted = words<Word>();
    std::sort(sorted.begin(), sorted.end(), [&](Word a, Word b) { return precedes(a, b, kind); });
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (const Order order : {Order::ascending, Order::descending}) {
      const KeyCodec<Word> codec(kind, order);
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        ASSERT_EQ(codec.decoded(codec.encoded(sorted[i])), sorted[i]);
        if (i == 0) continue;
        const Word before = codec.encoded(sorted[i - 1]);
        const Word after = codec.encoded(sorted[i]);
        ASSERT_TRUE(order == Order::ascending ? before < after : after < before)
            << "words " << +sorted[i - 1] << " and " << +sorted[i];
      }
      std::vector<Word> array = sorted;
      codec.encode(array.data(), array.size());
      for (std::size_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(array[i], codec.encoded(sorted[i]));
      codec.decode(array.data(), array.size());
      ASSERT_EQ(array, sorted);
    }
  }
}

TEST(KeyCodec, OnlyThatOfAscendingUnsignedKeysIsTheIdentity) {
  EXPECT_TRUE(KeyCodec<std::uint32_t>().is_identity());
  EXPECT_TRUE(KeyCodec<std::uint8_t>(KeyKind::unsigned_integer, Order::ascending).is_identity());
  EXPECT_FALSE(KeyCodec<std::uint8_t>(KeyKind::unsigned_integer, Order::descending).is_identity());
  EXPECT_FALSE(KeyCodec<std::uint64_t>(KeyKind::signed_integer, Order::ascending).is_identity());
  EXPECT_FALSE(KeyCodec<std::uint64_t>(KeyKind::floating_point, Order::ascending).is_identity());
}

TEST(KeyCodec, AgreesWithTheOrderOfFloatingPointNumbers) {
  const std::vector<float> numbers = {-std::numeric_limits<float>::quiet_NaN(),
                                      -std::numeric_limits<float>::infinity(),
                                      -1.5F,
                                      -std::numeric_limits<float>::denorm_min(),
                                      -0.0F,
                                      0.0F,
                                      std::numeric_limits<float>::denorm_min(),
                                      1.5F,
                                      std::numeric_limits<float>::infinity(),
                                      std::numeric_limits<float>::quiet_NaN()};
  const KeyCodec<std::uint32_t> codec(KeyKind::floating_point, Order::ascending);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    ASSERT_TRUE(std::strong_order(numbers[i - 1], numbers[i]) < 0);
    EXPECT_LT(codec.encoded(std::bit_cast<std::uint32_t>(numbers[i - 1])),
              codec.encoded(std::bit_cast<std::uint32_t>(numbers[i])));
  }
}

TEST(KeyCodec, EncodesKeysOf32BitsInWordsOf64) {
  for (const KeyKind kind :
       {KeyKind::unsigned_integer, KeyKind::signed_integer, KeyKind::floating_point})
    for (const Order order : {Order::ascending, Order::descending}) {
      const KeyCodec<std::uint32_t> codec(kind, order);
      for (const std::uint32_t word : words<std::uint32_t>())
        ASSERT_EQ(codec.encoded_word(word), codec.encoded(word));
    }
}

}  // namespace
}  // namespace sortie::test
