// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sortie/error.hpp"
#include "sortie/text.hpp"

namespace sortie::sequences {
namespace {

using testing::ElementsAre;

Text make_text(const std::vector<std::string>& parts) {
  Text text;
  for (const std::string& part : parts) {
    if (!text.records.empty()) text.symbols.push_back(Text::separator);
    text.records.push_back({"", text.symbols.size(), part.size()});
    text.symbols.insert(text.symbols.end(), part.begin(), part.end());
  }
  return text;
}

std::string symbols(const Text& text) {
  return {text.symbols.begin(), text.symbols.end()};
}

TEST(Ambiguity, BasesAreThoseOfDnaAndRnaInEitherCase) {
  int bases = 0;
  for (int symbol = 0; symbol < 256; ++symbol) {
    if (is_base(static_cast<std::uint8_t>(symbol))) ++bases;
  }
  EXPECT_EQ(bases, 10);
  for (const char base : std::string("ACGTUacgtu")) {
    EXPECT_TRUE(is_base(static_cast<std::uint8_t>(base)));
  }
}

TEST(Ambiguity, UnifiedLettersAreN) {
  Text text = make_text({"ACRYnaw", "-GTU"});
  unify_ambiguous(text.symbols);
  EXPECT_EQ(symbols(text), std::string("ACNNnan\0NGTU", 12));
}

TEST(Ambiguity, SeparatedLettersAreEndsLikeThoseOfRecords) {
  Text text = make_text({"NACRa", "", "GN"});
  EXPECT_THAT(separate_ambiguous(text), ElementsAre(0, 3, 5, 6, 8));
  EXPECT_EQ(symbols(text), std::string("\0AC\0a\0\0G\0", 9));
  EXPECT_EQ(text.records[0].length, 5u);
  EXPECT_EQ(text.records[2].offset, 7u);
}

TEST(Ambiguity, IsNamedAndParsed) {
  for (const Ambiguity ambiguity : {Ambiguity::keep, Ambiguity::unify, Ambiguity::separate}) {
    EXPECT_EQ(parse_ambiguity(name(ambiguity)), ambiguity);
  }
  EXPECT_THROW((void)parse_ambiguity("drop"), Error);
}

}  // namespace
}  // namespace sortie::sequences
