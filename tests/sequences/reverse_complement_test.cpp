// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "sortie/error.hpp"
#include "sortie/text.hpp"

namespace sortie::sequences {
namespace {

Text make_text(const std::vector<std::pair<std::string, std::string>>& parts) {
  Text text;
  for (const auto& [name, letters] : parts) {
    if (!text.records.empty()) text.symbols.push_back(Text::separator);
    text.records.push_back({name, text.symbols.size(), letters.size()});
    text.symbols.insert(text.symbols.end(), letters.begin(), letters.end());
  }
  return text;
}

std::string letters_of(const Text& text, std::size_t record) {
  const auto begin =
      text.symbols.begin() + static_cast<std::ptrdiff_t>(text.records[record].offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(text.records[record].length)};
}

TEST(ReverseComplement, PairsEveryCode) {
  const std::string codes = "ACGTRYSWKMBDHVN-acgtrn";
  const std::string paired = "TGCAYRSWMKVHDBN-tgcayn";
  for (std::size_t i = 0; i < codes.size(); ++i) {
    EXPECT_EQ(complement(static_cast<std::uint8_t>(codes[i])), static_cast<std::uint8_t>(paired[i]))
        << codes[i];
  }
  EXPECT_EQ(complement('A', true), 'U');
  EXPECT_EQ(complement('u'), 'a');
  EXPECT_EQ(complement('u', true), 'a');
  EXPECT_EQ(complement('E'), 0);
  EXPECT_EQ(complement(Text::separator), 0);
}

TEST(ReverseComplement, IsAppendedRecordByRecord) {
  Text text = make_text({{"x first", "AACGn"}, {"", ""}, {"y", "TR"}});
  append_reverse_complements(text);
  ASSERT_EQ(text.records.size(), 6u);
  EXPECT_EQ(letters_of(text, 0), "AACGn");
  EXPECT_EQ(letters_of(text, 3), "nCGTT");
  EXPECT_EQ(letters_of(text, 4), "");
  EXPECT_EQ(letters_of(text, 5), "YA");
  EXPECT_EQ(text.records[3].name, "x/reverse-complement first");
  EXPECT_EQ(text.records[4].name, "/reverse-complement");
  EXPECT_EQ(std::string(text.symbols.begin(), text.symbols.end()),
            std::string("AACGn\0\0TR\0nCGTT\0\0YA", 19));
  for (const std::uint64_t position : text.separators()) {
    EXPECT_EQ(text.symbols[position], Text::separator);
  }
}

TEST(ReverseComplement, OfRnaIsRna) {
  Text text = make_text({{"", "AUGC"}});
  append_reverse_complements(text);
  EXPECT_EQ(letters_of(text, 1), "GCAU");
}

TEST(ReverseComplement, OfNoLetters) {
  Text text;
  append_reverse_complements(text);
  EXPECT_TRUE(text.symbols.empty());
  text = make_text({{"", ""}});
  append_reverse_complements(text);
  EXPECT_EQ(text.records.size(), 2u);
  EXPECT_EQ(text.symbols.size(), 1u);
}

TEST(ReverseComplement, RefusesOtherLetters) {
  Text text = make_text({{"x", "AC"}, {"y", "ACEG"}});
  try {
    append_reverse_complements(text);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_STREQ(error.what(),
                 "reverse complement, record 2 (\"y\"), offset 2: found \"E\", expected a "
                 "nucleotide");
  }
  EXPECT_EQ(text.records.size(), 2u);
}

}  // namespace
}  // namespace sortie::sequences
