// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/byte_source.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/texts/random_corpus.hpp"
#include "texts/utf8.hpp"

namespace sortie::texts::test {
namespace {

using sortie::test::content_of;
using sortie::test::expect_error;
namespace fs = std::filesystem;

std::string unpacked(const std::string& path) {
  const ByteBuffer bytes = read_all(path);
  return {bytes.data.get(), bytes.size};
}

std::vector<ByteRange> random_ranges(std::mt19937& random, std::uint64_t size) {
  std::vector<ByteRange> ranges;
  for (std::uint64_t at = random() % 20; at < size; at += 1 + random() % 60) {
    const std::uint64_t end = std::min<std::uint64_t>(size, at + random() % 50);
    ranges.push_back({at, end});
    at = end;
  }
  return ranges;
}

/// The parts of ranges in a document, byte by byte; those of JSONL at whole characters.
std::vector<bool> marks_of(const std::vector<ByteRange>& ranges, std::uint64_t offset,
                           const std::string& document, bool at_characters) {
  std::vector<bool> marks(document.size());
  for (const ByteRange& range : ranges) {
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(document.data()), document.size());
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = at_characters ? character_size(bytes.subspan(at)) : 1;
      if (offset + at >= range.begin && offset + at + size <= range.end)
        std::fill_n(marks.begin() + static_cast<std::ptrdiff_t>(at), size, true);
      at += size;
    }
  }
  return marks;
}

std::string unmarked(const std::string& document, const std::vector<bool>& marks) {
  std::string left;
  for (std::size_t i = 0; i < document.size(); ++i)
    if (!marks[i]) left += document[i];
  return left;
}

/// A line with a text that is written as in the original, as far as nlohmann knows.
nlohmann::ordered_json with_text(const std::string& line, const std::string& text) {
  nlohmann::ordered_json object = nlohmann::ordered_json::parse(line);
  object["text"] = text;
  return object;
}

void check_file(const RandomFile& file, std::uint64_t offset, const std::vector<ByteRange>& ranges,
                const CleaningOptions& options, const std::string& written) {
  if (!file.is_jsonl) {
    ASSERT_EQ(written, unmarked(file.content, marks_of(ranges, offset, file.content, false)));
    return;
  }
  std::istringstream before(file.content);
  std::istringstream after(written);
  std::string line;
  std::string cleaned;
  std::size_t document = 0;
  while (std::getline(before, line)) {
    if (line.find_first_not_of(" \r") == std::string::npos) {
      ASSERT_TRUE(std::getline(after, cleaned));
      ASSERT_EQ(cleaned, line);
      continue;
    }
    const std::string& text = file.documents[document++];
    const auto marks = marks_of(ranges, offset, text, true);
    offset += text.size();
    const std::string left = unmarked(text, marks);
    if (options.drop_empty && left.empty() && !text.empty()) continue;
    ASSERT_TRUE(std::getline(after, cleaned));
    if (left == text) {
      ASSERT_EQ(cleaned, line);
    } else {
      ASSERT_EQ(nlohmann::ordered_json::parse(cleaned), with_text(line, left));
      // Escapes remain: the line has the bytes that it would have if it had been written so.
      const bool is_ascii = std::ranges::all_of(line, [](char byte) { return byte >= 0; });
      const std::string end = line.ends_with('\r') ? "\r" : "";
      if (line == nlohmann::ordered_json::parse(line).dump(-1, ' ', is_ascii) + end) {
        ASSERT_EQ(cleaned, with_text(line, left).dump(-1, ' ', is_ascii) + end);
      }
    }
  }
  ASSERT_FALSE(std::getline(after, cleaned));
}

TEST(CleanedCorpus, RandomFilesAndRanges) {
  std::mt19937 random(4);
  for (int round = 0; round < 150; ++round) {
    const TemporaryFolder folder;
    const auto files = random_files(random, folder, 1 + random() % 4);
    CorpusStream stream(with_threads(1 + static_cast<int>(random() % 4)), paths_of(files),
                        small_blocks(random));
    stream.pass({});
    const std::vector<ByteRange> ranges = random_ranges(random, stream.text_bytes());
    CleaningOptions options;
    options.drop_empty = random() % 2 == 0;
    const std::string output = folder.path("out");
    const CleaningResult result =
        write_cleaned_corpus(with_threads(2), stream, ranges, output, options);
    std::uint64_t offset = 0;
    std::uint64_t left = 0;
    for (const RandomFile& file : files) {
      const std::string path =
          files.size() == 1 ? output : (fs::path(output) / fs::path(file.path).filename()).string();
      EXPECT_EQ(ByteSource(path).encoding() != Encoding::plain,
                file.compression != Compression::none);
      ASSERT_NO_FATAL_FAILURE(check_file(file, offset, ranges, options, unpacked(path)));
      for (const std::string& document : file.documents) offset += document.size();
    }
    EXPECT_EQ(result.documents + result.dropped, stream.documents());
    if (!options.drop_empty) {
      const std::vector<std::string> written = files.size() == 1 ? std::vector{output} : [&] {
        std::vector<std::string> paths;
        for (const RandomFile& file : files)
          paths.push_back((fs::path(output) / fs::path(file.path).filename()).string());
        return paths;
      }();
      CorpusOptions reading;
      if (files.size() == 1) reading.format = files[0].is_jsonl ? Format::jsonl : Format::plain;
      left = read_corpus(with_threads(2), written, reading).bytes.size();
      EXPECT_EQ(left + result.bytes_removed, stream.text_bytes());
    }
  }
}

