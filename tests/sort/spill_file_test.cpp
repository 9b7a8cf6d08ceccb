// SPDX-License-Identifier: Apache-2.0

// Temporary files: what is appended is read again, and nothing of them is seen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "apps/sort/spill_file.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;

TEST(SpillFile, KeepsWhatIsWrittenWithoutAName) {
  const TemporaryFolder folder;
  sorting::SpillFile file(folder.path(""));
  const std::string first(100'000, 'a');
  const std::string second(50'000, 'b');
  file.write(100'000, second);
  file.write(0, first);
  EXPECT_EQ(folder.entries(), 0u);
  std::string middle(2'000, '\0');
  file.read(99'000, middle);
  EXPECT_EQ(middle, std::string(1'000, 'a') + std::string(1'000, 'b'));
  expect_error([&] { file.read(149'000, middle); }, ErrorKind::input,
               HasSubstr("it ends too early"));
}

TEST(SpillFile, InAFolderThatIsNotThereIsAnError) {
  const TemporaryFolder folder;
  expect_error([&] { sorting::SpillFile file(folder.path("absent")); }, ErrorKind::output,
               HasSubstr("temporary file cannot be written: No such file or directory"));
}

TEST(SpillFolder, IsTheOutputsOrThatOfTheSystem) {
  const TemporaryFolder folder;
  const std::string beside = std::filesystem::canonical(folder.path("")).string();
  EXPECT_EQ(sorting::spill_folder(folder.path("new")), beside);
  EXPECT_EQ(sorting::spill_folder(folder.write("old", "x")), beside);
  EXPECT_EQ(sorting::spill_folder("bare_name"), std::filesystem::current_path().string());
  const std::string of_system = std::filesystem::temp_directory_path().string();
  for (const char* stream : {"", "-", "/dev/null"})
    EXPECT_EQ(sorting::spill_folder(stream), of_system) << stream;
  // Beside the file that a link points to, as WholeFile writes it.
  std::filesystem::create_directory(folder.path("there"));
  std::filesystem::create_symlink(folder.write("there/real", "x"), folder.path("link"));
  EXPECT_EQ(sorting::spill_folder(folder.path("link")), beside + "/there");
}

}  // namespace
}  // namespace sortie::test
