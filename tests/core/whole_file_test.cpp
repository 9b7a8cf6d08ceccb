// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "core/files/whole_file.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/pipe_reader.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using sortie::ErrorKind;
using sortie::WholeFile;
using sortie::test::content_of;
using sortie::test::expect_error;
using sortie::test::FileSizeLimit;
using sortie::test::PipeReader;
using sortie::test::TemporaryFolder;

mode_t permissions(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(WholeFile, AppearsOnCommit) {
  const TemporaryFolder folder;
  const std::string path = folder.path("result");
  {
    WholeFile file(path);
    file.write("one\n");
    EXPECT_FALSE(std::filesystem::exists(path));
    file.write("two\n");
    EXPECT_EQ(file.bytes_written(), 8U);
    file.commit();
  }
  EXPECT_EQ(content_of(path), "one\ntwo\n");
  EXPECT_EQ(folder.entries(), 1U);
}

// Over bytes that still wait to be written, and over those that are in the file.
TEST(WholeFile, RewritesWhatWasWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.path("result");
  std::string expected = "head 000\n";
  WholeFile file(path);
  file.write(expected);
  file.rewrite(5, "12");
  expected.replace(5, 2, "12");
  for (int i = 0; i < 5; ++i) {
    file.write(std::string(200'000, static_cast<char>('a' + i)));
    expected += std::string(200'000, static_cast<char>('a' + i));
  }
  file.rewrite(7, "3\nxyz");
  expected.replace(7, 5, "3\nxyz");
  file.rewrite(expected.size() - 1, "!");
  expected.back() = '!';
  file.write("end");
  EXPECT_EQ(file.bytes_written(), expected.size() + 3);
  file.commit();
  EXPECT_EQ(content_of(path), expected + "end");
}

TEST(WholeFile, TakesRewritesWhereItCanGoBack) {
  const TemporaryFolder folder;
  EXPECT_TRUE(WholeFile::takes_rewrites(folder.path("new")));
  EXPECT_TRUE(WholeFile::takes_rewrites(folder.write("old", "text")));
  EXPECT_FALSE(WholeFile::takes_rewrites("-"));
  EXPECT_FALSE(WholeFile::takes_rewrites("/dev/null"));
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(WholeFile::takes_rewrites(folder.path("pipe")));
}

// Before, between and after what is appended, whether that waits in the buffer or not.
TEST(WholeFile, WritesAtReservedOffsetsInAnyOrder) {
  const TemporaryFolder folder;
  const std::string long_text(300'000, 'l');
  WholeFile file(folder.path("result"));
  EXPECT_FALSE(file.is_stream());
  const std::uint64_t first = file.reserve(3);
  file.write("short");
  const std::uint64_t second = file.reserve(4);
  const std::uint64_t third = file.reserve(0);
  file.write(long_text);
  const std::uint64_t fourth = file.reserve(2);
  file.write("end");
  EXPECT_EQ(file.bytes_written(), 3 + 5 + 4 + long_text.size() + 2 + 3);
  file.write_at(fourth, std::string_view("44"));
  file.write_at(third, std::string_view());
  file.write_at(second + 2, std::string_view("22"));
  file.write_at(second, std::string_view("22"));
  file.write_at(first, std::string_view("111"));
  file.rewrite(2, "RR");
  file.commit();
  EXPECT_TRUE(content_of(folder.path("result")) == "11RRhort2222" + long_text + "44end");
}

TEST(WholeFile, ThreadsWriteAtTheSameTime) {
  const TemporaryFolder folder;
  constexpr int threads = 4;
  constexpr std::uint64_t size = 10'000;
  constexpr std::uint64_t blocks = 100;
  WholeFile file(folder.path("result"));
  const std::uint64_t begin = file.reserve(size * blocks);
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&file, begin, thread] {
        for (std::uint64_t block = thread; block < blocks; block += threads)
          file.write_at(begin + block * size, std::string(size, static_cast<char>(block)));
      });
    }
    for (int i = 0; i < 10; ++i) file.write(std::string(100'000, 'x'));
  }
  file.commit();
  std::string expected;
  for (std::uint64_t block = 0; block < blocks; ++block)
    expected += std::string(size, static_cast<char>(block));
  EXPECT_TRUE(content_of(folder.path("result")) == expected + std::string(1'000'000, 'x'));
}

// A temporary file beside an output: written, read back, and gone without commit().
TEST(WholeFile, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  {
    WholeFile file(folder.path("result"));
    file.write("one two three");
    file.flush();
    std::string back(3, '\0');
    file.read_at(4, back);
    EXPECT_EQ(back, "two");
    file.write(std::string(1 << 20, 'x'));
    back.resize(1 << 20);
    file.read_at(13, back);
    EXPECT_EQ(back, std::string(1 << 20, 'x'));
    expect_error([&] { file.read_at(14, back); }, ErrorKind::input,
                 folder.path("result") +
                     ": a temporary file beside it cannot be read: found its end at byte 1048589");
  }
  EXPECT_EQ(folder.entries(), 0U);
}

/// The folder of a memory file system, in which large writes go to the pages of the file.
constexpr const char* memory_folder = "/dev/shm";

// Blocks that share pages, small blocks, and appended bytes.
TEST(WholeFile, ThreadsCopyToThePagesOfAFileInMemory) {
  if (!std::filesystem::exists(memory_folder)) GTEST_SKIP() << "found no " << memory_folder;
  const TemporaryFolder folder(memory_folder);
  constexpr std::uint64_t threads = 4;
  constexpr std::uint64_t blocks = 40;
  const auto size = [](std::uint64_t block) {
    return block % 5 == 0 ? 1000 : 100'000 + 777 * block;
  };
  WholeFile file(folder.path("result"));
  file.map_writes();
  file.write("head");
  std::vector<std::uint64_t> offsets;
  std::string expected = "head";
  for (std::uint64_t block = 0; block < blocks; ++block) {
    offsets.push_back(file.reserve(size(block)));
    expected += std::string(size(block), static_cast<char>('A' + block));
  }
  {
    std::vector<std::jthread> running;
    for (std::uint64_t thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        for (std::uint64_t block = thread; block < blocks; block += threads)
          file.write_at(offsets[block], std::string(size(block), static_cast<char>('A' + block)));
      });
    }
    for (int i = 0; i < 10; ++i) file.write(std::string(300'000, 'x'));
  }
  file.rewrite(0, "HEAD");
  file.commit();
  expected.replace(0, 4, "HEAD");
  EXPECT_TRUE(content_of(folder.path("result")) == expected + std::string(3'000'000, 'x'));
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WholeFile, AFileInMemoryThatMayNotGrowIsAnErrorAndLeavesNothing) {
  if (!std::filesystem::exists(memory_folder)) GTEST_SKIP() << "found no " << memory_folder;
  const TemporaryFolder folder(memory_folder);
  const std::string path = folder.path("result");
  expect_error(
      [&] {
        const FileSizeLimit limit(1 << 20);
        WholeFile file(path);
        file.map_writes();
        file.write_at(file.reserve(1 << 19), std::string(1 << 19, 'x'));
        static_cast<void>(file.reserve(1 << 20));
      },
      ErrorKind::output, path + ": cannot be written: File too large");
  EXPECT_EQ(folder.entries(), 0U);
}

// The pages are allocated before the copy. A copy to pages that cannot be allocated would end the
// process by a signal; pwrite() returns the reason instead.
TEST(WholeFile, AFullMemoryFileSystemIsAnErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  if (::mount("sortie-test", folder.path("").c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "only root may mount a file system of 1 MiB";
  const std::string path = folder.path("result");
  expect_error(
      [&] {
        WholeFile file(path);
        file.map_writes();
        const std::uint64_t begin = file.reserve(std::uint64_t{3} << 18);
        file.write_at(begin, std::string(std::size_t{3} << 18, 'x'));
        file.write_at(file.reserve(std::uint64_t{1} << 19), std::string(std::size_t{1} << 19, 'x'));
      },
      ErrorKind::output, path + ": cannot be written: No space left on device");
  EXPECT_EQ(folder.entries(), 0U);
  ::umount(folder.path("").c_str());
}

TEST(WholeFile, PipesAndDevicesAreStreams) {
  PipeReader pipe;
  {
    WholeFile file(pipe.path());
    EXPECT_TRUE(file.is_stream());
    file.write("short");
    file.write(std::string(300'000, 'l'));
    file.commit();
    EXPECT_EQ(file.bytes_written(), 300'005U);
  }
  EXPECT_TRUE(pipe.text() == "short" + std::string(300'000, 'l'));
  EXPECT_TRUE(WholeFile("/dev/null").is_stream());
  EXPECT_TRUE(WholeFile("-").is_stream());
}

TEST(WholeFile, AFullDiskAtAnOffsetLeavesNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.path("result");
  expect_error(
      [&] {
        const FileSizeLimit limit(1 << 20);
        WholeFile file(path);
        const std::uint64_t begin = file.reserve(2 << 20);
        file.write_at(begin + (1 << 19), std::string(1 << 20, 'x'));
      },
      ErrorKind::output, path + ": cannot be written: File too large");
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(WholeFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    WholeFile file(folder.path("result"));
    file.write("half");
  }
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(WholeFile, KeepsTheOldFileWithoutCommit) {
  const TemporaryFolder folder;
  const std::string path = folder.write("result", "old");
  {
    WholeFile file(path);
    file.write("new");
  }
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WholeFile, APreparedFileLacksOnlyItsName) {
  const TemporaryFolder folder;
  const std::string path = folder.write("result", "old");
  {
    WholeFile file(path);
    file.write("new");
    file.prepare();
    EXPECT_EQ(content_of(path), "old");
    EXPECT_EQ(folder.entries(), 2U);
  }
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(folder.entries(), 1U);
  WholeFile file(path);
  file.write("new");
  file.prepare();
  file.commit();
  EXPECT_EQ(content_of(path), "new");
  EXPECT_EQ(folder.entries(), 1U);
}

// The older file keeps its bytes under its own descriptor, and no one sees a part of the new one.
TEST(WholeFile, AFileInMemoryReplacesAnOlderOneAtOnce) {
  if (!std::filesystem::exists(memory_folder)) GTEST_SKIP() << "found no " << memory_folder;
  const TemporaryFolder folder(memory_folder);
  const std::string path = folder.write("result", "older");
  std::ifstream older(path, std::ios::binary);
  WholeFile file(path);
  file.map_writes();
  const std::uint64_t begin = file.reserve(std::uint64_t{1} << 20);
  file.write_at(begin, std::string(std::size_t{1} << 20, 'x'));
  EXPECT_EQ(content_of(path), "older");
  file.commit();
  EXPECT_TRUE(content_of(path) == std::string(std::size_t{1} << 20, 'x'));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(older), {}), "older");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WholeFile, JoinsPiecesOfAnySizeInOrder) {
  const TemporaryFolder folder;
  std::string expected;
  WholeFile file(folder.path("result"));
  for (const std::size_t size : {1, 1000, 262143, 262144, 262145, 5, 1 << 20, 0, 3}) {
    const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    file.write(piece);
    expected += piece;
  }
  file.commit();
  EXPECT_TRUE(content_of(folder.path("result")) == expected);
  EXPECT_EQ(file.bytes_written(), expected.size());
}

TEST(WholeFile, EmptyFile) {
  const TemporaryFolder folder;
  WholeFile file(folder.path("result"));
  file.commit();
  EXPECT_EQ(content_of(folder.path("result")), "");
}

TEST(WholeFile, TakesTheUmaskAsAnyProgram) {
  const TemporaryFolder folder;
  const mode_t previous = ::umask(027);
  WholeFile file(folder.path("result"));
  file.commit();
  ::umask(previous);
  EXPECT_EQ(permissions(folder.path("result")), mode_t{0640});
}

TEST(WholeFile, KeepsThePermissionsOfAReplacedFile) {
  const TemporaryFolder folder;
  const std::string path = folder.write("result", "old");
  ::chmod(path.c_str(), 0604);
  WholeFile file(path);
  file.commit();
  EXPECT_EQ(permissions(path), mode_t{0604});
}

TEST(WholeFile, WritesThroughALink) {
  const TemporaryFolder folder;
  const std::string target = folder.write("target", "old");
  std::filesystem::create_symlink(target, folder.path("link"));
  WholeFile file(folder.path("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(content_of(target), "new");
}

TEST(WholeFile, NamesAsLongAsTheSystemAllows) {
  const TemporaryFolder folder;
  const std::string path = folder.path(std::string(255, 'n'));
  WholeFile file(path);
  file.commit();
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(WholeFile, TwoInOneFolderAtOnce) {
  const TemporaryFolder folder;
  WholeFile first(folder.path("first"));
  WholeFile second(folder.path("second"));
  first.write("1");
  second.write("2");
  second.commit();
  first.commit();
  EXPECT_EQ(content_of(folder.path("first")), "1");
  EXPECT_EQ(content_of(folder.path("second")), "2");
  EXPECT_EQ(folder.entries(), 2U);
}

TEST(WholeFile, RefusesAMissingFolder) {
  expect_error([] { WholeFile file("/no/such/folder/result"); }, ErrorKind::output,
               "/no/such/folder/result: cannot be written: No such file or directory");
}

TEST(WholeFile, RefusesAFolder) {
  const TemporaryFolder folder;
  expect_error([&] { WholeFile file(folder.path(".")); }, ErrorKind::output,
               folder.path(".") + ": cannot be written: Is a directory");
}

TEST(WholeFile, RefusesAWriteProtectedFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const TemporaryFolder folder;
  const std::string path = folder.write("result", "old");
  ::chmod(path.c_str(), 0444);
  expect_error([&] { WholeFile file(path); }, ErrorKind::output,
               path + ": cannot be written: Permission denied");
}

TEST(WholeFile, WritesToADeviceDirectly) {
  WholeFile file("/dev/null");
  file.write("gone");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(WholeFile, AFullDeviceIsAnErrorAtCommitAtTheLatest) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this machine has no /dev/full";
  WholeFile file("/dev/full");
  file.write("short");
  expect_error([&] { file.commit(); }, ErrorKind::output,
               "/dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

TEST(WholeFile, AFullDiskLeavesNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.path("result");
  expect_error(
      [&] {
        const FileSizeLimit limit(1 << 20);
        WholeFile file(path);
        for (int i = 0; i < 64; ++i) file.write(std::string(100000, 'x'));
        file.commit();
      },
      ErrorKind::output, path + ": cannot be written: File too large");
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(WholeFile, StandardOutput) {
  testing::internal::CaptureStdout();
  WholeFile file("-");
  file.write("to the pipe\n");
  file.commit();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "to the pipe\n");
}

TEST(WholeFile, AKilledProcessLeavesNothing) {
  const TemporaryFolder folder;
  const int nameless = ::open(folder.path("").c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
  if (nameless < 0) GTEST_SKIP() << "this file system has no files without a name";
  ::close(nameless);
  EXPECT_EXIT(
      {
        WholeFile file(folder.path("result"));
        file.write(std::string(1 << 20, 'x'));  // more than the buffer holds
        std::_Exit(3);                          // no destructor runs, as after a signal
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
