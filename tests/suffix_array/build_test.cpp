// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "sortie/run_report.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

namespace sortie::suffix_array {
namespace {

using testing::HasSubstr;

template <class Pos>
class BuildSuffixArray : public testing::Test {};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(BuildSuffixArray, Widths);

bool serves(const ConstructionAlgorithm& algorithm, const TextView& text) {
  // These have no byte left for record ends when all 256 are letters.
  if ((algorithm.name != "divsufsort" && algorithm.name != "induced") || text.separators.empty())
    return true;
  std::array<bool, 256> occurs{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!std::binary_search(text.separators.begin(), text.separators.end(), i)) {
      occurs[text.symbols[i]] = true;
    }
  }
  return std::count(occurs.begin(), occurs.end(), true) <= 254;
}

TYPED_TEST(BuildSuffixArray, EqualsReferenceOnTrickyTexts) {
  for (const test::NamedText& text : test::tricky_texts()) {
    const std::vector<TypeParam> expected = test::reference<TypeParam>(text.view());
    for (const ConstructionAlgorithm& algorithm : algorithms_on(test::backend())) {
      if (!serves(algorithm, text.view())) continue;
      SCOPED_TRACE(text.name + " by " + std::string(algorithm.name));
      EXPECT_EQ(build_by<TypeParam>(algorithm, test::context(), text.view()), expected);
      const auto arriving = build_arriving_by<TypeParam>(algorithm, test::context(), text.view());
      arriving.await(arriving.size());
      EXPECT_THAT(arriving.items(), testing::ElementsAreArray(expected));
    }
  }
}

TYPED_TEST(BuildSuffixArray, EqualsReferenceOnAllShortTexts) {
  // Every text of up to six symbols from A, B and the separator.
  for (unsigned length = 0; length <= 6; ++length) {
    unsigned count = 1;
    for (unsigned i = 0; i < length; ++i) count *= 3;
    // Each GPU build takes a few launches; every 7th text is enough there.
    const unsigned stride = test::backend() == Backend::cuda ? 7 : 1;
    for (unsigned number = 0; number < count; number += stride) {
      test::NamedText text;
      for (unsigned i = 0, rest = number; i < length; ++i, rest /= 3) {
        if (rest % 3 == 2) text.separators.push_back(i);
        text.symbols.push_back(static_cast<std::uint8_t>("AB"[rest % 3]));
      }
      for (const ConstructionAlgorithm& algorithm : algorithms_on(test::backend())) {
        ASSERT_EQ(build_by<TypeParam>(algorithm, test::context(), text.view()),
                  test::reference<TypeParam>(text.view()))
            << algorithm.name << ", length " << length << ", text " << number;
      }
    }
  }
}

TYPED_TEST(BuildSuffixArray, SortsSuffixesLongerThanTheReferenceCanCompare) {
  const std::string repeat = test::random_letters(60000, 4, 'A', 1);
  const std::string gap(100000, 'N');
  const std::vector<test::NamedText> texts = {
      test::single("one_letter", std::string(300000, 'A')),
      test::single("fibonacci", test::fibonacci(300000)),
      test::single("period_1000", test::repeated(repeat.substr(0, 1000), 300)),
      test::single("gaps", gap + repeat + gap + repeat + gap),
      test::joined("equal_records", {repeat, repeat, repeat, repeat + "A"}),
      test::single("random_dna", test::random_letters(500000, 4, 'A', 3)),
      test::single("bytes", test::random_letters(300000, 256, 0, 4)),
  };
  for (const test::NamedText& text : texts) {
    SCOPED_TRACE(text.name);
    const auto suffixes = build<TypeParam>(test::context(), text.view());
    EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
  }
}

TYPED_TEST(BuildSuffixArray, EqualsDivsufsortOnSequences) {
  for (const std::string file : {"lambda_phage.fa.gz", "pseudopig_softmask.fa.gz",
                                 "mirbase_hairpin_200.fa", "proteins_50.fa", "odd_records.fa"}) {
    SCOPED_TRACE(file);
    const sequences::Text text = sequences::read_fasta(
        test::context(), std::string(SORTIE_TEST_DATA) + "/sequences/valid/" + file);
    const std::vector<std::uint64_t> separators = text.separators();
    const TextView view(text.symbols, separators);
    ASSERT_GT(view.size(), 0U);
    EXPECT_EQ(build<TypeParam>(test::context(), view),
              build_by<TypeParam>(parse_algorithm("divsufsort"), {}, view));
  }
}

TEST(BuildSuffixArray, DocumentedExample) {
  const test::NamedText text = test::joined("", {"BA", "", "A"});  // B A | | A
  EXPECT_EQ(build<std::uint32_t>(test::context(), text.view()),
            (std::vector<std::uint32_t>{2, 3, 1, 4, 0}));
}

TEST(BuildSuffixArray, WidthsAgree) {
  const test::NamedText text =
      test::single("", test::random_letters(100000, 3, 'A', 6) + test::fibonacci(50000));
  const auto narrow = build<std::uint32_t>(test::context(), text.view());
  const auto wide = build<std::uint64_t>(test::context(), text.view());
  EXPECT_TRUE(std::equal(narrow.begin(), narrow.end(), wide.begin(), wide.end()));
}

TEST(BuildSuffixArray, RefusesTextBeyondThePositions) {
  // Address space only: the pages are never touched.
  const std::size_t size = (std::size_t{1} << 32) - 1;
  void* const pages =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const TextView text({static_cast<const std::uint8_t*>(pages), size});
  try {
    (void)build<std::uint32_t>(test::context(), text);
    ADD_FAILURE() << "accepted " << size << " symbols";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(),
                 "suffix array: found a text of 4294967295 symbols, expected at most 4294967294 "
                 "for 32-bit positions");
  }
  munmap(pages, size);
}

