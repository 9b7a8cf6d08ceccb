// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "apps/suffix_array/cuda/text/prefix_code.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Letters and how often each begins a run.
PrefixCode code_of(std::string_view letters, const std::vector<std::uint64_t>& counts, int bits) {
  std::array<bool, 256> occurs{};
  std::array<std::uint64_t, 256> starts{};
  for (std::size_t i = 0; i < letters.size(); ++i) {
    occurs[static_cast<std::uint8_t>(letters[i])] = true;
    starts[static_cast<std::uint8_t>(letters[i])] = counts[i];
  }
  return plan_prefix_code(occurs, starts, bits);
}

/// The key by definition, of a text that ends behind its last letter.
std::uint64_t key_of(const PrefixCode& code, std::string_view suffix) {
  std::uint64_t leaf = 0;
  for (int i = 0; i < code.symbols; ++i) {
    if (static_cast<std::size_t>(i) == suffix.size()) return 2 * leaf + 1;
    const std::uint32_t letter =
        code.letters[static_cast<std::uint8_t>(suffix[static_cast<std::size_t>(i)])];
    leaf += (letter & 0x1ffU) * code.leaves[i + 1] + (letter >> 16 & 0x1ffU);
    if ((letter & PrefixCode::stop) != 0) break;
  }
  return 2 * leaf;
}

TEST(PrefixCode, HoldsFifteenBasesInThirtyTwoBits) {
  const PrefixCode code = code_of("ACGNT", {1000, 1000, 1000, 1, 1000}, 32);
  EXPECT_EQ(code.symbols, 15);
  EXPECT_EQ(code.common, 4);
  EXPECT_EQ(code.rare, 2);
  EXPECT_LE(code.key_bits, 32);
}

TEST(PrefixCode, KeepsAllLettersCommonWhenTheyAreEquallyFrequent) {
  std::array<bool, 256> occurs{};
  occurs.fill(true);
  std::array<std::uint64_t, 256> starts{};
  starts.fill(7);
  const PrefixCode code = plan_prefix_code(occurs, starts, 32);
  EXPECT_EQ(code.sigma, 256);
  EXPECT_EQ(code.common, 256);
  EXPECT_EQ(code.symbols, 3);
}

TEST(PrefixCode, SortsAllShortTextsAsTheyCompare) {
  // A, C common, B, N rare; the end counts as less than all.
  const std::string letters = "ABCN";
  const PrefixCode code = code_of(letters, {100, 1, 100, 1}, 12);
  ASSERT_EQ(code.common, 2);
  ASSERT_GT(code.symbols, 3);
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() < 5) {
      for (const char letter : letters) texts.push_back(texts[i] + letter);
    }
  }
  std::sort(texts.begin(), texts.end());
  const auto seen = [&](const std::string& text) {
    const auto rare = std::min(text.find_first_of("BN"), text.size());
    return text.substr(0, std::min<std::size_t>(rare + 1, static_cast<std::size_t>(code.symbols)));
  };
  for (std::size_t i = 1; i < texts.size(); ++i) {
    const std::uint64_t left = key_of(code, texts[i - 1]);
    const std::uint64_t right = key_of(code, texts[i]);
    EXPECT_LE(left, right) << texts[i - 1] << " and " << texts[i];
    EXPECT_LT(right >> code.key_bits, 1U) << texts[i];
    // Equal keys are equal symbols, and the other way round.
    if (right % 2 == 1 || left % 2 == 1) {
      EXPECT_NE(left, right) << texts[i - 1] << " and " << texts[i];
    } else {
      EXPECT_EQ(left == right, seen(texts[i - 1]) == seen(texts[i])) << texts[i];
    }
  }
}

TEST(PrefixCode, KnowsTheKeysOfRuns) {
  const PrefixCode code = code_of("ACGNT", {1000, 1000, 1000, 1, 1000}, 32);
  EXPECT_EQ(code.run_key(code.letters['A']), key_of(code, std::string(20, 'A')));
  EXPECT_EQ(code.run_key(code.letters['T']), key_of(code, std::string(20, 'T')));
  EXPECT_EQ(code.run_key(code.letters['N']), key_of(code, "NACGT"));
  EXPECT_EQ(code.run_symbols(code.letters['N']), 1);
}

TEST(PrefixCode, TakesTextsWithoutLetters) {
  const PrefixCode code = plan_prefix_code({}, {}, 32);
  EXPECT_EQ(code.sigma, 0);
  EXPECT_GE(code.symbols, 1);
  EXPECT_EQ(key_of(code, ""), 1U);
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
