#include "sortie/apps/suffix_array/packing.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "suffix_array/texts.hpp"

namespace sortie::suffix_array {
namespace {

PackingPlan plan_for(int letters) {
  std::array<bool, 256> occurs{};
  std::fill_n(occurs.begin(), letters, true);
  return plan_packing(occurs);
}

TEST(Packing, FillsTheWord) {
  struct Expected {
    int sigma;
    int symbols;
  };
  for (const auto [sigma, symbols] : {Expected{0, 63},
                                      {1, 63},
                                      {2, 40},
                                      {3, 31},
                                      {4, 27},
                                      {5, 24},
                                      {20, 14},
                                      {25, 13},
                                      {254, 8},
                                      {255, 7},
                                      {256, 7}}) {
    const PackingPlan plan = plan_for(sigma);
    EXPECT_EQ(plan.sigma, sigma);
    EXPECT_EQ(plan.symbols, symbols) << sigma << " letters";
    EXPECT_LE(plan.word_bits, 64);
  }
}

TEST(Packing, NumbersTheLettersThatOccurInByteOrder) {
  const test::NamedText text = test::joined("", {"TAG", std::string("\0\xff", 2)});
  const PackingPlan plan = plan_packing(text.view());
  EXPECT_EQ(plan.sigma, 5);
  EXPECT_EQ(plan.base, 6U);
  EXPECT_EQ(plan.code[0], 1);  // a letter too, besides being the byte of the separator
  EXPECT_EQ(plan.code['A'], 2);
  EXPECT_EQ(plan.code['G'], 3);
  EXPECT_EQ(plan.code['T'], 4);
  EXPECT_EQ(plan.code[0xff], 5);
  EXPECT_EQ(plan.code['C'], 0);
}

TEST(Packing, SeparatorBytesAreNoLetters) {
  EXPECT_EQ(plan_packing(test::joined("", {"A", "A"}).view()).sigma, 1);
}

TEST(Packing, PrependFollowsTheDefinition) {
  for (const test::NamedText& text : test::tricky_texts()) {
    const TextView view = text.view();
    const PackingPlan plan = plan_packing(view);
    std::uint64_t word = 0;
    for (std::uint64_t position = view.size(); position-- > 0;) {
      const bool separator =
          std::binary_search(view.separators.begin(), view.separators.end(), position);
      word = plan.prepend(separator ? 0 : plan.code[view.symbols[position]], word);
      ASSERT_EQ(word, pack_word(plan, view, position)) << text.name << ", position " << position;
    }
  }
}

TEST(Packing, WordsShowEndsAndRuns) {
  const test::NamedText text =
      test::single("", std::string(27, 'C') + "AGT" + std::string(24, 'A'));
  const PackingPlan plan = plan_packing(text.view());
  ASSERT_EQ(plan.symbols, 27);
  const auto word = [&](std::uint64_t position) { return pack_word(plan, text.view(), position); };
  EXPECT_EQ(word(0), plan.run_word(plan.code['C']));
  EXPECT_TRUE(plan.is_run(word(0)));
  EXPECT_FALSE(plan.is_run(word(1)));
  EXPECT_FALSE(plan.contains_end(word(0)));
  EXPECT_FALSE(plan.contains_end(word(27)));  // ends right after the word
  EXPECT_TRUE(plan.contains_end(word(28)));
  EXPECT_FALSE(plan.is_run(word(30)));  // a run that the end of the text cuts short
  EXPECT_FALSE(plan.is_run(0));
}

}  // namespace
}  // namespace sortie::suffix_array
