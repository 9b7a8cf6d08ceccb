// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "core/files/byte_source.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using sortie::ByteSource;
using sortie::ErrorKind;
using sortie::test::bgzf_block;
using sortie::test::expect_error;
using sortie::test::gzip;
using sortie::test::TemporaryFolder;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// Text that deflate cannot shrink to nothing, so that a cut hits its data.
std::string text_of(std::size_t size) {
  std::string text(size, '\0');
  std::uint64_t state = 1;
  for (char& letter : text) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    letter = "ACGT"[state >> 62];
  }
  return text;
}

std::string read_through(const std::string& path) {
  const auto buffer = sortie::read_all(path);
  return {buffer.span().begin(), buffer.span().end()};
}

TEST(ByteSource, PlainFile) {
  const TemporaryFolder folder;
  const std::string text = text_of(100001);
  const std::string path = folder.write("plain", text);
  ByteSource source(path);
  EXPECT_EQ(source.name(), path);
  EXPECT_FALSE(source.compressed());
  EXPECT_EQ(source.size_hint(), text.size());
  EXPECT_EQ(source.content_size_hint(), text.size());
  EXPECT_TRUE(read_through(path) == text);
}

class ByteSourceShort : public testing::TestWithParam<std::string> {};

TEST_P(ByteSourceShort, FilesTooShortForAnything) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_through(folder.write("short", GetParam())), GetParam());
  EXPECT_EQ(read_through(folder.write("short.gz", gzip(GetParam()))), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Content, ByteSourceShort, testing::Values("", "x", "\x1f", "ab", "abc"));

TEST(ByteSource, GzipIsRecognisedByItsContent) {
  const TemporaryFolder folder;
  const std::string text = text_of(1000000);
  const std::string path = folder.write("no_gz_in_the_name", gzip(text));
  ByteSource source(path);
  EXPECT_TRUE(source.compressed());
  EXPECT_EQ(source.content_size_hint(), text.size());
  EXPECT_TRUE(read_through(path) == text);
  EXPECT_TRUE(read_through(folder.write("plain.gz", text)) == text);
}

TEST(ByteSource, AnySizeOfReadGivesTheSameBytes) {
  const TemporaryFolder folder;
  const std::string text = text_of(20000);
  for (const auto& path : {folder.write("plain", text),
                           folder.write("gz", gzip(text.substr(0, 7)) + gzip(text.substr(7)))}) {
    for (const std::size_t piece : {1, 2, 3, 1000, 20000, 30000}) {
      ByteSource source(path);
      std::string read;
      std::string buffer(piece, '\0');
      while (true) {
        const std::size_t got = source.read(buffer);
        read.append(buffer, 0, got);
        if (got < piece) break;
      }
      EXPECT_TRUE(read == text) << path << " in pieces of " << piece;
      EXPECT_EQ(source.read(buffer), 0U) << "after the end";
    }
  }
}

TEST(ByteSource, MembersFollowEachOther) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("gz", gzip("one ") + gzip("") + gzip("two ") + gzip(text_of(300000)));
  EXPECT_TRUE(read_through(path) == "one two " + text_of(300000));
}

TEST(ByteSource, ZeroPaddingAtTheEndIsAccepted) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_through(folder.write("gz", gzip("padded") + std::string(512, '\0'))), "padded");
  EXPECT_EQ(read_through(folder.write("large", gzip("padded") + std::string(1 << 20, '\0'))),
            "padded");
}

TEST(ByteSource, Bgzf) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("bgzf", bgzf_block("one ") + bgzf_block("two") + bgzf_block(""));
  EXPECT_EQ(read_through(path), "one two");
}

TEST(ByteSource, BgzfCutBetweenBlocksLacksItsEndMarker) {
  const TemporaryFolder folder;
  const std::string blocks = bgzf_block("one ") + bgzf_block("two");
  const std::string path = folder.write("bgzf", blocks);
  expect_error([&] { read_through(path); }, ErrorKind::input,
               fmt::format("{}: found bgzf stream cut off after {} bytes, expected its end marker, "
                           "an empty block",
                           path, blocks.size()));
}

TEST(ByteSource, EveryCutOfAGzipFileIsNoticed) {
  const TemporaryFolder folder;
  const std::string packed = gzip("a short text");
  for (std::size_t size = 2; size < packed.size(); ++size) {
    const std::string path = folder.write("cut", packed.substr(0, size));
    expect_error([&] { read_through(path); }, ErrorKind::input,
                 fmt::format("{}: found gzip stream cut off after {} bytes, expected its end with "
                             "checksum and length",
                             path, size));
  }
}

