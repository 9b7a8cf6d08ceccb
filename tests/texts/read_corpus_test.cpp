// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/files/checksum.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/texts/random_corpus.hpp"

namespace sortie::texts::test {
namespace {

using sortie::test::expect_error;
using testing::ElementsAre;

Corpus read(const std::vector<std::string>& paths, const CorpusOptions& options = {}) {
  return read_corpus(with_threads(2), paths, options);
}

TEST(ReadCorpus, RandomFilesForAnyThreadsAndBlocks) {
  std::mt19937 random(2);
  for (int round = 0; round < 150; ++round) {
    const TemporaryFolder folder;
    const auto files = random_files(random, folder, 1 + random() % 5);
    const ExpectedCorpus expected(files);
    const Corpus corpus = read_corpus(with_threads(1 + static_cast<int>(random() % 4)),
                                      paths_of(files), small_blocks(random));
    ASSERT_EQ(text_of(corpus.bytes), expected.text);
    ASSERT_EQ(corpus.begins, expected.begins);
    ASSERT_EQ(corpus.lines, expected.lines);
    std::uint64_t document = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const CorpusFile& file = corpus.files[i];
      EXPECT_EQ(file.path, files[i].path);
      EXPECT_EQ(file.format, files[i].is_jsonl ? Format::jsonl : Format::plain);
      EXPECT_EQ(file.compression, files[i].compression);
      EXPECT_EQ(file.content_bytes, files[i].content.size());
      EXPECT_EQ(file.checksum, block_checksum(std::as_bytes(std::span(files[i].content))));
      EXPECT_EQ(file.first_document, document);
      EXPECT_EQ(file.documents, files[i].documents.size());
      EXPECT_EQ(file.first_byte, corpus.begins[document]);
      document += file.documents;
      EXPECT_EQ(file.text_bytes, corpus.begins[document] - file.first_byte);
      for (std::uint64_t d = file.first_document; d < document; ++d)
        EXPECT_EQ(file_of(corpus.files, d), i);
    }
  }
}

TEST(ReadCorpus, APlainFileIsOneDocumentOfAllBytes) {
  const TemporaryFolder folder;
  std::string all(256, '\0');
  std::iota(all.begin(), all.end(), '\0');
  const std::string path = folder.write("all", all);
  const Corpus corpus = read({path});
  EXPECT_EQ(text_of(corpus.document(0)), all);
  EXPECT_THAT(corpus.begins, ElementsAre(0, 256));
  EXPECT_THAT(corpus.lines, ElementsAre(0));
  EXPECT_EQ(corpus.files[0].invalid_utf8, 1U);
  EXPECT_EQ(corpus.files[0].file_bytes, 256U);
}

TEST(ReadCorpus, AnEmptyFileIsAnEmptyDocumentOrNone) {
  const TemporaryFolder folder;
  const Corpus corpus =
      read({folder.write("a", ""), folder.write("b.jsonl", ""), folder.write("c", "")});
  EXPECT_THAT(corpus.begins, ElementsAre(0, 0, 0));
  EXPECT_EQ(corpus.files[1].documents, 0U);
  EXPECT_EQ(file_of(corpus.files, 0), 0U);
  EXPECT_EQ(file_of(corpus.files, 1), 2U);
}

TEST(ReadCorpus, TheFormatOfEachKindOfFile) {
  const TemporaryFolder folder;
  const auto format_of = [&](const std::string& content, const CorpusOptions& options = {}) {
    return read({folder.write("file", content)}, options).files[0].format;
  };
  EXPECT_EQ(format_of("{\"text\":\"x\"}\n"), Format::jsonl);
  EXPECT_EQ(format_of("{\"text\":\"x\"}"), Format::jsonl);
  EXPECT_EQ(format_of("{\"text\":\"" + std::string(3000, 'x') + "\"}", {.block_bytes = 64}),
            Format::jsonl);
  EXPECT_EQ(format_of("{\"text\":1}\n"), Format::plain);
  EXPECT_EQ(format_of("{\"txt\":\"x\"}\n"), Format::plain);
  EXPECT_EQ(format_of("{\"txt\":\"x\"}\n", {.field = "txt"}), Format::jsonl);
  EXPECT_EQ(format_of("{\n\"text\":\"x\"}\n"), Format::plain);
  EXPECT_EQ(format_of(" {\"text\":\"x\"}\n"), Format::plain);
  EXPECT_EQ(format_of("{"), Format::plain);
  EXPECT_EQ(format_of("[{\"text\":\"x\"}]\n"), Format::plain);
  EXPECT_EQ(format_of("{\"text\":\"x\"}\n", {.format = Format::plain}), Format::plain);
  EXPECT_EQ(format_of(" {\"text\":\"x\"}\n", {.format = Format::jsonl}), Format::jsonl);
}

TEST(ReadCorpus, AFileNamedJsonlHasToBeIt) {
  const TemporaryFolder folder;
  for (const char* name : {"a.jsonl", "a.ndjson", "a.jsonlines"}) {
    const std::string path = folder.write(name, "text\n");
    expect_error([&] { read({path}); }, ErrorKind::input,
                 testing::StartsWith(path + ":1: found broken JSON ("));
  }
  const std::string zipped = folder.write("a.jsonl.gz", packed("\n{\"a\":1}", Compression::gzip));
  expect_error([&] { read({zipped}); }, ErrorKind::input,
               zipped + ":2: found no field \"text\", expected a JSON object with this field");
}

TEST(ReadCorpus, Lists) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a", "A");
  const std::string b = folder.write("b", "BB");
  const std::string list = folder.write("list", b + "\n\n" + a + "\r\n" + b);
  const Corpus corpus = read({a, "@" + list});
  EXPECT_EQ(text_of(corpus.bytes), "ABBABB");
  const std::string empty = folder.write("empty", "\n");
  expect_error([&] { read({"@" + empty}); }, ErrorKind::input,
               empty + ": found no lines, expected a path on each line");
}

