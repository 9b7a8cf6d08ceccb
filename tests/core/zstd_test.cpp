// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/files/byte_source.hpp"
#include "core/random.hpp"
#include "sortie/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/zstd_frame.hpp"

namespace sortie::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string random_text(std::size_t size) {
  Random random(1);
  std::string text(size, '\0');
  for (char& letter : text) letter = "ACGT"[random.below(4)];
  return text;
}

std::string skippable_frame(std::string_view content) {
  std::string frame("\x5a\x2a\x4d\x18", 4);
  for (int shift = 0; shift < 32; shift += 8)
    frame += static_cast<char>(content.size() >> shift & 0xff);
  return frame.append(content);
}

std::string read_through(const std::string& path) {
  const ByteBuffer buffer = read_all(path);
  return {buffer.span().begin(), buffer.span().end()};
}

TEST(Zstd, IsRecognisedByItsContent) {
  const TemporaryFolder folder;
  const std::string text = random_text(1'000'000);
  const std::string path = folder.write("no_zst_in_the_name", zstd(text));
  const ByteSource source(path);
  EXPECT_TRUE(source.compressed());
  EXPECT_EQ(source.encoding(), Encoding::zstd);
  EXPECT_EQ(source.content_size_hint(), text.size());
  EXPECT_TRUE(read_through(path) == text);
}

TEST(Zstd, FramesFollowEachOther) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_through(folder.write("frames", zstd("one ") + zstd("") + zstd("two"))), "one two");
  EXPECT_EQ(read_through(folder.write("skippable", skippable_frame("12345") + zstd("one ") +
                                                       skippable_frame("") + zstd("two") +
                                                       skippable_frame("end"))),
            "one two");
  EXPECT_EQ(read_through(folder.write("nothing", skippable_frame("only"))), "");
}

/// Frames on several threads: the same content, and the same errors.
TEST(Zstd, SeveralThreadsDecodeFrames) {
  const TemporaryFolder folder;
  Random random(7);
  const std::string text = random_text(200'000);
  for (int round = 0; round < 200; ++round) {
    std::string packed;
    const std::uint64_t frames = 2 + random.below(7);
    for (std::uint64_t i = 0; i < frames; ++i) {
      const std::uint64_t begin = random.below(text.size());
      const std::uint64_t most = random.below(4) == 0 ? 1 : 1 << random.below(18);
      packed += random.below(5) == 0 ? skippable_frame("skipped")
                                     : zstd(text.substr(begin, random.below(most)));
    }
    switch (random.below(4)) {
      case 0:
        packed.resize(encoding_head_bytes + random.below(packed.size() - encoding_head_bytes));
        break;
      case 1:
        packed[encoding_head_bytes + random.below(packed.size() - encoding_head_bytes)] ^= 1;
        break;
      case 2:
        packed += "trailing";
        break;
      default:
        break;
    }
    const std::string path = folder.write("frames", packed);
    const auto content = [&](int decoders) {
      std::string all;
      try {
        ByteSource source(path, ByteSource::Content::any, 1, decoders);
        std::string part(1 + random.below(100'000), '\0');
        for (std::size_t got = part.size(); got == part.size();) {
          got = source.read(part);
          all.append(part, 0, got);
        }
      } catch (const Error&) {
        return std::string("damaged");
      }
      return all;
    };
    const std::string expected = content(1);
    ASSERT_EQ(content(2), expected) << round;
    ASSERT_EQ(content(5), expected) << round;
  }
}

TEST(Zstd, AnySizeOfReadGivesTheSameBytes) {
  const TemporaryFolder folder;
  const std::string text = random_text(20'000);
  const std::string path = folder.write("zst", zstd(text.substr(0, 7)) + zstd(text.substr(7)));
  for (const std::size_t piece : {1, 2, 1000, 20'000, 30'000}) {
    ByteSource source(path);
    std::string read;
    std::string buffer(piece, '\0');
    for (std::size_t got = piece; got == piece;) {
      got = source.read(buffer);
      read.append(buffer, 0, got);
    }
    EXPECT_TRUE(read == text) << piece;
    EXPECT_EQ(source.read(buffer), 0U) << "after the end";
  }
}

TEST(Zstd, EveryCutIsNoticed) {
  const TemporaryFolder folder;
  const std::string packed = zstd(random_text(500));
  for (std::size_t size = encoding_head_bytes; size < packed.size(); ++size) {
    const std::string path = folder.write("cut", packed.substr(0, size));
    expect_error(
        [&] { read_through(path); }, ErrorKind::input,
        fmt::format("{}: found zstd stream cut off after {} bytes, expected the end of its "
                    "last frame",
                    path, size));
  }
}

TEST(Zstd, ACutOffSecondFrameIsNoticed) {
  const TemporaryFolder folder;
  const std::string first = zstd("first");
  const std::string second = zstd(random_text(300'000));
  for (const std::size_t size : {std::size_t{1}, std::size_t{5}, second.size() - 1}) {
    const std::string path = folder.write("cut", first + second.substr(0, size));
    expect_error([&] { read_through(path); }, ErrorKind::input, HasSubstr("cut off after"));
  }
}

TEST(Zstd, EveryChangedByteOfTheDataIsNoticed) {
  const TemporaryFolder folder;
  const std::string packed = zstd(random_text(300));
  for (std::size_t at = encoding_head_bytes; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const std::string path = folder.write("damaged", damaged);
    expect_error([&] { read_through(path); }, ErrorKind::input,
                 AllOf(StartsWith(path + ": found "), HasSubstr("zstd stream")));
  }
}

TEST(Zstd, TrailingBytesAreNotIgnored) {
  const TemporaryFolder folder;
  const std::string packed = zstd("text");
  const std::string path = folder.write("tail", packed + "trailing bytes");
  expect_error([&] { read_through(path); }, ErrorKind::input,
               AllOf(StartsWith(path + ": found damaged zstd stream at byte "),
                     HasSubstr("expected valid zstd data")));
}

TEST(Zstd, AForgedSizeDoesNotTakeTheMemory) {
  const TemporaryFolder folder;
  std::string packed = zstd(random_text(100'000));
  // The frame header descriptor says that the size follows in 4 bytes.
  ASSERT_EQ(static_cast<unsigned char>(packed[4]) >> 6, 2);
  for (std::size_t at = 5; at < 9; ++at) packed[at] = '\x7f';
  const std::string path = folder.write("forged", packed);
  EXPECT_LE(ByteSource(path).content_size_hint(), packed.size() * 1032);
  expect_error([&] { read_through(path); }, ErrorKind::input, HasSubstr("zstd stream"));
}

TEST(Zstd, ComesThroughAPipe) {
  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string text = random_text(3'000'000);
  std::thread writer([&] {
    std::ofstream pipe(path, std::ios::binary);
    const std::string sent = zstd(text);
    pipe << sent[0] << std::flush << sent.substr(1);
  });
  const std::string read = read_through(path);
  writer.join();
  EXPECT_TRUE(read == text);
}

TEST(Zstd, ShortFilesAreNotTakenForIt) {
  const TemporaryFolder folder;
  const ByteBuffer buffer = read_all(folder.write("short", "\x28\xb5\x2f"));
  EXPECT_EQ(buffer.size, 3U);
}

}  // namespace
}  // namespace sortie::test
