// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;

class TokenPositions : public ProgramTest {
 protected:
  /// Little-endian tokens of `width` bytes.
  static std::string bytes_of(const std::vector<std::uint32_t>& tokens, std::size_t width) {
    std::string bytes;
    for (const std::uint32_t token : tokens)
      for (std::size_t byte = 0; byte < width; ++byte)
        bytes += static_cast<char>(token >> (8 * byte) & 255U);
    return bytes;
  }
};

TEST_F(TokenPositions, AreInTheOrderOfTheTokensValues) {
  std::mt19937 random(8);
  for (const std::size_t width : {2, 4}) {
    // Values whose order is not that of their first bytes, and a long repeat.
    std::vector<std::uint32_t> tokens(1500);
    for (std::uint32_t& token : tokens) token = random() % 700 * 89 % (width == 2 ? 60000 : 900000);
    tokens.insert(tokens.end(), tokens.begin() + 20, tokens.begin() + 800);
    std::vector<std::uint32_t> expected(tokens.size());
    std::iota(expected.begin(), expected.end(), 0U);
    std::ranges::sort(expected, [&](std::uint32_t left, std::uint32_t right) {
      return std::lexicographical_compare(tokens.begin() + left, tokens.end(),
                                          tokens.begin() + right, tokens.end());
    });
    write_file(path("tokens"), bytes_of(tokens, width));
    const std::string kind = width == 2 ? "u16" : "u32";
    const Result result = run({"suffix-array", path("tokens"), "--input", "tokens", "--tokens",
                               kind, "-o", path("out"), "--verify"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(read_file(path("out")), bytes_of(expected, 4));
    const auto about = nlohmann::json::parse(read_file(path("out.json")));
    EXPECT_EQ(about["format"], "sortie suffix array of tokens");
    EXPECT_EQ(about["token_bits"], 8 * width);
    EXPECT_EQ(about["positions"], tokens.size());
    EXPECT_EQ(about["width_bits"], 32);
  }
}

TEST_F(TokenPositions, AsTextOrOfAnEmptyFile) {
  write_file(path("tokens"), bytes_of({256, 1, 256, 255}, 2));
  const auto index = [&](const std::string& file) {
    return run({"suffix-array", file, "--input", "tokens", "--tokens", "u16", "--text", "-o", "-"});
  };
  EXPECT_EQ(index(path("tokens")).out, "1\n3\n0\n2\n");
  write_file(path("empty"), "");
  const Result empty = index(path("empty"));
  EXPECT_EQ(empty.exit_code, 0) << empty.err;
  EXPECT_EQ(empty.out, "");
}

TEST_F(TokenPositions, WhatTokensDoNotHave) {
  write_file(path("a"), "abc");
  write_file(path("b"), "abcd");
  const auto refused = [&](std::vector<std::string> options, int code, const std::string& message) {
    options.insert(options.begin(), {"suffix-array", "--input", "tokens", "-o", path("out")});
    expect_error(run_on_host(options), code, message);
  };
  refused({path("a")}, 2,
          "found --tokens u8 with --input tokens, expected u16 or u32, or --input text for bytes");
  refused({path("a"), "--tokens", "u16"}, 1,
          path("a") + ": found 3 bytes, expected a multiple of 2, the size of a token");
  refused({path("b"), "--tokens", "u16", "--format", "table"}, 2,
          "found --format table with --input tokens, expected --input text with it");
  refused({path("b"), path("b"), "--tokens", "u16"}, 2,
          "found 2 input files with --input tokens, expected one");
  refused({path("b"), "--tokens", "u16", "--lcp", path("lcp")}, 2,
          "found --lcp with --input tokens, expected it with --input fasta, text or jsonl");
  refused({path("b"), "--tokens", "u16", "--alphabet", "dna"}, 2,
          "found --alphabet with --input tokens, expected it for sequences only");
  EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(TokenPositions, AreNoArrayOfAQuery) {
  write_file(path("tokens"), bytes_of({3, 1, 2}, 2));
  ASSERT_EQ(run_on_host({"suffix-array", path("tokens"), "--input", "tokens", "--tokens", "u16",
                         "-o", path("out")})
                .exit_code,
            0);
  const Result result = run_on_host({"query", path("tokens"), path("out"), "-p", "a"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, testing::HasSubstr("sortie suffix array of tokens"));
}

}  // namespace
}  // namespace sortie::test
