// SPDX-License-Identifier: Apache-2.0

// Files read by several threads: the same bytes, and the same errors, as by one.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/files/block_pipeline.hpp"
#include "core/files/byte_source.hpp"
#include "core/files/input_file.hpp"
#include "core/files/piece_source.hpp"
#include "core/random.hpp"
#include "sortie/error.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/read_faults.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;

std::string random_text(std::size_t size, std::uint64_t seed = 1) {
  Random random(seed);
  std::string text;
  while (text.size() < size) {
    std::uint64_t bits = random.next();
    for (int letter = 0; letter < 32; ++letter, bits >>= 2) text += "ACG\n"[bits & 3];
  }
  text.resize(size);
  return text;
}

/// The content of a file, or the message of the error.
template <class Call>
std::string outcome(Call&& call) {
  try {
    return "content: " + call();
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

/// What the decoders of streams make of it.
std::string streamed(const std::string& path, std::size_t step = 4096) {
  return outcome([&] {
    ByteSource source(path);
    std::string content;
    std::string buffer(step, '\0');
    for (std::size_t got = step; got == step;) {
      got = source.read(buffer);
      content.append(buffer, 0, got);
    }
    return content;
  });
}

std::string read_whole(const std::string& path, int threads) {
  return outcome([&] {
    const ByteBuffer buffer = read_all(path, 0, threads);
    return std::string(buffer.span().begin(), buffer.span().end());
  });
}

std::string read_in_pieces(const std::string& path, int threads, std::size_t piece_bytes,
                           std::uint64_t memory = std::uint64_t{1} << 30) {
  return outcome([&] {
    PieceSource source(path, {threads, piece_bytes, memory});
    std::string content;
    bool ended = false;
    BlockSteps steps;
    steps.take = [&](int worker, std::uint64_t) { return source.take(worker); };
    steps.work = [&](int worker, std::uint64_t) { static_cast<void>(source.load(worker)); };
    steps.pass = [&](int worker, std::uint64_t) {
      if (ended) return;
      const auto piece = source.load(worker);
      content.append(piece.begin(), piece.end());
      ended = source.is_last(worker);
    };
    try {
      run_blocks(source.workers(), steps);
    } catch (const PieceSource::NotWellFormed&) {
      source.read_in_order();
      content.clear();
      run_blocks(source.workers(), steps);
    }
    return content;
  });
}

/// Expects the same outcome of every way to read the file.
void expect_same(const std::string& path) {
  const std::string expected = streamed(path);
  ASSERT_EQ(read_whole(path, 1), expected) << path;
  ASSERT_EQ(read_in_pieces(path, 1, 50), expected) << path;
}

/// The same with threads, pieces of several sizes, and little memory.
void expect_same_in_every_way(const std::string& path) {
  const std::string expected = streamed(path);
  for (const int threads : {1, 3}) {
    EXPECT_EQ(read_whole(path, threads), expected) << threads << " threads";
    for (const std::size_t piece : {1, 50, 1 << 20})
      EXPECT_EQ(read_in_pieces(path, threads, piece), expected)
          << threads << " threads, pieces of " << piece;
  }
  EXPECT_EQ(read_in_pieces(path, 2, 50, 0), expected) << "without memory";
}

TEST(ParallelReading, OfALargeFileGivesItsBytes) {
  const TemporaryFolder folder;
  const std::string text = random_text((std::size_t{9} << 20) + 12345);
  const std::string path = folder.write("large", text);
  for (const int threads : {2, 16}) {
    EXPECT_TRUE(read_whole(path, threads) == "content: " + text) << threads;
    EXPECT_TRUE(read_in_pieces(path, threads, 1 << 20) == "content: " + text) << threads;
  }
}

TEST(ParallelReading, OfRangesOfAnySizeContinuesWhereTheLastOneEnded) {
  const TemporaryFolder folder;
  const std::string text = random_text((std::size_t{10} << 20) + 1);
  const std::string path = folder.write("large", text);
  for (const auto content : {ByteSource::Content::raw, ByteSource::Content::any}) {
    ByteSource source(path, content, 3);
    std::string read;
    for (const std::size_t size : {1U, 3U, 9U << 20, 7U, 100U, 16U << 20}) {
      std::string buffer(size, '\0');
      read.append(buffer, 0, source.read(buffer));
    }
    EXPECT_TRUE(read == text);
  }
}

TEST(ParallelReading, PassesOverSignalsAndShortReads) {
  const TemporaryFolder folder;
  const std::string text = random_text((std::size_t{9} << 20) + 5);
  const std::string path = folder.write("large", text);
  const InjectedReadFaults faults({.most_bytes = 100'000, .interrupted = true});
  EXPECT_TRUE(read_whole(path, 3) == "content: " + text);
  EXPECT_TRUE(read_in_pieces(path, 3, 1 << 20) == "content: " + text);
  EXPECT_GT(faults.injected(), 300U);
}

TEST(ParallelReading, ReportsAFailingReadWhereverItIs) {
  const TemporaryFolder folder;
  const std::string text = random_text((std::size_t{13} << 20) + 5);
  const std::string path = folder.write("large", text);
  const std::string expected =
      "error: " + path + ": cannot be read: Input/output error, expected a readable file";
  for (const std::uint64_t at : {std::uint64_t{4}, std::uint64_t{5} << 20, text.size() - 1}) {
    const InjectedReadFaults faults({.error_at = at});
    for (const int threads : {1, 3}) {
      EXPECT_EQ(read_whole(path, threads), expected) << at;
      EXPECT_EQ(read_in_pieces(path, threads, 1 << 20), expected) << at;
    }
    EXPECT_EQ(faults.injected(), 4U);
  }
}

// As by one thread: what is there when it is read.
TEST(ParallelReading, OfAFileThatShrinksEndsThere) {
  const TemporaryFolder folder;
  const std::string text = random_text((std::size_t{13} << 20) + 5);
  const std::string path = folder.write("large", text);
  for (const std::uint64_t size : {std::uint64_t{4}, std::uint64_t{5} << 20, text.size() - 1}) {
    const InjectedReadFaults faults({.size = size});
    for (const int threads : {1, 3}) {
      EXPECT_TRUE(read_whole(path, threads) == "content: " + text.substr(0, size)) << size;
      EXPECT_TRUE(read_in_pieces(path, threads, 1 << 20) == "content: " + text.substr(0, size))
          << size;
    }
  }
}

TEST(ParallelReading, OfCompressedFilesReportsAFailingRead) {
  const TemporaryFolder folder;
  const std::string text = random_text(300'000);
  for (const std::string& packed : {gzip(text), bgzf(text)}) {
    const std::string path = folder.write("packed", packed);
    const InjectedReadFaults faults({.error_at = packed.size() / 2});
    for (const int threads : {1, 3}) {
      EXPECT_THAT(read_whole(path, threads), HasSubstr("Input/output error"));
      EXPECT_THAT(read_in_pieces(path, threads, 1 << 10), HasSubstr("Input/output error"));
    }
    EXPECT_GE(faults.injected(), 4U);
  }
}

TEST(ParallelReading, OfBgzfAndGzipGivesTheContent) {
  const TemporaryFolder folder;
  const std::string text = random_text((std::size_t{3} << 20) + 77);
  std::vector<std::pair<std::string, std::string>> files = {
      {"one member", gzip(text)},
      {"members", gzip(text.substr(0, 1 << 20)) + gzip("") + gzip(text.substr(1 << 20))},
      {"bgzf", bgzf(text)},
      {"bgzf of small blocks", bgzf(text, 1000)}};
  for (const auto& [name, packed] : files) {
    const std::string path = folder.write("packed", packed);
    for (const int threads : {1, 2, 5}) {
      EXPECT_TRUE(read_whole(path, threads) == "content: " + text) << name << threads;
      EXPECT_TRUE(read_in_pieces(path, threads, 100'000) == "content: " + text) << name << threads;
    }
  }
}

struct PackedFile {
  std::string name;
  std::string bytes;
};

/// Small files of every form, well-formed or not.
std::vector<PackedFile> packed_files() {
  const std::string text = random_text(60);
  const std::string other_subfield("XY\3\0abc", 7);
  std::string forged_size = gzip(text);
  forged_size.replace(forged_size.size() - 4, 4, "\xff\xff\xff\x7f");
  std::string forged_block = bgzf(text, 30);
  forged_block[16] = static_cast<char>(forged_block[16] + 3);
  std::string forged_content = bgzf(text, 30);
  forged_content[forged_content.size() - bgzf_block("").size() - 4] = 7;
  return {{"gzip", gzip(text)},
          {"gzip of nothing", gzip("")},
          {"file name", gzip(text, {"", "name.fa", false})},
          {"header checksum", gzip(text, {"", "name.fa", true})},
          {"extra field", gzip(text, {other_subfield, "", false})},
          {"extra field like that of bgzf", gzip(text, {std::string("BC\1\0a", 5), "", false})},
          {"members", gzip(text) + gzip("") + gzip("end")},
          {"zero padding", gzip(text) + std::string(20, '\0')},
          {"zero padding and more", gzip(text) + std::string(20, '\0') + "x"},
          {"trailing bytes", gzip(text) + "trailing bytes"},
          {"trailing magic", gzip(text) + "\x1f"},
          {"forged size", forged_size},
          {"bgzf", bgzf(text, 30)},
          {"bgzf of nothing", bgzf("")},
          {"bgzf, other subfield", bgzf_block(text, other_subfield) + bgzf_block("")},
          {"bgzf, empty block inside", bgzf_block("") + bgzf(text, 40)},
          {"bgzf without end", bgzf_block(text) + bgzf_block(text)},
          {"bgzf and gzip", bgzf(text, 30) + gzip(text)},
          {"gzip and bgzf", gzip(text) + bgzf(text, 30)},
          {"bgzf and zero padding", bgzf(text, 30) + std::string(20, '\0')},
          {"bgzf and bytes", bgzf(text, 30) + "trailing bytes"},
          {"bgzf, forged block size", forged_block},
          {"bgzf, forged content size", forged_content}};
}

// Each case has a file of its own: file systems flush a file that is written once more.
class EveryDecoder : public testing::TestWithParam<PackedFile> {};

TEST_P(EveryDecoder, SaysTheSame) {
  const TemporaryFolder folder;
  expect_same_in_every_way(folder.write("packed", GetParam().bytes));
}

TEST_P(EveryDecoder, SaysTheSameOfEveryPrefix) {
  const TemporaryFolder folder;
  const std::string& packed = GetParam().bytes;
  for (std::size_t size = 0; size < packed.size(); ++size)
    expect_same(folder.write(fmt::format("first_{}_bytes", size), packed.substr(0, size)));
}

TEST_P(EveryDecoder, SaysTheSameOfEveryChangedByte) {
  const TemporaryFolder folder;
  Random random(3);
  for (std::size_t at = 0; at < GetParam().bytes.size(); ++at) {
    std::string packed = GetParam().bytes;
    packed[at] = static_cast<char>(packed[at] ^ static_cast<char>(1 + random.below(255)));
    expect_same(folder.write(fmt::format("byte_{}_changed", at), packed));
  }
}

void PrintTo(const PackedFile& file, std::ostream* out) {
  *out << file.name;
}

INSTANTIATE_TEST_SUITE_P(All, EveryDecoder, testing::ValuesIn(packed_files()));

TEST(ReadAll, OfGzipWithoutMemoryForBothIsStreamed) {
  const TemporaryFolder folder;
  const std::string text = random_text(1'000'000);
  const std::string packed = gzip(text);
  const std::string path = folder.write("packed", packed);
  // Of the content alone.
  const ByteBuffer buffer = read_all(path, text.size() + 1, 2);
  EXPECT_TRUE(std::string(buffer.span().begin(), buffer.span().end()) == text);
  expect_error([&] { static_cast<void>(read_all(path, text.size() - 1, 2)); },
               ErrorKind::out_of_memory, HasSubstr("reading the file needs "));
}

}  // namespace
}  // namespace sortie::test
