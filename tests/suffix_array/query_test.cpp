// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "apps/suffix_array/program_calls.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "sortie/query.hpp"
#include "sortie/run_report.hpp"
#include "tests/suffix_array/patterns.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

namespace sortie::suffix_array {
namespace {

template <class Pos>
class Query : public testing::Test {
 protected:
  /// Looks for the patterns and compares every range with what a look at all suffixes gives.
  static void expect_right(const test::NamedText& text, const std::vector<std::string>& words) {
    const auto suffixes = build<Pos>(test::context(), text.view());
    const test::Patterns patterns(words);
    const auto ranges = find<Pos>(test::context(), text.view(), suffixes, patterns.view());
    ASSERT_EQ(ranges.size(), words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      SCOPED_TRACE("pattern " + std::to_string(i) + ": " + words[i]);
      EXPECT_EQ(ranges[i], test::range_by_definition(text, suffixes, words[i]));
    }
  }
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Query, Widths);

TYPED_TEST(Query, CountsAndLocates) {
  const test::NamedText text = test::single("", "banana");
  const std::vector<TypeParam> suffixes = {5, 3, 1, 0, 4, 2};
  const test::Patterns patterns({"ana", "nab", "", "banana", "bananas", "A", "z"});
  const auto ranges = find<TypeParam>(test::context(), text.view(), suffixes, patterns.view());
  EXPECT_EQ(ranges,
            (std::vector<EntryRange>{{1, 3}, {5, 5}, {0, 6}, {3, 4}, {4, 4}, {0, 0}, {6, 6}}));
  EXPECT_EQ(ranges[0].count(), 2U);
}

TYPED_TEST(Query, FindsWhatALookAtAllSuffixesFinds) {
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    const std::string all(text.symbols.begin(), text.symbols.end());
    Random random(text.symbols.size());
    std::vector<std::string> words = {"", "A", "B", std::string(1, '\0'), "\xff", "AAAAAAAA", all};
    for (int i = 0; i < 20 && !all.empty(); ++i) {
      std::string word = all.substr(random.below(all.size()), random.below(40));
      words.push_back(word);  // may hold a separator, and then occurs nowhere as letters
      if (!word.empty()) ++word[random.below(word.size())];
      words.push_back(word);
      words.push_back(word + "A");
    }
    this->expect_right(text, words);
  }
}

TYPED_TEST(Query, FindsEveryWordOfTwoLettersInAllShortTexts) {
  std::vector<std::string> words = {""};
  for (std::size_t i = 0; i < 15; ++i) {
    words.push_back(words[i] + "A");
    words.push_back(words[i] + "B");
  }
  for (std::size_t number = 0; number < 243; number += 2) {  // five of A, B and separator
    test::NamedText text;
    for (std::size_t i = 0, rest = number; i < 5; ++i, rest /= 3) {
      if (rest % 3 == 0) text.separators.push_back(i);
      text.symbols.push_back(static_cast<std::uint8_t>(rest % 3 == 0 ? 'A' : '@' + rest % 3));
    }
    SCOPED_TRACE(number);
    this->expect_right(text, words);
    if (this->HasFailure()) return;
    if (test::backend() == Backend::cuda) number += 20;  // no GPU run for each
  }
}

TYPED_TEST(Query, FindsEvery32LettersOfARealGenome) {
  const sequences::Text genome = sequences::read_fasta(
      test::context(), std::string(SORTIE_TEST_DATA) + "/sequences/valid/lambda_phage.fa.gz");
  const test::NamedText text{"lambda", genome.symbols, genome.separators()};
  const auto suffixes = build<TypeParam>(test::context(), text.view());
  const std::string all(text.symbols.begin(), text.symbols.end());
  std::vector<std::string> words;
  for (std::size_t p = 0; p + 32 <= all.size(); ++p) words.push_back(all.substr(p, 32));
  const test::Patterns patterns(words);
  const auto ranges = find<TypeParam>(test::context(), text.view(), suffixes, patterns.view());
  ASSERT_EQ(ranges.size(), words.size());
  for (std::size_t p = 0; p < words.size(); ++p) {
    const auto begin = suffixes.begin() + static_cast<std::ptrdiff_t>(ranges[p].begin);
    const auto end = suffixes.begin() + static_cast<std::ptrdiff_t>(ranges[p].end);
    ASSERT_NE(std::find(begin, end, p), end) << "position " << p;
    for (auto place = begin; place != end; ++place) {
      ASSERT_EQ(all.compare(*place, 32, words[p]), 0) << "position " << *place;
    }
  }
}

TYPED_TEST(Query, LocatesInTheOrderOfTheSuffixArrayUpToABound) {
  const test::NamedText text = test::single("", "banana");
  const std::vector<TypeParam> suffixes = {5, 3, 1, 0, 4, 2};
  const test::Patterns patterns({"ana", "nab", "", "banana"});
  Context context = test::context();
  RunReport report;
  context.report = &report;
  const auto all = locate<TypeParam>(context, text.view(), suffixes, patterns.view());
  EXPECT_EQ(all.ranges, (std::vector<EntryRange>{{1, 3}, {5, 5}, {0, 6}, {3, 4}}));
  EXPECT_EQ(all.begins, (std::vector<std::uint64_t>{0, 2, 2, 8, 9}));
  EXPECT_EQ(all.positions, (std::vector<TypeParam>{3, 1, 5, 3, 1, 0, 4, 2, 0}));
  const bool has_device_seconds =
      std::any_of(report.figures().begin(), report.figures().end(),
                  [](const auto& figure) { return figure.first == "device_search_seconds"; });
  EXPECT_EQ(has_device_seconds, test::backend() == Backend::cuda);
  const auto some = locate<TypeParam>(test::context(), text.view(), suffixes, patterns.view(), 2);
  EXPECT_EQ(some.ranges, all.ranges);
  EXPECT_EQ(some.begins, (std::vector<std::uint64_t>{0, 2, 2, 4, 5}));
  EXPECT_EQ(some.positions, (std::vector<TypeParam>{3, 1, 5, 3, 0}));
  const auto none = locate<TypeParam>(test::context(), text.view(), suffixes, patterns.view(), 0);
  EXPECT_EQ(none.ranges, all.ranges);
  EXPECT_TRUE(none.positions.empty());
}

TYPED_TEST(Query, LocatesWhatASearchOfTheTextFinds) {
  const std::string letters = test::random_letters(20000, 2, 'A', 7);
  for (const test::NamedText& text :
       {test::single("one record", letters), test::single("one letter", std::string(3000, 'A')),
        test::joined("records", {letters.substr(0, 9000), "", "AB", letters.substr(5000)})}) {
    SCOPED_TRACE(text.name);
    const auto suffixes = build<TypeParam>(test::context(), text.view());
    std::vector<std::string> words = {"A", "B", letters, "C"};
    for (std::size_t i = 0; i < 1000; ++i) words.push_back(letters.substr(7 * i, 3 + i % 30));
    const test::Patterns patterns(words);
    for (const std::uint64_t most : {all_hits, std::uint64_t{5}, std::uint64_t{0}}) {
      const auto found =
          locate<TypeParam>(test::context(), text.view(), suffixes, patterns.view(), most);
      EXPECT_NO_THROW(
          check_occurrences<TypeParam>(test::context(), text.view(), patterns.view(), found, most));
    }
  }
}

TYPED_TEST(Query, TakesEmptyTextsAndNoPatterns) {
  const test::Patterns patterns({"A", ""});
  EXPECT_EQ(find<TypeParam>(test::context(), {}, {}, patterns.view()),
            (std::vector<EntryRange>{{0, 0}, {0, 0}}));
  const test::NamedText text = test::single("", "A");
  const std::vector<TypeParam> suffixes = {0};
  EXPECT_TRUE(find<TypeParam>(test::context(), text.view(), suffixes, {}).empty());
  const auto nothing = locate<TypeParam>(test::context(), {}, {}, patterns.view());
  EXPECT_EQ(nothing.ranges, (std::vector<EntryRange>{{0, 0}, {0, 0}}));
  EXPECT_EQ(nothing.begins, (std::vector<std::uint64_t>{0, 0, 0}));
  EXPECT_EQ(locate<TypeParam>(test::context(), text.view(), suffixes, {}).begins,
            std::vector<std::uint64_t>{0});
}

TYPED_TEST(Query, RefusesBeginsOutOfOrderAndArraysOfAnotherText) {
  const test::NamedText text = test::single("", "banana");
  const std::vector<TypeParam> suffixes = {5, 3, 1, 0, 4, 2};
  const std::vector<std::uint8_t> letters = {'a', 'n', 'a'};
  const auto kind_of = [&](const std::vector<std::uint64_t>& begins,
                           const std::vector<TypeParam>& array) {
    try {
      (void)find<TypeParam>(test::context(), text.view(), array, {letters, begins});
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage;
    }
    return false;
  };
  EXPECT_TRUE(kind_of({0, 2, 1}, suffixes));
  EXPECT_TRUE(kind_of({0, 4}, suffixes));
  EXPECT_TRUE(kind_of({0, 3}, {5, 3, 1}));
  EXPECT_FALSE(kind_of({0, 3}, suffixes));
}

}  // namespace
}  // namespace sortie::suffix_array
