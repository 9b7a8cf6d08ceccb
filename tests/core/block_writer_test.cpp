// SPDX-License-Identifier: Apache-2.0
#include "core/files/block_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/files/whole_file.hpp"
#include "core/random.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/pipe_reader.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

/// The workers' buffers, and blocks of any length in them.
class MadeBlocks {
 public:
  explicit MadeBlocks(int workers) : buffers_(workers) {}

  /// 0 to 60000 bytes, of which no two blocks have the same.
  static std::string bytes(std::uint64_t block) {
    Random random(block);
    std::string text(block % 7 == 3 ? 0 : random.below(60'000), 'x');
    for (char& c : text) c = static_cast<char>(random.next());
    return text;
  }

  static std::string all(std::uint64_t count) {
    std::string text;
    for (std::uint64_t block = 0; block < count; ++block) text += bytes(block);
    return text;
  }

  [[nodiscard]] OutputBlocks blocks(std::uint64_t count) {
    return {.count = count, .make = [this](int worker, std::uint64_t block) {
              buffers_.at(worker) = bytes(block);
              return std::span<const char>(buffers_[worker]);
            }};
  }

 private:
  std::vector<std::string> buffers_;
};

/// Parameter: workers.
class BlockWriter : public testing::TestWithParam<int> {
 protected:
  MadeBlocks made_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Workers, BlockWriter, testing::Values(1, 2, 3, 8),
                         [](const auto& instance) { return std::to_string(instance.param); });

TEST_P(BlockWriter, TheBytesOfAFileDoNotDependOnTheWorkers) {
  for (const std::uint64_t count : {0, 1, 2, 5, 100}) {
    const TemporaryFolder folder;
    WholeFile file(folder.path("result"));
    write_blocks(file, GetParam(), made_.blocks(count));
    EXPECT_EQ(file.bytes_written(), MadeBlocks::all(count).size());
    file.commit();
    EXPECT_TRUE(content_of(folder.path("result")) == MadeBlocks::all(count)) << count;
  }
}

TEST_P(BlockWriter, BetweenWhatIsAppended) {
  const TemporaryFolder folder;
  WholeFile file(folder.path("result"));
  file.write("header\n");
  write_blocks(file, GetParam(), made_.blocks(10));
  file.write("between\n");
  write_blocks(file, GetParam(), made_.blocks(3));
  file.write("end");
  file.rewrite(0, "HEAD");
  const std::string expected =
      "HEADer\n" + MadeBlocks::all(10) + "between\n" + MadeBlocks::all(3) + "end";
  EXPECT_EQ(file.bytes_written(), expected.size());
  file.commit();
  EXPECT_TRUE(content_of(folder.path("result")) == expected);
}

TEST_P(BlockWriter, IntoAPipe) {
  PipeReader pipe;
  {
    WholeFile file(pipe.path());
    ASSERT_TRUE(file.is_stream());
    file.write("header\n");
    write_blocks(file, GetParam(), made_.blocks(50));
    file.write("end");
    file.commit();
  }
  EXPECT_TRUE(pipe.text() == "header\n" + MadeBlocks::all(50) + "end");
}

TEST_P(BlockWriter, BlocksOfTheCallersMemory) {
  const TemporaryFolder folder;
  const std::string text = MadeBlocks::all(40);
  constexpr std::size_t size = 10'000;
  WholeFile file(folder.path("result"));
  write_blocks(file, GetParam(),
               {.count = (text.size() + size - 1) / size, .make = [&](int, std::uint64_t block) {
                  return std::span<const char>(text).subspan(
                      block * size, std::min(size, text.size() - block * size));
                }});
  file.commit();
  EXPECT_TRUE(content_of(folder.path("result")) == text);
}

TEST_P(BlockWriter, ToldOnTheCallingThreadInAscendingOrder) {
  for (const std::uint64_t count : {0, 1, 60}) {
    const TemporaryFolder folder;
    const auto caller = std::this_thread::get_id();
    std::vector<std::uint64_t> told;
    OutputBlocks blocks = made_.blocks(count);
    blocks.tell = [&](std::uint64_t written) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      told.push_back(written);
    };
    WholeFile file(folder.path("result"));
    write_blocks(file, GetParam(), blocks);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end(), std::less_equal<>()));
    if (count == 0) {
      EXPECT_TRUE(told.empty());
    } else {
      EXPECT_EQ(told.back(), count);
    }
  }
}