TEST(ReadCorpus, Tokens) {
  const TemporaryFolder folder;
  const std::string path = folder.write("tokens", "{\"text\"");
  const std::string odd = folder.write("odd", "12345");
  CorpusOptions options;
  options.token_bytes = 4;
  options.block_bytes = 66;
  EXPECT_EQ(read({folder.write("many", std::string(400, '\xff'))}, options).bytes.size(), 400U);
  expect_error([&] { read({path}, options); }, ErrorKind::input,
               path + ": found 7 bytes, expected a multiple of 4, the size of a token");
  options.token_bytes = 2;
  expect_error([&] { read({odd}, options); }, ErrorKind::input,
               odd + ": found 5 bytes, expected a multiple of 2, the size of a token");
  EXPECT_EQ(read({folder.write("even", "{\"text\":1}")}, options).files[0].invalid_utf8, 0U);
  options.token_bytes = 3;
  EXPECT_THROW(read({path}, options), Error);
}

TEST(ReadCorpus, InvalidUtf8IsCountedOrRefused) {
  const TemporaryFolder folder;
  const std::string lines = folder.write(
      "a.jsonl", "{\"text\":\"fine\"}\n{\"text\":\"a\xff\"}\n{\"text\":\"fine\",\"\xfe\":1}\n");
  const std::string plain = folder.write("b", std::string(100, 'x') + "\xc3\xa9\xe9" +
                                                  std::string(100, '\xff') + std::string(500, 'y'));
  CorpusOptions options;
  options.block_bytes = 64;
  const Corpus corpus = read({lines, plain}, options);
  EXPECT_EQ(corpus.files[0].invalid_utf8, 1U);
  EXPECT_EQ(corpus.files[1].invalid_utf8, 1U) << "in several blocks of one document";
  EXPECT_EQ(text_of(corpus.document(1)), "a\xff");
  options.refuse_invalid_utf8 = true;
  expect_error([&] { read({lines}, options); }, ErrorKind::input,
               lines + ":2: found bytes that are not UTF-8, expected UTF-8");
  expect_error([&] { read({plain}, options); }, ErrorKind::input,
               plain + ": found the byte 0xe9 at byte 102, expected UTF-8");
}

TEST(ReadCorpus, CharactersAreNotDividedByBlocks) {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 5000) text += "\xe2\x82\xac\xf0\x9f\x98\x80";
  CorpusOptions options;
  options.refuse_invalid_utf8 = true;
  for (options.block_bytes = 64; options.block_bytes < 90; ++options.block_bytes)
    EXPECT_EQ(text_of(read({folder.write("a", text)}, options).bytes), text);
}

TEST(ReadCorpus, FirstFaultForAnyThreads) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 1; i < 2000; ++i)
    lines += i % 700 == 0 ? "{\"text\":0}\n" : "{\"text\":\"some words\"}\n";
  const std::string path = folder.write("a.jsonl", lines);
  CorpusOptions options;
  options.block_bytes = 100;
  for (int threads = 1; threads <= 4; ++threads)
    expect_error(
        [&] { static_cast<void>(read_corpus(with_threads(threads), std::vector{path}, options)); },
        ErrorKind::input, path + ":700: found a number as the field \"text\", expected a string");
}

TEST(ReadCorpus, CutOffAndMissingFiles) {
  const TemporaryFolder folder;
  const std::string content(10000, 'x');
  for (const Compression compression : {Compression::gzip, Compression::zstd}) {
    const std::string whole = packed(content, compression);
    const std::string path = folder.write("cut", whole.substr(0, whole.size() - 5));
    for (const std::size_t block : {64, 4 << 20}) {
      CorpusOptions options;
      options.block_bytes = block;
      expect_error([&] { read({path}, options); }, ErrorKind::input,
                   testing::HasSubstr("stream cut off after"));
    }
  }
  expect_error([&] { read({folder.path("none")}); }, ErrorKind::input,
               testing::HasSubstr("No such file"));
  EXPECT_THROW(read({}), Error);
}

TEST(ReadCorpus, TheBudgetIsKept) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", std::string(100000, 'x'));
  HostContext context = with_threads(2);
  context.memory_budget = 200000;
  EXPECT_EQ(read_corpus(context, std::vector{path}).bytes.size(), 100000U);
  context.memory_budget = 100000;
  EXPECT_THROW(read_corpus(context, std::vector{path}), Error);
  const std::string line =
      folder.write("b.jsonl", "{\"text\":\"" + std::string(100000, 'x') + "\"}");
  context.memory_budget = 200000;
  expect_error([&] { static_cast<void>(read_corpus(context, std::vector{line})); },
               ErrorKind::out_of_memory,
               testing::HasSubstr("out of memory: a block of the file needs"));
}

}  // namespace
}  // namespace sortie::texts::test
