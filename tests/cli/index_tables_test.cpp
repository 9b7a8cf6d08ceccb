// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/program.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A number of some bytes, the least significant one first.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t number = 0;
  for (std::size_t i = width; i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return number;
}

std::vector<std::uint64_t> numbers(std::string_view bytes, std::size_t width) {
  EXPECT_EQ(bytes.size() % width, 0U);
  std::vector<std::uint64_t> result;
  for (std::size_t at = 0; at < bytes.size(); at += width)
    result.push_back(number_at(bytes, at, width));
  return result;
}

/// How often a pattern occurs, by binary search in a table of suffixes: std::string_view compares
/// bytes as unsigned.
std::uint64_t count(std::string_view text, const std::vector<std::uint64_t>& table,
                    std::string_view pattern) {
  const auto part = [&](std::uint64_t at) { return text.substr(at, pattern.size()); };
  // Not equal_range(), whose result Clang 14 does not compile with libstdc++ 12.
  const auto begin = std::ranges::lower_bound(table, pattern, {}, part);
  return static_cast<std::uint64_t>(std::ranges::upper_bound(table, pattern, {}, part) - begin);
}

std::uint64_t count_by_search(std::string_view text, std::string_view pattern, std::size_t step) {
  std::uint64_t found = 0;
  for (std::size_t at = 0; at < text.size(); at += step)
    if (text.substr(at, pattern.size()) == pattern) ++found;
  return found;
}

class IndexTables : public ProgramTest {
 protected:
  /// Documents of few different bytes, and all of them once.
  std::vector<std::string> write_documents(std::size_t token_bytes) {
    std::mt19937 random(6);
    std::vector<std::string> documents;
    for (int i = 0; i < 30; ++i) {
      std::string document(random() % 60 * token_bytes, '\0');
      for (char& byte : document) byte = static_cast<char>(random() % 3);
      if (i == 7) {
        for (int byte = 0; byte < 254; ++byte) document += static_cast<char>(byte);
        document += std::string(2, '\xfe');
      }
      inputs_.push_back(path("d" + std::to_string(i)));
      write_file(inputs_.back(), document);
      documents.push_back(document);
    }
    return documents;
  }

  Result index(const std::string& output, std::vector<std::string> options) const {
    std::vector<std::string> arguments = {"suffix-array", "--input", "text", "-o", output};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), inputs_.begin(), inputs_.end());
    return run(arguments);
  }

  std::vector<std::string> inputs_;
};

