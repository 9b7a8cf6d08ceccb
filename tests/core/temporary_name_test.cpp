// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/files/temporary_name.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

TEST(TemporaryName, UnusedNamesDifferAndAreHiddenInTheFolder) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(TemporaryName::unused_name("folder"));
  EXPECT_EQ(names.size(), 1000u);
  EXPECT_EQ(names.begin()->rfind("folder/.sortie-", 0), 0u) << *names.begin();
  EXPECT_EQ(TemporaryName::unused_name("").rfind(".sortie-", 0), 0u);
}

TEST(TemporaryName, ASignalRemovesTheFilesOfAllNamesAndEndsTheProgram) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) {
    const TemporaryFolder folder;
    const std::string kept = folder.write("kept", "");
    EXPECT_EXIT(
        {
          std::signal(signal, SIG_DFL);
          remove_temporary_files_on_signals();
          TemporaryName first;
          TemporaryName second;
          TemporaryName third;
          first.set(folder.write("first", ""));
          second.set(folder.write("second", ""));
          third.set(kept);
          third.clear();
          std::raise(signal);
        },
        testing::KilledBySignal(signal), "");
    EXPECT_EQ(folder.entries(), 1u);
    EXPECT_TRUE(std::filesystem::exists(kept));
  }
}

TEST(TemporaryName, AnIgnoredSignalRemainsIgnored) {
  const TemporaryFolder folder;
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        remove_temporary_files_on_signals();
        TemporaryName name;
        name.set(folder.write("file", ""));
        std::raise(SIGHUP);
        std::_Exit(3);
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EQ(folder.entries(), 1u);
}

// A signal handler removes at most 64 names. More files than that are written and committed as usual,
// and after clear() another name can be set.
TEST(TemporaryName, MayBeMany) {
  const TemporaryFolder folder;
  std::vector<TemporaryName> names(100);
  for (std::size_t i = 0; i < names.size(); ++i) names[i].set(folder.path(std::to_string(i)));
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(names[i].path(), folder.path(std::to_string(i)));
    names[i].clear();
    EXPECT_TRUE(names[i].empty());
  }
  EXPECT_EXIT(
      {
        std::signal(SIGTERM, SIG_DFL);
        remove_temporary_files_on_signals();
        names[99].set(folder.write("file", ""));
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace sortie::test
