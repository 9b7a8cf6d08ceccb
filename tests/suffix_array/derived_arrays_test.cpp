// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sortie/burrows_wheeler.hpp"
#include "sortie/documents.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "sortie/lcp.hpp"
#include "sortie/run_report.hpp"
#include "tests/suffix_array/lcp_definition.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

// LCP array, Burrows-Wheeler transform and inverse, by either backend.
namespace sortie::suffix_array {
namespace {

template <class Pos>
class DerivedArrays : public testing::Test {
 protected:
  static std::vector<Pos> sorted(const test::NamedText& text) {
    return build<Pos>(test::context(), text.view());
  }
  static std::vector<Pos> lcp(const test::NamedText& text, const std::vector<Pos>& suffixes) {
    return lcp_array<Pos>(test::context(), text.view(), suffixes);
  }
  /// The message of the check; empty when it holds.
  static std::string complaint(const test::NamedText& text, const std::vector<Pos>& suffixes,
                               const std::vector<Pos>& lcp) {
    try {
      check_lcp<Pos>(test::context(), text.view(), suffixes, lcp);
      return {};
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::check);
      return error.what();
    }
  }
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DerivedArrays, Widths);

TYPED_TEST(DerivedArrays, LcpEqualsItsDefinition) {
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    const auto suffixes = this->sorted(text);
    const auto lcp = this->lcp(text, suffixes);
    EXPECT_EQ(lcp, test::lcp_by_definition(text.view(), suffixes));
    EXPECT_EQ(this->complaint(text, suffixes, lcp), "");
  }
}

TYPED_TEST(DerivedArrays, AreMadeByTheHostWhereTheDeviceHasNoRoom) {
  if (test::backend() != Backend::cuda) GTEST_SKIP() << "for CUDA only";
  const test::NamedText text =
      test::joined("", {test::random_letters(300000, 4, 'A', 3), "A", test::fibonacci(100000)});
  const std::uint64_t size = text.symbols.size();
  const auto suffixes = this->sorted(text);
  const std::vector<std::uint64_t> begins = {0, 300001, 300003};
  const auto on_device = test::context();
  RunReport report;
  Context context = test::context();
  context.report = &report;
  // Room for text and suffix array, and not for what follows; none for the suffix array.
  for (const std::uint64_t budget :
       {size * (sizeof(TypeParam) + 1) + 3 * size / 4, 12 * size / 10}) {
    context.memory_budget = std::max<std::uint64_t>(budget, size * sizeof(TypeParam));
    EXPECT_EQ(lcp_array<TypeParam>(context, text.view(), suffixes),
              lcp_array<TypeParam>(on_device, text.view(), suffixes));
    EXPECT_EQ(burrows_wheeler_transform<TypeParam>(context, text.view(), suffixes),
              burrows_wheeler_transform<TypeParam>(on_device, text.view(), suffixes));
    EXPECT_EQ(inverse_suffix_array<TypeParam>(context, suffixes),
              inverse_suffix_array<TypeParam>(on_device, suffixes));
    EXPECT_EQ(document_array<TypeParam>(context, suffixes, begins),
              document_array<TypeParam>(on_device, suffixes, begins));
  }
  std::vector<std::string> figures;
  for (const auto& [key, value] : report.figures()) figures.push_back(key);
  EXPECT_THAT(figures, testing::IsSupersetOf(
                           {"lcp_on_host", "bwt_on_host", "inverse_on_host", "documents_on_host"}));
}

TYPED_TEST(DerivedArrays, LcpOfAllShortTextsEqualsItsDefinition) {
  // Every text of up to seven symbols A, B and separator.
  for (std::size_t length = 1, texts = 3; length <= 7; ++length, texts *= 3) {
    for (std::size_t number = 0; number < texts; ++number) {
      test::NamedText text;
      std::size_t rest = number;
      for (std::size_t i = 0; i < length; ++i, rest /= 3) {
        if (rest % 3 == 0) text.separators.push_back(i);
        text.symbols.push_back(static_cast<std::uint8_t>(rest % 3 == 0 ? 0 : 'A' + rest % 3));
      }
      const auto suffixes = this->sorted(text);
      const auto lcp = this->lcp(text, suffixes);
      ASSERT_EQ(lcp, test::lcp_by_definition(text.view(), suffixes)) << number << " of " << length;
      ASSERT_EQ(this->complaint(text, suffixes, lcp), "") << number << " of " << length;
      // No GPU run for each: the same kernels again and again.
      if (test::backend() == Backend::cuda) number += 40;
    }
  }
}

TYPED_TEST(DerivedArrays, LcpOfLongRepeatsPassesTheCheck) {
  const std::string repeat = test::random_letters(60000, 4, 'A', 3);
  for (const test::NamedText& text :
       {test::single("copies", repeat + "C" + repeat + "A" + repeat),
        test::single("one_letter", std::string(200000, 'A')),
        test::single("fibonacci", test::fibonacci(150000)),
        test::joined("records", {repeat, "A" + repeat, repeat.substr(100), std::string(90000, 'N'),
                                 std::string(70000, 'N') + repeat})}) {
    SCOPED_TRACE(text.name);
    const auto suffixes = this->sorted(text);
    const auto lcp = this->lcp(text, suffixes);
    EXPECT_EQ(this->complaint(text, suffixes, lcp), "");
    // The longest repeat is known: a check that accepts anything would not find it.
    const auto longest = static_cast<std::uint64_t>(*std::max_element(lcp.begin(), lcp.end()));
    EXPECT_GE(longest, 60000U);
  }
}