TEST(BuildSuffixArray, RefusesSeparatorsOutOfOrder) {
  const std::string letters = "ACGT";
  const std::span symbols(reinterpret_cast<const std::uint8_t*>(letters.data()), letters.size());
  for (const std::vector<std::uint64_t>& separators :
       {std::vector<std::uint64_t>{2, 1}, {1, 1}, {1, 4}}) {
    try {
      (void)build<std::uint32_t>(test::context(), TextView(symbols, separators));
      ADD_FAILURE() << "accepted separators " << testing::PrintToString(separators);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.what(), HasSubstr("suffix array, separator 1: found position"));
    }
  }
}

TEST(BuildSuffixArray, RefusesWorkBeyondTheBudget) {
  const test::NamedText text = test::single("", test::random_letters(100000, 4, 'A', 1));
  Context context = test::context();
  context.memory_budget = 100000;
  try {
    (void)build<std::uint32_t>(context, text.view());
    ADD_FAILURE() << "worked within one byte a symbol";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
  }
  context.memory_budget = std::uint64_t{1} << 30;
  EXPECT_NO_THROW((void)build<std::uint32_t>(context, text.view()));
}

TEST(BuildSuffixArray, ReportsPhasesAndFigures) {
  const std::string repeat = test::random_letters(1000, 4, 'A', 1);
  const test::NamedText text = test::single("", repeat + "C" + repeat);
  RunReport report;
  Context context = test::context();
  context.report = &report;
  std::vector<std::string> shown;
  context.progress = [&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(done, total);
    shown.emplace_back(phase);
  };
  (void)build<std::uint32_t>(context, text.view());

  std::vector<std::string> phases;
  for (const RunReport::Phase& phase : report.phases()) phases.push_back(phase.name);
  EXPECT_THAT(phases, testing::IsSupersetOf({"pack", "sort", "rounds"}));
  EXPECT_FALSE(shown.empty());

  std::vector<std::string> figures;
  for (const auto& [key, value] : report.figures()) {
    figures.push_back(key);
    if (key == "unresolved_after_first_sort") {
      // All suffixes of either copy but the last few, whose first symbols reach beyond it.
      EXPECT_GT(std::get<std::uint64_t>(value), 1900U);
      EXPECT_LE(std::get<std::uint64_t>(value), 2001U);
    }
    if (key == "rounds") {
      // 1000 equal symbols: six doublings from 27 symbols, one more for every halving of these.
      EXPECT_GE(std::get<std::uint64_t>(value), 6U);
      EXPECT_LE(std::get<std::uint64_t>(value), 12U);
    }
  }
  EXPECT_THAT(figures, testing::IsSupersetOf({"rounds", "unresolved_after_first_sort"}));
}

}  // namespace
}  // namespace sortie::suffix_array
