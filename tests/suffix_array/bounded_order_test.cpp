// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/suffix_array/program_calls.hpp"
#include "sortie/error.hpp"
#include "sortie/lcp.hpp"
#include "sortie/query.hpp"
#include "tests/suffix_array/patterns.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

namespace sortie::suffix_array {
namespace {

/// Positions by their first letters, then by position.
template <class Pos>
std::vector<Pos> by_definition(const test::NamedText& text, std::uint64_t letters) {
  std::vector<std::string> keys;
  const auto is_separator = [&](std::uint64_t p) {
    return std::binary_search(text.separators.begin(), text.separators.end(), p);
  };
  std::vector<Pos> positions;
  for (std::uint64_t p = 0; p < text.symbols.size(); ++p) {
    std::string key;
    for (std::uint64_t q = p; q < text.symbols.size() && !is_separator(q) && key.size() < letters;
         ++q) {
      key += static_cast<char>(text.symbols[q]);
    }
    keys.push_back(key);
    positions.push_back(static_cast<Pos>(p));
  }
  // std::string compares by unsigned bytes, a prefix first, as suffixes are compared.
  std::stable_sort(positions.begin(), positions.end(),
                   [&](Pos left, Pos right) { return keys[left] < keys[right]; });
  return positions;
}

template <class Pos>
class BoundedOrder : public testing::Test {
 protected:
  struct Arrays {
    std::vector<Pos> suffixes;
    std::vector<Pos> lcp;
  };
  static Arrays bounded(const test::NamedText& text, std::uint64_t letters) {
    Arrays arrays;
    arrays.suffixes = build<Pos>(test::context(), text.view());
    arrays.lcp = lcp_array<Pos>(test::context(), text.view(), arrays.suffixes);
    bound_order<Pos>(test::context(), arrays.suffixes, arrays.lcp, letters);
    return arrays;
  }
  static std::string fault(const test::NamedText& text, const std::vector<Pos>& suffixes,
                           std::uint64_t letters) {
    try {
      check_bounded_order<Pos>(test::context(), text.view(), suffixes, letters);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::check);
      return error.what();
    }
    return "";
  }
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(BoundedOrder, Widths);

TYPED_TEST(BoundedOrder, IsByFirstLettersThenByPosition) {
  const auto arrays = this->bounded(test::single("", "banana"), 2);
  // a, an(ana), an(a), ba, na(na), na
  EXPECT_EQ(arrays.suffixes, (std::vector<TypeParam>{5, 1, 3, 0, 2, 4}));
  EXPECT_EQ(arrays.lcp, (std::vector<TypeParam>{0, 1, 2, 0, 0, 2}));
}

TYPED_TEST(BoundedOrder, IsThatOfItsDefinition) {
  for (const test::NamedText& text : test::tricky_texts()) {
    if (text.symbols.size() > 5000) continue;  // the definition copies every beginning
    for (const std::uint64_t letters : {1, 2, 7, 100000}) {
      SCOPED_TRACE(text.name + " by " + std::to_string(letters));
      const auto arrays = this->bounded(text, letters);
      EXPECT_EQ(arrays.suffixes, by_definition<TypeParam>(text, letters));
      EXPECT_EQ(this->fault(text, arrays.suffixes, letters), "");
      for (const TypeParam entry : arrays.lcp) ASSERT_LE(entry, letters);
    }
  }
}

TYPED_TEST(BoundedOrder, AnswersQueriesUpToItsBound) {
  const test::NamedText text =
      test::joined("", {test::random_letters(3000, 2, 'A', 1), "ABBA", std::string(500, 'A')});
  const auto arrays = this->bounded(text, 8);
  const std::string all(text.symbols.begin(), text.symbols.end());
  std::vector<std::string> words;
  for (std::size_t i = 0; i < 200; ++i) words.push_back(all.substr(13 * i, 1 + i % 8));
  const test::Patterns patterns(words);
  const auto found =
      locate<TypeParam>(test::context(), text.view(), arrays.suffixes, patterns.view());
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(found.ranges[i], test::range_by_definition(text, arrays.suffixes, words[i]));
    if (words[i].size() < 8) continue;  // these agree in all that was compared
    const auto first = found.positions.begin();
    EXPECT_TRUE(std::is_sorted(first + static_cast<std::ptrdiff_t>(found.begins[i]),
                               first + static_cast<std::ptrdiff_t>(found.begins[i + 1])));
  }
}

TYPED_TEST(BoundedOrder, IsChecked) {
  const test::NamedText text = test::joined("", {"banana", "an"});
  // Separator 6; a5 an1 an3 an7 ba0 n8 na2 na4
  const std::vector<TypeParam> right = {6, 5, 1, 3, 7, 0, 8, 2, 4};
  EXPECT_EQ(this->bounded(text, 2).suffixes, right);
  EXPECT_EQ(this->fault(text, right, 2), "");
  auto wrong = right;
  std::swap(wrong[2], wrong[3]);
  EXPECT_EQ(this->fault(text, wrong, 2),
            "bounded order, entry 3: found position 1 after position 3, expected the smaller "
            "suffix first");
  EXPECT_EQ(this->fault(text, right, 3),
            "bounded order, entry 4: found position 7 after position 3, expected the smaller "
            "suffix first");
  wrong = right;
  wrong[4] = 3;
  EXPECT_EQ(this->fault(text, wrong, 2),
            "bounded order, entry 4: found position 3, expected each position below 9 once");
  wrong.pop_back();
  EXPECT_EQ(this->fault(text, wrong, 2),
            "bounded order: found 8 entries, expected 9, one for each symbol");
}

TYPED_TEST(BoundedOrder, RefusesNoLettersAndAnotherLcpArray) {
  std::vector<TypeParam> suffixes = {1, 0};
  std::vector<TypeParam> lcp = {0, 0};
  EXPECT_THROW(bound_order<TypeParam>(test::context(), suffixes, lcp, 0), Error);
  lcp.pop_back();
  EXPECT_THROW(bound_order<TypeParam>(test::context(), suffixes, lcp, 2), Error);
}

}  // namespace
}  // namespace sortie::suffix_array
