// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "matrices/entry_parser.hpp"

namespace sortie::test {
namespace {

using namespace sortie::matrices::detail;

// Parses from a buffer of exactly the bytes that may be looked at, so that a sanitizer sees more.
int parse(const std::string& text, std::uint64_t& value) {
  std::string padded = text;
  padded.resize(static_cast<std::size_t>(index_reach), '\n');
  const std::vector<char> exact(padded.begin(), padded.end());
  return parse_index(exact.data(), value);
}

TEST(ParseIndex, EveryLength) {
  Random random(1);
  for (int digits = 1; digits <= 18; ++digits) {
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::string text;
      for (int i = 0; i < digits; ++i) text += static_cast<char>('0' + random.below(10));
      for (const char end : {' ', '\n', '\t', '.', '/', ':', '\0', '\x80', '\xba', '\xff'}) {
        std::uint64_t value = 0;
        EXPECT_EQ(parse(text + end, value), digits) << text;
        EXPECT_EQ(value, std::stoull(text));
      }
    }
  }
}

TEST(ParseIndex, LeavesTheRestToOthers) {
  std::uint64_t value = 0;
  for (const char* text : {"", " 1", "+1", "-1", "x", ".5", "1234567890123456789"}) {
    EXPECT_EQ(parse(text, value), 0) << text;
  }
}

template <class Real>
std::pair<NumberStatus, std::size_t> real(const std::string& text, Real& value) {
  const char* at = text.data();
  const NumberStatus status = parse_real(at, text.data() + text.size(), value);
  return {status, static_cast<std::size_t>(at - text.data())};
}

TEST(ParseReal, Spellings) {
  const std::pair<const char*, double> cases[] = {{"1", 1},
                                                  {"-1", -1},
                                                  {"+1", 1},
                                                  {"1.", 1},
                                                  {".5", .5},
                                                  {"-.5", -.5},
                                                  {"+.5", .5},
                                                  {"1e3", 1e3},
                                                  {"1E+3", 1e3},
                                                  {"1e-3", 1e-3},
                                                  {"1d3", 1e3},
                                                  {"1D+3", 1e3},
                                                  {"-2.5D-03", -2.5e-3},
                                                  {"1e-400", 0},
                                                  {"1d-400", 0},
                                                  {"0", 0},
                                                  {"0e999", 0},
                                                  {"0.1", 0.1},
                                                  {"5e-324", 5e-324}};
  for (const auto& [text, expected] : cases) {
    double value = 77;
    const auto [status, length] = real(text, value);
    EXPECT_EQ(status, NumberStatus::ok) << text;
    EXPECT_EQ(length, std::string(text).size()) << text;
    EXPECT_EQ(value, expected) << text;
  }
}

TEST(ParseReal, Refusals) {
  double value = 0;
  for (const char* text : {"", "x", "+", "-", "+-1", "++1", "-+1", ".", "e5", "d5"}) {
    EXPECT_EQ(real(text, value).first, NumberStatus::not_a_number) << text;
  }
  for (const char* text : {"1e999", "-1e999", "1d400"}) {
    EXPECT_EQ(real(text, value).first, NumberStatus::out_of_range) << text;
  }
  // The number ends where the caller can see that the word does not.
  EXPECT_EQ(real("1e", value).second, 1U);
  EXPECT_EQ(real("1.5x", value).second, 3U);
  EXPECT_EQ(real("1dx", value).second, 1U);
}

TEST(ParseReal, RangeIsThatOfTheType) {
  float narrow = 0;
  EXPECT_EQ(real("1e39", narrow).first, NumberStatus::out_of_range);
  EXPECT_EQ(real("1e-60", narrow).first, NumberStatus::ok);
  EXPECT_EQ(narrow, 0.0F);
  EXPECT_EQ(real("inf", narrow).first, NumberStatus::ok);
  EXPECT_EQ(narrow, std::numeric_limits<float>::infinity());
}

TEST(ParseInteger, BeyondSixtyFourBitsIsReal) {
  const std::string text = "-123456789012345678901234567890";
  double value = 0;
  const char* at = text.data();
  EXPECT_EQ(parse_integer(at, text.data() + text.size(), value), NumberStatus::ok);
  EXPECT_EQ(value, -123456789012345678901234567890.0);
  EXPECT_EQ(at, text.data() + text.size());
}

}  // namespace
}  // namespace sortie::test