TEST_F(IndexTables, ReadersOfTableFindTheDocuments) {
  const std::vector<std::string> documents = write_documents(1);
  const Result result = index(path("x"), {"--format", "table", "--verify"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string text = read_file(path("x"));
  const std::string bytes = read_file(path("x.table.bin"));
  ASSERT_EQ(bytes.size() % text.size(), 0U);
  EXPECT_EQ(bytes.size() / text.size(), 2U);
  const std::vector<std::uint64_t> table = numbers(bytes, bytes.size() / text.size());
  const std::vector<std::uint64_t> sizes = numbers(read_file(path("x.size")), 8);
  ASSERT_EQ(sizes.size(), documents.size() + 1);
  EXPECT_EQ(sizes.back(), text.size());
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string document = text.substr(sizes[i], sizes[i + 1] - sizes[i]);
    EXPECT_EQ(document.substr(0, 2), "\xff\xff");
    EXPECT_EQ(number_at(document, 2, 4), i + 1);
    EXPECT_EQ(document.substr(6), documents[i]);
    for (const std::size_t length : {1, 2, 5, 9}) {
      const std::string pattern = text.substr(sizes[i] + 2, length);
      EXPECT_EQ(count(text, table, pattern), count_by_search(text, pattern, 1));
    }
  }
}

TEST_F(IndexTables, ReadersOfInfiniGramFindTheDocuments) {
  for (const std::size_t width : {1, 2, 4}) {
    inputs_.clear();
    const std::vector<std::string> documents = write_documents(width);
    const std::string folder = path("index" + std::to_string(width));
    const std::string tokens = width == 1 ? "u8" : width == 2 ? "u16" : "u32";
    const Result result =
        index(folder, {"--format", "infini-gram", "--tokens", tokens, "--verify"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string text = read_file(folder + "/tokenized.0");
    const std::string bytes = read_file(folder + "/table.0");
    ASSERT_EQ(text.size() % width, 0U);
    ASSERT_EQ(bytes.size() % (text.size() / width), 0U);
    const std::vector<std::uint64_t> table = numbers(bytes, bytes.size() / (text.size() / width));
    const std::vector<std::uint64_t> offsets = numbers(read_file(folder + "/offset.0"), 8);
    const std::vector<std::uint64_t> lines = numbers(read_file(folder + "/metaoff.0"), 8);
    const std::string metadata = read_file(folder + "/metadata.0");
    ASSERT_EQ(offsets.size(), documents.size());
    ASSERT_EQ(lines.size(), documents.size());
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const std::size_t end = i + 1 < offsets.size() ? offsets[i + 1] : text.size();
      const std::string document = text.substr(offsets[i], end - offsets[i]);
      EXPECT_EQ(document, std::string(width, '\xff') + documents[i]);
      const auto about = nlohmann::json::parse(
          metadata.substr(lines[i], metadata.find('\n', lines[i]) - lines[i]));
      EXPECT_EQ(about["path"], inputs_[i]);
      EXPECT_EQ(about["linenum"], 0);
      EXPECT_TRUE(about["metadata"].is_object());
      for (const std::size_t length : {1, 2, 4}) {
        const std::string pattern = text.substr(offsets[i], length * width);
        EXPECT_EQ(count(text, table, pattern), count_by_search(text, pattern, width));
      }
    }
  }
}

TEST_F(IndexTables, LinesOfJsonlAreCountedFromZero) {
  if (!SORTIE_HAVE_SIMDJSON) GTEST_SKIP() << "JSONL needs simdjson";
  write_file(path("a.jsonl"), "\n{\"text\":\"x\"}\n");
  const Result result = run({"suffix-array", path("a.jsonl"), "--input", "jsonl", "--format",
                             "infini-gram", "-o", path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_file(path("out/metadata.0")),
            "{\"path\":\"" + path("a.jsonl") + "\",\"linenum\":1,\"metadata\":{}}\n");
  EXPECT_EQ(read_file(path("out/tokenized.0")), "\xffx");
  EXPECT_EQ(read_file(path("out/table.0")), std::string("\1\0", 2));
}

TEST_F(IndexTables, WhatTheseFormatsDoNotHave) {
  write_file(path("a"), "ab\xff\xff\xff");
  const auto refused = [&](std::vector<std::string> options, int code, const std::string& message) {
    options.insert(options.begin(), {"suffix-array", path("a")});
    expect_error(run_on_host(options), code, message);
  };
  refused({"--input", "text", "--format", "infini-gram", "-o", path("out")}, 1,
          path("a") +
              ": found the token 0xff at byte 2 of the document, expected a smaller one, since "
              "infini-gram separates documents by it");
  refused({"--input", "text", "--format", "infini-gram", "-o", path("my-tables")}, 2,
          path("my-tables") +
              ": found a folder with \"table\" in its path, expected another, since infini-gram "
              "tells its files by such names");
  refused({"--input", "text", "--format", "table", "-o", path("x"), "--tokens", "u16"}, 1,
          path("a") + ": found 5 bytes, expected a multiple of 2, the size of a token");
  refused({"--input", "text", "--format", "table", "-o", path("x"), "--lcp", path("lcp")}, 2,
          "found --lcp with --format table, expected it with --format positions");
  refused({"--format", "table", "-o", path("x")}, 2,
          "found --format table with --input fasta, expected text or jsonl");
  refused({"--input", "text", "--format", "table"}, 2,
          "found no -o FILE with --format table, expected one");
  refused({"--input", "text", "--tokens", "u16", "-o", path("x")}, 2,
          "found --tokens u16 with --format positions, expected it with --input tokens, --format "
          "table or --format infini-gram");
  EXPECT_THAT(names(), ElementsAre("a"));
}

}  // namespace
}  // namespace sortie::test
