// SPDX-License-Identifier: Apache-2.0
#include "core/files/whole_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/files/temporary_name.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

void write(const std::string& path) {
  std::ofstream(path) << "content";
}

TEST(WholeFolder, AppearsOnCommit) {
  const TemporaryFolder folder;
  {
    WholeFolder whole(folder.path("out/"));
    write(whole.file("a"));
    write(whole.file("deep/b"));
    EXPECT_FALSE(fs::exists(folder.path("out")));
    whole.commit();
  }
  EXPECT_EQ(content_of(folder.path("out/a")), "content");
  EXPECT_EQ(content_of(folder.path("out/deep/b")), "content");
  EXPECT_EQ(folder.entries(), 1U);
  expect_error([&] { WholeFolder again(folder.path("out")); }, ErrorKind::output,
               folder.path("out") +
                   ": cannot be written: found something there, expected an empty folder, or none");
}

TEST(WholeFolder, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    const WholeFolder whole(folder.path("out"));
    write(whole.file("a"));
    EXPECT_EQ(folder.entries(), 1U);
  }
  EXPECT_EQ(folder.entries(), 0U);
}

// Of a killed process; not of one that lives, and nothing else with such a name.
TEST(WholeFolder, RemovesWhatAKilledProcessLeft) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const WholeFolder whole(folder.path("lost"));
    write(whole.file("a"));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(folder.entries(), 1U);

  WholeFolder living(folder.path("one"));
  write(living.file("a"));
  EXPECT_EQ(folder.entries(), 1U) << "the lost one is gone";
  const std::string file = TemporaryName::unused_name(folder.path(""));
  write(file);
  fs::create_directory(folder.path(".sortie-folder"));
  WholeFolder next(folder.path("two"));
  living.commit();
  next.commit();
  EXPECT_TRUE(fs::exists(folder.path("one/a")));
  EXPECT_TRUE(fs::exists(file));
  EXPECT_EQ(folder.entries(), 4U);
}

}  // namespace
}  // namespace sortie::test
