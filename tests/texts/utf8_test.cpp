// SPDX-License-Identifier: Apache-2.0
#include "texts/utf8.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

#include "sortie/corpus.hpp"

namespace sortie::texts {
namespace {

using namespace std::string_view_literals;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Utf8, ValidPrefixes) {
  EXPECT_EQ(valid_prefix(bytes_of("")), 0U);
  EXPECT_EQ(valid_prefix(bytes_of("plain text of more than 8 bytes")), 31U);
  EXPECT_EQ(valid_prefix(bytes_of("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80")), 9U);
  EXPECT_EQ(valid_prefix(bytes_of("a\xff")), 1U);
  EXPECT_EQ(valid_prefix(bytes_of("ab\xc0\x80")), 2U);          // a long form
  EXPECT_EQ(valid_prefix(bytes_of("ab\xe0\x9f\xbf")), 2U);      // a long form
  EXPECT_EQ(valid_prefix(bytes_of("ab\xed\xa0\x80")), 2U);      // a surrogate
  EXPECT_EQ(valid_prefix(bytes_of("ab\xf4\x90\x80\x80")), 2U);  // beyond U+10FFFF
  EXPECT_EQ(valid_prefix(bytes_of("ab\xe2\x82")), 2U);          // not complete
  EXPECT_EQ(valid_prefix(bytes_of("\0\x7f"sv)), 2U);
}

TEST(Utf8, RandomBytesAreJudgedAsTheFastCheckDoes) {
  std::mt19937 random(1);
  constexpr std::string_view frequent = "a\x80\xbf\xc3\xe0\xe2\xed\x9f\xa0\xf0\xf4\x8f\x90\xff";
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 12, 'x');
    for (char& byte : text) byte = frequent[random() % frequent.size()];
    EXPECT_EQ(valid_prefix(bytes_of(text)) == text.size(), is_utf8(bytes_of(text)));
  }
}

TEST(Utf8, IncompleteTails) {
  EXPECT_EQ(incomplete_tail(bytes_of("")), 0U);
  EXPECT_EQ(incomplete_tail(bytes_of("a")), 0U);
  EXPECT_EQ(incomplete_tail(bytes_of("a\xc3")), 1U);
  EXPECT_EQ(incomplete_tail(bytes_of("a\xc3\xa9")), 0U);
  EXPECT_EQ(incomplete_tail(bytes_of("a\xf0\x9f\x98")), 3U);
  EXPECT_EQ(incomplete_tail(bytes_of("a\xe2\x82")), 2U);
  EXPECT_EQ(incomplete_tail(bytes_of("a\x82\x82\x82\x82")), 0U);
  EXPECT_EQ(incomplete_tail(bytes_of("a\xff")), 0U);
  EXPECT_EQ(incomplete_tail(bytes_of("\xe0\x80")), 0U);  // no character goes on like this
}

TEST(Utf8, RangesShrinkToWholeCharacters) {
  const auto text = bytes_of("a\xe2\x82\xac\xf0\x9f\x98\x80z");  // 1 + 3 + 4 + 1 bytes
  EXPECT_EQ(whole_characters(text, {0, 9}), (ByteRange{0, 9}));
  EXPECT_EQ(whole_characters(text, {1, 4}), (ByteRange{1, 4}));
  EXPECT_EQ(whole_characters(text, {2, 9}), (ByteRange{4, 9}));
  EXPECT_EQ(whole_characters(text, {0, 7}), (ByteRange{0, 4}));
  EXPECT_EQ(whole_characters(text, {3, 8}), (ByteRange{4, 8}));
  const ByteRange none = whole_characters(text, {5, 7});
  EXPECT_EQ(none.begin, none.end);
  // Bytes that are not UTF-8 are kept apart.
  EXPECT_EQ(whole_characters(bytes_of("\x82\x82\x82"), {1, 2}), (ByteRange{1, 2}));
  EXPECT_EQ(whole_characters(bytes_of("\xe2\x82"), {1, 2}), (ByteRange{1, 2}));
}

}  // namespace
}  // namespace sortie::texts