TEST(CleanedCorpus, AnnotationsAreFieldsWithRanges) {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "a.jsonl",
      "{\"text\":\"a\\u00e9b\"} \r\n\n{\"text\":\"\",\"x\":{}}\n{ \"text\" : \"cdef\" }");
  CorpusStream stream(with_threads(2), std::vector{path});
  stream.pass({});
  const std::vector<ByteRange> ranges = {{0, 1}, {2, 5}, {7, 8}};
  const CleaningResult result =
      write_cleaned_corpus(with_threads(2), stream, ranges, folder.path("out"), {.annotate = true});
  EXPECT_EQ(content_of(folder.path("out")),
            "{\"text\":\"a\\u00e9b\",\"sa_remove_ranges\":[[0,1],[3,4]]} \r\n\n"
            "{\"text\":\"\",\"x\":{},\"sa_remove_ranges\":[]}\n"
            "{ \"text\" : \"cdef\" ,\"sa_remove_ranges\":[[0,1],[3,4]]}");
  EXPECT_EQ(result.bytes_removed, 4U);
  expect_error(
      [&] {
        write_cleaned_corpus(with_threads(2), stream, ranges, folder.path("out2"),
                             {.annotate = true, .annotation = "x"});
      },
      ErrorKind::input,
      path + ":3: found the field \"x\", expected an object without it, since it is to be added");
  EXPECT_FALSE(fs::exists(folder.path("out2")));
}

TEST(CleanedCorpus, RefusedCalls) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "0123456789");
  CorpusStream stream(with_threads(1), std::vector{path});
  const auto clean = [&](const std::vector<ByteRange>& ranges,
                         const CleaningOptions& options = {}) {
    write_cleaned_corpus(with_threads(1), stream, ranges, folder.path("out"), options);
  };
  EXPECT_THROW(clean({}), Error) << "before a pass";
  stream.pass({});
  expect_error(
      [&] {
        clean({{2, 4}, {3, 5}});
      },
      ErrorKind::usage, "range 1: found bytes 2 to 4, expected ascending ranges within 10 bytes");
  EXPECT_THROW(clean({{4, 3}}), Error);
  EXPECT_THROW(clean({{4, 11}}), Error);
  expect_error([&] { clean({}, {.annotate = true}); }, ErrorKind::usage,
               path + ": found a plain file, expected JSONL, which annotations need");
  EXPECT_THROW(clean({}, {.annotate = true, .annotation = "\""}), Error);
  EXPECT_FALSE(fs::exists(folder.path("out")));
  clean({{2, 4}, {4, 4}, {4, 6}});
  EXPECT_EQ(content_of(folder.path("out")), "016789");
}

TEST(CleanedCorpus, FoldersOfSeveralFiles) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path("in/x"));
  fs::create_directories(folder.path("in/y"));
  const std::vector<std::string> same = {folder.write("in/x/a", "xa"),
                                         folder.write("in/y/a", "ya")};
  CorpusStream stream(with_threads(2), same);
  stream.pass({});
  write_cleaned_corpus(with_threads(2), stream, std::vector<ByteRange>{{0, 1}},
                       folder.path("out/"));
  EXPECT_EQ(content_of(folder.path("out/x/a")), "a");
  EXPECT_EQ(content_of(folder.path("out/y/a")), "ya");
  expect_error([&] { write_cleaned_corpus(with_threads(2), stream, {}, folder.path("out")); },
               ErrorKind::output, testing::HasSubstr("expected an empty folder, or none"));
  fs::create_directory(folder.path("empty"));
  write_cleaned_corpus(with_threads(2), stream, {}, folder.path("empty"));
  EXPECT_EQ(content_of(folder.path("empty/x/a")), "xa");
  CorpusStream twice(with_threads(2), std::vector{same[0], same[0]});
  twice.pass({});
  expect_error([&] { write_cleaned_corpus(with_threads(2), twice, {}, folder.path("twice")); },
               ErrorKind::usage, testing::HasSubstr("the same file twice"));
  EXPECT_EQ(folder.entries(), 3U) << "in, out, empty";
}

TEST(CleanedCorpus, NothingIsLeftOfAChangedCorpusOrAFullDisk) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path("in"));
  const std::vector<std::string> paths = {folder.write("in/a", std::string(100000, 'x')),
                                          folder.write("in/b", "b")};
  CorpusStream stream(with_threads(2), paths);
  stream.pass({});
  static_cast<void>(folder.write("in/b", "c"));
  expect_error([&] { write_cleaned_corpus(with_threads(2), stream, {}, folder.path("out")); },
               ErrorKind::input, testing::StartsWith(paths[1] + ": found 1 bytes with checksum"));
  EXPECT_EQ(folder.entries(), 1U);
  static_cast<void>(folder.write("in/b", "b"));
  {
    const sortie::test::FileSizeLimit limit(50000);
    expect_error([&] { write_cleaned_corpus(with_threads(2), stream, {}, folder.path("out")); },
                 ErrorKind::output, testing::HasSubstr("cannot be written"));
  }
  EXPECT_EQ(folder.entries(), 1U);
  write_cleaned_corpus(with_threads(2), stream, {}, folder.path("out"));
  EXPECT_EQ(folder.entries(), 2U);
}

}  // namespace
}  // namespace sortie::texts::test
