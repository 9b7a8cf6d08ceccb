// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "core/files/byte_source.hpp"
#include "core/files/stream_decoder.hpp"
#include "sortie/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

TEST(NoZstd, FilesOfItAreRefused) {
  EXPECT_EQ(zstd_version(), "none");
  const TemporaryFolder folder;
  const std::string path = folder.write("zst", "\x28\xb5\x2f\xfd and more");
  expect_error(
      [&] { static_cast<void>(read_all(path)); }, ErrorKind::unavailable,
      path +
          ": found zstd data, expected a plain or gzip file, since this build of Sortie has "
          "no libzstd");
}

}  // namespace
}  // namespace sortie::test
