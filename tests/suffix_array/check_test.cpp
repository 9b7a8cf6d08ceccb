// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

#include "sortie/error.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

namespace sortie::suffix_array {
namespace {

template <class Pos>
class CheckSuffixArray : public testing::Test {
 protected:
  /// The message of the check; empty when it holds.
  static std::string complaint(const test::NamedText& text, const std::vector<Pos>& suffixes) {
    try {
      check<Pos>(test::context(), text.view(), suffixes);
      return {};
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::check);
      return error.what();
    }
  }

  static std::vector<Pos> sorted(const test::NamedText& text) {
    return build<Pos>(test::context(), text.view());
  }
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(CheckSuffixArray, Widths);

TYPED_TEST(CheckSuffixArray, AcceptsSuffixArrays) {
  for (const test::NamedText& text : test::tricky_texts()) {
    EXPECT_EQ(this->complaint(text, this->sorted(text)), "") << text.name;
  }
}

TYPED_TEST(CheckSuffixArray, NamesTheFirstEntryAtFault) {
  const test::NamedText text = test::joined("", {"banana", "ban"});
  const std::vector<TypeParam> right = this->sorted(text);
  ASSERT_EQ(right, (std::vector<TypeParam>{6, 5, 8, 3, 1, 7, 0, 9, 4, 2}));

  std::vector<TypeParam> wrong = right;
  wrong.pop_back();
  EXPECT_EQ(this->complaint(text, wrong),
            "suffix array: found 9 entries, expected 10, one for each symbol");

  wrong = right;
  wrong[3] = 10;
  wrong[7] = 11;
  EXPECT_EQ(this->complaint(text, wrong),
            "suffix array, entry 3: found position 10, expected a position below 10");

  wrong = right;
  wrong[2] = 5;
  wrong[9] = 6;
  EXPECT_EQ(this->complaint(text, wrong),
            "suffix array, entry 2: found position 5 again after entry 1, expected each position "
            "once");

  wrong = right;
  std::swap(wrong[0], wrong[1]);
  EXPECT_EQ(this->complaint(text, wrong),
            "suffix array, entry 0: found position 5, expected position 6, where record 0 ends");

  wrong = right;
  std::swap(wrong[3], wrong[4]);
  EXPECT_EQ(this->complaint(text, wrong),
            "suffix array, entry 4: found position 3 after position 1, expected the smaller suffix "
            "first");
}

TYPED_TEST(CheckSuffixArray, RejectsAnySwapOfTwoEntries) {
  for (const test::NamedText& text :
       {test::single("", "mississippi"), test::single("", std::string(8, 'A')),
        test::joined("", {"AB", "AB", "", "A"})}) {
    const std::vector<TypeParam> right = this->sorted(text);
    for (std::size_t i = 0; i < right.size(); ++i) {
      for (std::size_t j = i + 1; j < right.size(); ++j) {
        std::vector<TypeParam> wrong = right;
        std::swap(wrong[i], wrong[j]);
        EXPECT_NE(this->complaint(text, wrong), "") << "entries " << i << " and " << j;
      }
    }
  }
}

TYPED_TEST(CheckSuffixArray, RejectsTheArrayOfAnotherText) {
  const test::NamedText text = test::single("", test::random_letters(10000, 4, 'A', 1));
  test::NamedText changed = text;
  changed.symbols[5000] = changed.symbols[5000] == 'A' ? 'B' : 'A';
  EXPECT_NE(this->complaint(changed, this->sorted(text)), "");
}

}  // namespace
}  // namespace sortie::suffix_array
