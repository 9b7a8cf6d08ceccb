// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/texts/random_corpus.hpp"

namespace sortie::texts::test {
namespace {

using sortie::test::expect_error;

template <class Number>
std::string bytes_of(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i));
  return bytes;
}

/// The files of a corpus with separators.
struct SeparatedFile {
  SeparatedFile(Format format, std::size_t token_bytes, const std::vector<std::string>& documents) {
    std::uint32_t number = 0;
    for (const std::string& document : documents) {
      begins += bytes_of(std::uint64_t{text.size()});
      text += format == Format::table ? "\xff\xff" + bytes_of(++number)
                                      : std::string(token_bytes, '\xff');
      text += document;
    }
    if (format == Format::table) begins += bytes_of(std::uint64_t{text.size()});
  }

  std::string text;
  std::string begins;
};

class SeparatedCorpus : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] std::string write(const SeparatedFile& file) const {
    const bool is_table = GetParam() == Format::table;
    static_cast<void>(folder_.write(is_table ? "text.size" : "offset.0", file.begins));
    return folder_.write(is_table ? "text" : "tokenized.0", file.text);
  }
  [[nodiscard]] CorpusOptions options() const {
    CorpusOptions options;
    options.format = GetParam();
    return options;
  }
  void expect_refusal(const SeparatedFile& file, const std::string& message) const {
    expect_error(
        [&] {
          static_cast<void>(read_corpus(with_threads(2), std::vector{write(file)}, options()));
        },
        ErrorKind::input, testing::HasSubstr(message));
  }

  TemporaryFolder folder_;
};

TEST_P(SeparatedCorpus, DocumentsAreReadForAnyBlocks) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    CorpusOptions options = small_blocks(random);
    options.format = GetParam();
    options.token_bytes = 1 << random() % (GetParam() == Format::table ? 2 : 3);
    const auto token = static_cast<std::size_t>(options.token_bytes);
    std::vector<std::string> documents(random() % 12);
    ExpectedCorpus expected({});
    for (std::string& document : documents) {
      document.resize(random() % (random() % 4 == 0 ? 300 : 20) * token);
      for (char& byte : document) byte = static_cast<char>(random() % 8 == 0 ? 0xff : random() % 3);
      expected.text += document;
      expected.begins.push_back(expected.text.size());
      expected.lines.push_back(expected.lines.size() + 1);
    }
    const std::string path = write(SeparatedFile(GetParam(), token, documents));
    const int threads = 1 + static_cast<int>(random() % 3);
    const Corpus corpus = read_corpus(with_threads(threads), std::vector{path}, options);
    ASSERT_EQ(text_of(corpus.bytes), expected.text);
    ASSERT_EQ(corpus.begins, expected.begins);
    ASSERT_EQ(corpus.lines, expected.lines);
    if (token == 1) {
      EXPECT_EQ(corpus.files[0].invalid_utf8, std::ranges::count_if(documents, [](auto& document) {
                  return document.find('\xff') != std::string::npos;
                }));
    }
    CorpusStream stream(with_threads(threads), std::vector{path}, options);
    for (int pass = 0; pass < 2; ++pass) {
      stream.pass({.work = {},
                   .pass =
                       [&](int, const CorpusBlock& block) {
                         if (options.split_documents) return;
                         EXPECT_FALSE(block.continues || block.continued);
                       },
                   .finish = {}});
      EXPECT_EQ(stream.documents(), documents.size());
      EXPECT_EQ(stream.text_bytes(), expected.text.size());
    }
    EXPECT_THROW(write_cleaned_corpus(with_threads(1), stream, {}, folder_.path("out")), Error);
  }
}

TEST_P(SeparatedCorpus, WhatDoesNotFitIsRefused) {
  const SeparatedFile right(GetParam(), 1, {"abc", "", "defg"});
  SeparatedFile file = right;
  file.begins.pop_back();
  expect_refusal(file, "expected numbers of 64 bits");
  file = right;
  file.begins[8] = 1;
  expect_refusal(file, GetParam() == Format::table
                           ? "found the number 1 at entry 1, expected the places of separators"
                           : "found 0x61 at byte 1, expected 0xff of the separator of document 2");
  file = right;
  file.begins[0] = 1;
  expect_refusal(file, "found the number 1 at entry 0");
  file = right;
  file.text[0] = 'x';
  expect_refusal(file, "found 0x78 at byte 0, expected 0xff of the separator of document 1");
  file = right;
  file.text.resize(5);
  expect_refusal(file, GetParam() == Format::table ? "found 5 bytes, expected 25, as the places"
                                                   : "found the number 5 at entry 3");
  if (GetParam() == Format::table) {
    file = right;
    file.text += 'x';
    expect_refusal(file, "found 26 bytes, expected 25, as the places of its documents say");
    file = right;
    file.text[2] = 7;
    expect_refusal(file, "found 0x07 at byte 2, expected 0x01 of the separator of document 1");
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SeparatedCorpus,
                         testing::Values(Format::table, Format::infini_gram), [](const auto& info) {
                           return info.param == Format::table ? "table" : "infini_gram";
                         });

}  // namespace
}  // namespace sortie::texts::test
