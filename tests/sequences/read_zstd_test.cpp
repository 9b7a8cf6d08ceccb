// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "core/random.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/zstd_frame.hpp"

namespace sortie::sequences {
namespace {

std::string large_fasta() {
  Random random(5);
  std::string file = ">a record\n";
  for (int line = 0; line < 30'000; ++line) {
    for (int letter = 0; letter < 70; ++letter) file += "ACGT"[random.below(4)];
    file += '\n';
  }
  return file;
}

TEST(ReadFasta, GivesTheSameTextFromZstd) {
  const test::TemporaryFolder folder;
  const std::string content = large_fasta();
  const Text expected = read_fasta(test::context(), folder.write("plain", content));
  const std::string path = folder.write(
      "zst", test::zstd(content.substr(0, 999'999)) + test::zstd(content.substr(999'999)));
  for (const int threads : {1, 2, 3, 8}) {
    Context context = test::context();
    context.threads = threads;
    EXPECT_TRUE(read_fasta(context, path).symbols == expected.symbols) << threads;
  }
}

TEST(ReadFasta, NoticesZstdThatIsCutOff) {
  const test::TemporaryFolder folder;
  const std::string packed = test::zstd(large_fasta());
  const std::string path = folder.write("zst", packed.substr(0, packed.size() - 1));
  for (const int threads : {1, 3}) {
    Context context = test::context();
    context.threads = threads;
    test::expect_error([&] { (void)read_fasta(context, path); }, ErrorKind::input,
                       testing::HasSubstr("zstd stream cut off after"));
  }
}

}  // namespace
}  // namespace sortie::sequences
