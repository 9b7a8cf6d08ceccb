// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/texts/random_corpus.hpp"

namespace sortie::texts::test {
namespace {

using sortie::test::expect_error;

TEST(CorpusStream, BlocksJoinToTheCorpus) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const TemporaryFolder folder;
    const auto files = random_files(random, folder, 1 + random() % 5);
    const ExpectedCorpus expected(files);
    CorpusOptions options = small_blocks(random);
    options.keep_content = round % 2 == 0;
    CorpusStream stream(with_threads(1 + static_cast<int>(random() % 4)), paths_of(files), options);
    for (int pass = 0; pass < 2; ++pass) {
      std::string text;
      std::vector<std::uint64_t> begins;
      std::vector<std::uint64_t> lines;
      std::atomic<std::uint64_t> worked = 0;
      std::atomic<std::uint64_t> finished = 0;
      const auto check_place = [&](const CorpusBlock& block) {
        EXPECT_EQ(text_of(block.bytes), expected.text.substr(block.first_byte, block.bytes.size()));
      };
      stream.pass({.work =
                       [&](int worker, const CorpusBlock& block) {
                         EXPECT_LT(worker, stream.workers());
                         ++worked;
                         if (pass == 1) check_place(block);
                       },
                   .pass =
                       [&](int, const CorpusBlock& block) {
                         EXPECT_EQ(block.first_byte, text.size());
                         EXPECT_EQ(block.first_document, begins.size() - (block.continues ? 1 : 0));
                         if (!options.split_documents) {
                           EXPECT_FALSE(block.continues || block.continued);
                         }
                         for (std::size_t i = block.continues ? 1 : 0; i < block.documents(); ++i) {
                           begins.push_back(text.size() + block.begins[i]);
                           lines.push_back(block.lines[i]);
                         }
                         text += text_of(block.bytes);
                       },
                   .finish =
                       [&](int, const CorpusBlock& block) {
                         ++finished;
                         check_place(block);
                       }});
      begins.push_back(text.size());
      ASSERT_EQ(text, expected.text);
      ASSERT_EQ(begins, expected.begins);
      ASSERT_EQ(lines, expected.lines);
      EXPECT_EQ(worked, finished);
      EXPECT_EQ(stream.documents(), expected.lines.size());
      EXPECT_EQ(stream.text_bytes(), expected.text.size());
    }
  }
}

TEST(CorpusStream, DocumentsLargerThanABlock) {
  const TemporaryFolder folder;
  std::mt19937 random(4);
  std::string large(100000, 'x');
  for (char& byte : large) byte = static_cast<char>('a' + random() % 26);
  const std::string line = R"({"text":")" + large + "\"}\n";
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::zstd}) {
    const std::vector<std::string> paths = {
        folder.write("a.jsonl", packed(line + line, compression)),
        folder.write("a.txt", packed(large, compression))};
    CorpusOptions options;
    options.block_bytes = 1000;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    const CorpusSteps count = {.work = {},
                               .pass =
                                   [&](int, const CorpusBlock& block) {
                                     ++blocks;
                                     bytes += block.bytes.size();
                                   },
                               .finish = {}};
    CorpusStream(with_threads(3), paths, options).pass(count);
    EXPECT_EQ(bytes, 300000U);
    EXPECT_LE(blocks, 4U);
    options.split_documents = true;
    CorpusStream(with_threads(3), paths, options).pass(count);
    EXPECT_EQ(bytes, 600000U);
    EXPECT_GT(blocks, 100U);
  }
}