TEST_P(BlockWriter, AFullDiskLeavesNothing) {
  for (const rlim_t limit : {0, 1, 100'000, 1'000'000}) {
    const TemporaryFolder folder;
    const std::string path = folder.path("result");
    expect_error(
        [&] {
          const FileSizeLimit full(limit);
          WholeFile file(path);
          file.write("header\n");
          write_blocks(file, GetParam(), made_.blocks(100));
          file.commit();
        },
        ErrorKind::output, path + ": cannot be written: File too large");
    EXPECT_EQ(folder.entries(), 0U);
  }
}

TEST_P(BlockWriter, AFullDevice) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this machine has no /dev/full";
  WholeFile file("/dev/full");
  expect_error([&] { write_blocks(file, GetParam(), made_.blocks(100)); }, ErrorKind::output,
               "/dev/full: cannot be written: No space left on device");
}

TEST_P(BlockWriter, APipeThatIsClosed) {
  const IgnoredSignal ignored(SIGPIPE);
  PipeReader pipe(500'000);
  WholeFile file(pipe.path());
  expect_error([&] { write_blocks(file, GetParam(), made_.blocks(100)); }, ErrorKind::output,
               pipe.path() + ": cannot be written: Broken pipe");
}

TEST_P(BlockWriter, TheFirstBlockThatCannotBeMadeIsReportedAndLeavesNothing) {
  for (const bool stream : {false, true}) {
    const TemporaryFolder folder;
    OutputBlocks blocks = made_.blocks(100);
    blocks.make = [make = blocks.make](int worker, std::uint64_t block) {
      if (block == 40) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (block >= 40) throw std::runtime_error(std::to_string(block));
      return make(worker, block);
    };
    std::string found;
    try {
      WholeFile file(stream ? "/dev/null" : folder.path("result"));
      write_blocks(file, GetParam(), blocks);
      file.commit();
    } catch (const std::runtime_error& error) {
      found = error.what();
    }
    EXPECT_EQ(found, "40");
    EXPECT_EQ(folder.entries(), 0U);
  }
}

TEST_P(BlockWriter, ACallerThatCancelsLeavesNothing) {
  const TemporaryFolder folder;
  OutputBlocks blocks = made_.blocks(100);
  blocks.tell = [](std::uint64_t) { throw std::runtime_error("cancelled"); };
  EXPECT_THROW(
      {
        WholeFile file(folder.path("result"));
        write_blocks(file, GetParam(), blocks);
        file.commit();
      },
      std::runtime_error);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(BlockWriterThreads, BlocksAreMadeWhileAnotherIsWrittenToAPipe) {
  // More than a pipe holds, and read only when the second block is made.
  const std::string block(1 << 20, 'x');
  std::atomic<bool> second_is_made = false;
  std::atomic<bool> waited_in_vain = false;
  std::array<int, 2> ends = {};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  std::size_t bytes_read = 0;
  std::thread reader([&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!second_is_made && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    waited_in_vain = !second_is_made;
    std::vector<char> piece(1 << 16);
    for (ssize_t got = 0; (got = ::read(ends[0], piece.data(), piece.size())) > 0;)
      bytes_read += static_cast<std::size_t>(got);
  });
  {
    WholeFile file("/proc/self/fd/" + std::to_string(ends[1]));
    ::close(ends[1]);
    write_blocks(file, 2, {.count = 2, .make = [&](int, std::uint64_t number) {
                             if (number == 1) {
                               // The first block is in write() by then, almost certainly.
                               std::this_thread::sleep_for(std::chrono::milliseconds(20));
                               second_is_made = true;
                             }
                             return std::span<const char>(block);
                           }});
    file.commit();
  }
  reader.join();
  ::close(ends[0]);
  EXPECT_FALSE(waited_in_vain);
  EXPECT_EQ(bytes_read, 2 * block.size());
}

}  // namespace
}  // namespace sortie::test
