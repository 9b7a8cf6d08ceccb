// SPDX-License-Identifier: Apache-2.0

// Raw files of records: taken as they are, refused when they do not hold whole records.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sortie/sort_file.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;

TEST(RecordFile, GivesItsBytesInPieces) {
  const TemporaryFolder folder;
  // Begins like a gzip file; that means nothing here.
  const std::string bytes = "\x1f\x8b" + std::string(10, 'a') + std::string(12, 'b');
  const auto source = sorting::open_record_file(folder.write("keys", bytes),
                                                sorting::parse_record_format("u64", "u32"));
  EXPECT_EQ(source->records(), 2u);
  std::string piece(12, '\0');
  EXPECT_EQ(source->read(piece), 1u);
  EXPECT_EQ(piece, bytes.substr(0, 12));
  std::string rest(36, '\0');
  EXPECT_EQ(source->read(rest), 1u);
  EXPECT_EQ(rest.substr(0, 12), bytes.substr(12));
  EXPECT_EQ(source->read(rest), 0u);
}

TEST(RecordFile, OfNoWholeNumberOfRecordsIsRefusedAtOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.write("keys", std::string(14, 'x'));
  expect_error(
      [&] {
        static_cast<void>(
            sorting::open_record_file(path, sorting::parse_record_format("u64", "u32")));
      },
      ErrorKind::input,
      path + ": found 14 bytes, expected a multiple of the 12 bytes of u64 keys with u32 values");
}

TEST(RecordFile, ThatIsNotThereOrAFolderIsRefused) {
  const TemporaryFolder folder;
  const auto format = sorting::parse_record_format("u8", "");
  const std::string absent = folder.path("absent");
  expect_error([&] { static_cast<void>(sorting::open_record_file(absent, format)); },
               ErrorKind::input,
               absent +
                   ": cannot be opened: No such file or directory, expected "
                   "a readable file");
  const std::string itself = folder.path("");
  expect_error([&] { static_cast<void>(sorting::open_record_file(itself, format)); },
               ErrorKind::input, itself + ": found a folder, expected a file");
}

}  // namespace
}  // namespace sortie::test
