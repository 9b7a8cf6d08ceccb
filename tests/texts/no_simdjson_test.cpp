// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::texts {
namespace {

#if !SORTIE_HAVE_SIMDJSON
TEST(NoSimdjson, JsonlIsRefusedAndPlainFilesAreRead) {
  const sortie::test::TemporaryFolder folder;
  const std::string path = folder.write("a.jsonl", "{\"text\":\"\"}");
  sortie::test::expect_error(
      [&] { static_cast<void>(read_corpus({}, std::vector{path})); }, ErrorKind::unavailable,
      path +
          ": found JSONL, expected a plain file, since this build of Sortie has no simdjson (on "
          "Debian: libsimdjson-dev)");
  EXPECT_EQ(read_corpus({}, std::vector{folder.write("a", "abc")}).bytes.size(), 3U);
}
#endif

#if !SORTIE_HAVE_ZSTD
TEST(NoZstd, CorporaOfItAreRefused) {
  const sortie::test::TemporaryFolder folder;
  const std::string path = folder.write("a", "\x28\xb5\x2f\xfd and more");
  EXPECT_THROW(static_cast<void>(read_corpus({}, std::vector{path})), Error);
}
#endif

}  // namespace
}  // namespace sortie::texts