TYPED_TEST(DerivedArrays, EqualTheirDefinitionsOnARealGenome) {
  const sequences::Text genome = sequences::read_fasta(
      test::context(), std::string(SORTIE_TEST_DATA) + "/sequences/valid/lambda_phage.fa.gz");
  const test::NamedText text{"lambda", genome.symbols, genome.separators()};
  const auto suffixes = this->sorted(text);
  EXPECT_EQ(this->lcp(text, suffixes), test::lcp_by_definition(text.view(), suffixes));
}

TYPED_TEST(DerivedArrays, TheCheckFindsAnyWrongEntry) {
  for (const test::NamedText& text :
       {test::single("", "mississippi"), test::single("", std::string(9, 'A')),
        test::joined("", {"AB", "ABAB", "", "A"})}) {
    const auto suffixes = this->sorted(text);
    const auto right = test::lcp_by_definition(text.view(), suffixes);
    ASSERT_EQ(this->complaint(text, suffixes, right), "");
    for (std::size_t i = 0; i < right.size(); ++i) {
      for (TypeParam value = 0; value <= right.size() + 1; ++value) {
        if (value == right[i]) continue;
        auto wrong = right;
        wrong[i] = value;
        EXPECT_NE(this->complaint(text, suffixes, wrong), "") << "entry " << i << " as " << value;
      }
    }
    // All of a chain of entries that follow from each other.
    auto wrong = right;
    for (std::size_t i = 1; i < wrong.size(); ++i) ++wrong[i];
    EXPECT_NE(this->complaint(text, suffixes, wrong), "");
  }
}

TYPED_TEST(DerivedArrays, TheCheckNamesTheEntry) {
  const test::NamedText text = test::single("", "banana");
  const std::vector<TypeParam> suffixes = {5, 3, 1, 0, 4, 2};
  EXPECT_EQ(this->complaint(text, suffixes, {0, 1, 2, 0, 0, 2}),
            "LCP array, entry 2: found 2, but positions 3 and 1 have 3 letters in common");
  EXPECT_EQ(this->complaint(text, suffixes, {1, 1, 3, 0, 0, 2}),
            "LCP array, entry 0: found 1, expected 0");
  EXPECT_EQ(this->complaint(text, suffixes, {0, 1, 3}), "LCP array: found 3 entries, expected 6");
}

TYPED_TEST(DerivedArrays, TransformHasTheSymbolsBeforeTheSuffixes) {
  const test::NamedText banana = test::single("", "banana");
  EXPECT_THAT(
      burrows_wheeler_transform<TypeParam>(test::context(), banana.view(), this->sorted(banana)),
      testing::ElementsAre('n', 'n', 'b', 'a', 'a', 'a'));
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    const auto suffixes = this->sorted(text);
    auto transform = burrows_wheeler_transform<TypeParam>(test::context(), text.view(), suffixes);
    std::vector<std::uint8_t> expected(suffixes.size());
    for (std::size_t i = 0; i < suffixes.size(); ++i) {
      expected[i] = suffixes[i] == 0 ? text.symbols.back() : text.symbols[suffixes[i] - 1];
    }
    ASSERT_EQ(transform, expected);
    EXPECT_NO_THROW(
        check_burrows_wheeler<TypeParam>(test::context(), text.view(), suffixes, transform));
    if (transform.empty()) continue;
    ++transform[transform.size() / 2];
    EXPECT_THROW(
        check_burrows_wheeler<TypeParam>(test::context(), text.view(), suffixes, transform), Error);
  }
}

TYPED_TEST(DerivedArrays, InverseUndoesTheSuffixArray) {
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    const auto suffixes = this->sorted(text);
    const auto inverse = inverse_suffix_array<TypeParam>(test::context(), suffixes);
    ASSERT_EQ(inverse.size(), suffixes.size());
    for (std::size_t i = 0; i < suffixes.size(); ++i) ASSERT_EQ(inverse[suffixes[i]], i);
  }
}

TYPED_TEST(DerivedArrays, RefuseArraysThatDoNotFitTheText) {
  const test::NamedText text = test::single("", "banana");
  const std::vector<TypeParam> short_array = {5, 3, 1};
  const auto is_usage = [](const auto& work) {
    try {
      work();
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage;
    }
  };
  EXPECT_TRUE(is_usage([&] { (void)this->lcp(text, short_array); }));
  EXPECT_TRUE(is_usage([&] {
    (void)burrows_wheeler_transform<TypeParam>(test::context(), text.view(), short_array);
  }));
  Context host;
  host.backend = Backend::host;
  const std::vector<TypeParam> beyond = {5, 3, 1, 0, 4, 6};
  EXPECT_TRUE(is_usage([&] { (void)lcp_array<TypeParam>(host, text.view(), beyond); }));
  EXPECT_TRUE(is_usage([&] { (void)inverse_suffix_array<TypeParam>(host, beyond); }));
  EXPECT_TRUE(
      is_usage([&] { (void)burrows_wheeler_transform<TypeParam>(host, text.view(), beyond); }));
}

}  // namespace
}  // namespace sortie::suffix_array
