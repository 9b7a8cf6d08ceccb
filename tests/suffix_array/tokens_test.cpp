// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "apps/suffix_array/construction.hpp"
#include "sortie/error.hpp"
#include "tests/support/backend.hpp"

namespace sortie::suffix_array {
namespace {

using Bytes = std::vector<std::uint8_t>;

template <class Token>
Bytes bytes_of(const std::vector<Token>& tokens) {
  Bytes bytes(tokens.size() * sizeof(Token));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    for (std::size_t byte = 0; byte < sizeof(Token); ++byte)
      bytes[i * sizeof(Token) + byte] = static_cast<std::uint8_t>(tokens[i] >> (8 * byte));
  return bytes;
}

template <class Pos>
std::vector<Pos> by_definition(const Bytes& bytes, std::size_t width) {
  std::vector<Pos> order(bytes.size() / width);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Pos>(i * width);
  const auto rest = [&](Pos at) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).substr(at);
  };
  std::sort(order.begin(), order.end(), [&](Pos a, Pos b) { return rest(a) < rest(b); });
  return order;
}

/// Texts of tokens: words of a vocabulary, repeats of all lengths, periods, runs, all values.
template <class Token>
std::vector<std::pair<std::string, std::vector<Token>>> texts() {
  std::mt19937_64 random(5);
  std::vector<std::pair<std::string, std::vector<Token>>> all;
  all.push_back({"none", {}});
  all.push_back({"one", {7}});
  all.push_back({"run", std::vector<Token>(300, static_cast<Token>(0x0101))});
  std::vector<Token> any(3000);
  for (Token& token : any) token = static_cast<Token>(random());
  all.push_back({"any values", any});
  std::vector<Token> words(4000);
  for (Token& token : words)
    token = static_cast<Token>(std::min(random() % 900, random() % 900) * 57 % 50000);
  all.push_back({"words", words});
  std::vector<Token> repeats = words;
  repeats.insert(repeats.end(), words.begin() + 100, words.begin() + 3000);
  repeats.insert(repeats.end(), words.begin() + 100, words.begin() + 1500);
  repeats.insert(repeats.end(), 200, Token{0});
  repeats.insert(repeats.end(), any.begin(), any.begin() + 50);
  repeats.insert(repeats.end(), words.begin() + 100, words.begin() + 3000);
  all.push_back({"repeats", repeats});
  // Documents behind separators, and tokens that take three bytes.
  std::vector<Token> documents;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i % 97 == 0) documents.push_back(static_cast<Token>(~Token{0}));
    documents.push_back(static_cast<Token>(words[i] * 199));
  }
  documents.insert(documents.end(), documents.begin() + 50, documents.begin() + 2000);
  all.push_back({"documents", documents});
  std::vector<Token> period(3000);
  for (std::size_t i = 0; i < period.size(); ++i) period[i] = static_cast<Token>(i % 7 * 0x0100);
  all.push_back({"period", period});
  return all;
}

template <class Pos, class Token>
void expect_order() {
  constexpr int width = sizeof(Token);
  for (const auto& [name, tokens] : texts<Token>()) {
    const Bytes bytes = bytes_of(tokens);
    const auto expected = by_definition<Pos>(bytes, sizeof(Token));
    for (const std::string_view algorithm : {"auto", "prefix-doubling"}) {
      SCOPED_TRACE(name + " " + std::to_string(width) + " " + std::string(algorithm));
      const auto found =
          build_tokens_by<Pos>(parse_algorithm(algorithm), test::context(), bytes, width);
      EXPECT_EQ(found, expected);
      EXPECT_NO_THROW(check_tokens<Pos>(test::context(), bytes, width, found));
    }
  }
}

TEST(Tokens, AreInTheOrderOfTheirBytes) {
  expect_order<std::uint32_t, std::uint8_t>();
  expect_order<std::uint32_t, std::uint16_t>();
  expect_order<std::uint32_t, std::uint32_t>();
  expect_order<std::uint64_t, std::uint16_t>();
  expect_order<std::uint64_t, std::uint32_t>();
}

TEST(Tokens, TheCheckFindsWrongEntries) {
  const Bytes bytes = bytes_of(texts<std::uint16_t>().back().second);
  const auto right = by_definition<std::uint32_t>(bytes, 2);
  for (const auto& change : std::vector<std::pair<std::size_t, std::uint32_t>>{
           {5, right[5] + 1}, {9, right[8]}, {0, static_cast<std::uint32_t>(bytes.size())}}) {
    auto wrong = right;
    wrong[change.first] = change.second;
    EXPECT_THROW(check_tokens<std::uint32_t>(test::context(), bytes, 2, wrong), Error);
  }
  auto exchanged = right;
  std::swap(exchanged[100], exchanged[101]);
  EXPECT_THROW(check_tokens<std::uint32_t>(test::context(), bytes, 2, exchanged), Error);
  exchanged.pop_back();
  EXPECT_THROW(check_tokens<std::uint32_t>(test::context(), bytes, 2, exchanged), Error);
}

}  // namespace
}  // namespace sortie::suffix_array