TEST(ByteSource, ACutOffSecondMemberIsNoticed) {
  const TemporaryFolder folder;
  const std::string first = gzip("first");
  const std::string second = gzip("second");
  for (std::size_t size = 1; size < second.size(); ++size) {
    const std::string path = folder.write("cut", first + second.substr(0, size));
    expect_error([&] { read_through(path); }, ErrorKind::input, HasSubstr("cut off after"));
  }
}

TEST(ByteSource, ALargeCutOffFileIsNoticed) {
  const TemporaryFolder folder;
  const std::string packed = gzip(text_of(3000000));
  const std::string path = folder.write("cut", packed.substr(0, packed.size() / 2));
  expect_error([&] { read_through(path); }, ErrorKind::input,
               HasSubstr(fmt::format("cut off after {} bytes", packed.size() / 2)));
}

TEST(ByteSource, EveryFlippedByteOfTheDataIsNoticed) {
  const TemporaryFolder folder;
  const std::string packed = gzip(text_of(300));
  constexpr std::size_t header_size = 10;  // holds a time and a system that nothing checks
  for (std::size_t i = header_size; i < packed.size(); ++i) {
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    const std::string path = folder.write("damaged", damaged);
    expect_error([&] { read_through(path); }, ErrorKind::input,
                 AllOf(StartsWith(path + ": found "), HasSubstr("gzip stream")));
  }
}

TEST(ByteSource, DamageIsNamedWithItsPlace) {
  const TemporaryFolder folder;
  std::string packed = gzip("checked");
  packed[packed.size() - 8] ^= 1;
  const std::string path = folder.write("damaged", packed);
  expect_error([&] { read_through(path); }, ErrorKind::input,
               AllOf(StartsWith(path + ": found damaged gzip stream at byte "),
                     EndsWith("(incorrect data check), expected valid deflate data")));
}

TEST(ByteSource, TrailingGarbageIsNotIgnored) {
  const TemporaryFolder folder;
  for (const auto& tail : {std::string("garbage"), std::string("\0\0x", 3), std::string("\x1fz")}) {
    const std::string path = folder.write("tail", gzip("text") + tail);
    expect_error([&] { read_through(path); }, ErrorKind::input,
                 StartsWith(path + ": found damaged gzip stream"));
  }
}

TEST(ByteSource, AForgedSizeFieldDoesNotTakeTheMemory) {
  const TemporaryFolder folder;
  std::string packed = gzip("tiny");
  packed.replace(packed.size() - 4, 4, "\xff\xff\xff\xff");
  const std::string path = folder.write("forged", packed);
  EXPECT_LT(ByteSource(path).content_size_hint(), 100000U);
  expect_error([&] { read_through(path); }, ErrorKind::input, HasSubstr("incorrect length check"));
}

TEST(ByteSource, MissingFile) {
  expect_error(
      [] { ByteSource source("/no/such/file"); }, ErrorKind::input,
      "/no/such/file: cannot be opened: No such file or directory, expected a readable file");
}

TEST(ByteSource, Folder) {
  const TemporaryFolder folder;
  expect_error([&] { ByteSource source(folder.path("")); }, ErrorKind::input,
               folder.path("") + ": found a folder, expected a file");
}

class ByteSourcePipe : public testing::TestWithParam<bool> {};

TEST_P(ByteSourcePipe, ReadsWhatComesInPieces) {
  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string text = text_of(3000000);
  std::thread writer([&] {
    std::ofstream pipe(path, std::ios::binary);
    const std::string sent = GetParam() ? gzip(text) : text;
    pipe << sent[0] << std::flush << sent.substr(1);
  });
  const std::string read = read_through(path);
  writer.join();
  EXPECT_TRUE(read == text);
}

INSTANTIATE_TEST_SUITE_P(PlainAndGzip, ByteSourcePipe, testing::Bool());

TEST(ByteSource, StandardInputHasAName) {
  const TemporaryFolder folder;
  const std::string path = folder.write("input", "from standard input");
  const int saved = ::dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(path.c_str(), "r", stdin), nullptr);
  EXPECT_EQ(ByteSource("-").name(), "<stdin>");
  ::lseek(STDIN_FILENO, 0, SEEK_SET);
  EXPECT_EQ(read_through("-"), "from standard input");
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
}

}  // namespace
