// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "apps/suffix_array/program_calls.hpp"
#include "sortie/error.hpp"
#include "tests/suffix_array/patterns.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

namespace sortie::suffix_array {
namespace {

std::uint64_t count_by_definition(const test::NamedText& text, const std::string& word) {
  std::uint64_t count = 0;
  for (std::uint64_t p = 0; p < text.symbols.size(); ++p) {
    if (test::compare_prefix(text, p, word) == 0) ++count;
  }
  return count;
}

TEST(PlainSearch, CountsWhatALookAtEveryPositionCounts) {
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    const std::string all(text.symbols.begin(), text.symbols.end());
    Random random(text.symbols.size());
    std::vector<std::string> words = {"",     "A", "A",      "AA", std::string(1, '\0'),
                                      "\xff", all, all + "A"};
    for (int i = 0; i < 30 && !all.empty(); ++i) {
      words.push_back(all.substr(random.below(all.size()), random.below(20)));
      words.push_back(words.back());  // twice the same
    }
    const test::Patterns patterns(words);
    const auto counts = count_by_plain_search(test::context(), text.view(), patterns.view());
    ASSERT_EQ(counts.size(), words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(counts[i], count_by_definition(text, words[i])) << i << ": " << words[i];
    }
  }
}

TEST(PlainSearch, RollsOverManyStretches) {
  // Longer than what one thread takes at a time, with a pattern on every border of records.
  std::string letters = test::random_letters(300000, 2, 'A', 1);
  test::NamedText text = test::single("", letters);
  for (std::uint64_t p = 1000; p < letters.size(); p += 65000) {
    text.separators.push_back(p);
    text.symbols[p] = 0;
  }
  std::vector<std::string> words;
  for (int i = 0; i < 64; ++i) words.push_back(letters.substr(4000 * i, 9));
  const test::Patterns patterns(words);
  const auto counts = count_by_plain_search(test::context(), text.view(), patterns.view());
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(counts[i], count_by_definition(text, words[i])) << words[i];
  }
}

// banana: entries 5 3 1 0 4 2.
class CheckOccurrences : public testing::Test {
 protected:
  test::NamedText text_ = test::single("", "banana");
  test::Patterns patterns_{{"ana", "nab", "n"}};
  Occurrences<std::uint32_t> right_{{{1, 3}, {5, 5}, {4, 6}}, {0, 2, 2, 4}, {3, 1, 4, 2}};

  [[nodiscard]] std::string fault(const Occurrences<std::uint32_t>& occurrences,
                                  std::uint64_t most_hits = all_hits) const {
    try {
      check_occurrences<std::uint32_t>(test::context(), text_.view(), patterns_.view(), occurrences,
                                       most_hits);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::check);
      return error.what();
    }
    return "";
  }
};

TEST_F(CheckOccurrences, PassesWhatIsRight) {
  EXPECT_EQ(fault(right_), "");
  EXPECT_EQ(fault({right_.ranges, {0, 1, 1, 2}, {3, 4}}, 1), "");
  EXPECT_EQ(fault({right_.ranges, {0, 0, 0, 0}, {}}, 0), "");
}

TEST_F(CheckOccurrences, NamesWhatIsWrong) {
  auto wrong = right_;
  wrong.ranges[1].end = 6;
  EXPECT_EQ(fault(wrong), "suffix array query, pattern 1: found 1 occurrences, expected 0");
  wrong = right_;
  wrong.positions[1] = 3;
  EXPECT_EQ(fault(wrong), "suffix array query, pattern 0: found position 3 twice");
  wrong = right_;
  wrong.positions[2] = 3;
  EXPECT_EQ(fault(wrong),
            "suffix array query, pattern 2: found position 3, where the text has "
            "other letters");
  wrong.positions[2] = 6;
  EXPECT_EQ(fault(wrong),
            "suffix array query, pattern 2: found position 6, where the text has "
            "other letters");
  EXPECT_EQ(fault(right_, 1), "suffix array query, pattern 0: found 2 positions, expected 1");
  wrong = right_;
  wrong.ranges.pop_back();
  EXPECT_EQ(fault(wrong),
            "suffix array query: found results of 2 patterns, 4 positions, expected 3 and 4");
}

}  // namespace
}  // namespace sortie::suffix_array