TEST(CorpusStream, AFileThatChangedIsNamed) {
  const TemporaryFolder folder;
  const std::string first = folder.write("a", std::string(1000, 'a'));
  const std::string second = folder.write("b.jsonl", "{\"text\":\"abc\"}\n{\"text\":\"def\"}\n");
  CorpusOptions options;
  options.block_bytes = 64;
  const auto expect_change = [&](const std::string& path, const std::string& content) {
    const std::string before = sortie::test::content_of(path);
    CorpusStream stream(with_threads(2), std::vector{first, second}, options);
    stream.pass({});
    stream.pass({});
    static_cast<void>(folder.write(std::filesystem::path(path).filename().string(), content));
    expect_error([&] { stream.pass({}); }, ErrorKind::input,
                 testing::AllOf(testing::StartsWith(path + ": found "),
                                testing::HasSubstr(" as when the file was read before")));
    static_cast<void>(folder.write(std::filesystem::path(path).filename().string(), before));
    stream.pass({});
  };
  expect_change(first, std::string(1000, 'a') + "b");
  expect_change(first, std::string(999, 'a'));
  expect_change(first, std::string(500, 'a') + "b" + std::string(499, 'a'));
  expect_change(first, "");
  expect_change(second, "{\"text\":\"abc\"}\n{\"text\":\"deg\"}\n");
  expect_change(second, "{\"text\":\"abc\"}\n");
}

TEST(CorpusStream, KeepsTheContentOfCompressedFiles) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "{\"text\":\"number " + std::to_string(i) + "\"}\n";
  const std::string plain = folder.write("plain", lines);
  const std::vector paths = {folder.write("a", packed(std::string(1000, 'a'), Compression::gzip)),
                             folder.write("b.jsonl", packed(lines, Compression::zstd))};
  // Whether the second pass goes without the files.
  const auto is_kept = [&](const std::vector<std::string>& files, std::uint64_t budget) {
    HostContext context = with_threads(3);
    context.memory_budget = budget;
    CorpusStream stream(context, files, {.keep_content = true, .block_bytes = 64});
    const auto text = [&] {
      std::string all;
      stream.pass({.work = {},
                   .pass = [&](int, const CorpusBlock& block) { all += text_of(block.bytes); },
                   .finish = {}});
      return all;
    };
    const std::string first = text();
    EXPECT_EQ(text(), first);
    const std::string before = sortie::test::content_of(files.back());
    const std::string name = std::filesystem::path(files.back()).filename().string();
    static_cast<void>(folder.write(name, ""));
    bool is_same = false;
    try {
      is_same = text() == first;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
    }
    static_cast<void>(folder.write(name, before));
    return is_same;
  };
  EXPECT_TRUE(is_kept(paths, 0));
  EXPECT_FALSE(is_kept(paths, 1'000'000));
  EXPECT_FALSE(is_kept({paths[0], plain}, 0));
}

TEST(CorpusStream, APipeIsReadOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(path) << std::string(10000, 'x'); });
  CorpusOptions options;
  options.block_bytes = 100;
  CorpusStream stream(with_threads(2), std::vector{path}, options);
  stream.pass({});
  EXPECT_EQ(stream.text_bytes(), 10000U);
  expect_error([&] { stream.pass({}); }, ErrorKind::usage,
               path + ": found a pipe, expected a file, since the corpus is read twice");
}

TEST(CorpusStream, ExceptionsOfStepsEndThePass) {
  const TemporaryFolder folder;
  CorpusOptions options;
  options.block_bytes = 64;
  options.split_documents = true;
  const std::vector<std::string> paths = {
      folder.write("a", packed(std::string(100000, 'a'), Compression::zstd)),
      folder.write("b", std::string(100000, 'a'))};
  CorpusStream stream(with_threads(4), paths, options);
  const auto fails = [](int, const CorpusBlock&) { throw std::runtime_error("step"); };
  EXPECT_THROW(stream.pass({.work = fails, .pass = {}, .finish = {}}), std::runtime_error);
  EXPECT_THROW(stream.pass({.work = {}, .pass = fails, .finish = {}}), std::runtime_error);
  EXPECT_THROW(stream.pass({.work = {}, .pass = {}, .finish = fails}), std::runtime_error);
  stream.pass({});
  EXPECT_EQ(stream.documents(), 2U);
}

}  // namespace
}  // namespace sortie::texts::test
