// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>

#include "apps/cli/backend_choice.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::cli {
namespace {

constexpr int threads = 16;

// The jobs of docs/performance.md, with the backend that was faster.
TEST(BackendChoice, TakesWhatWasMeasuredAsFaster) {
  EXPECT_EQ(spgemm_seconds(96'065'788, 40'000'000, threads).best(), Backend::host);  // cnr-2000
  EXPECT_EQ(suffix_array_seconds(4'641'652, 0.02, threads).best(), Backend::host);   // E. coli
  EXPECT_EQ(suffix_array_seconds(70'000'000, 0.2, threads).best(), Backend::cuda);   // chrX
  EXPECT_EQ(sort_seconds(8'000'000'000, 0.4, threads).best(), Backend::cuda);
  EXPECT_EQ(sort_seconds(64 << 10, 0, threads).best(), Backend::host);
}

TEST(BackendChoice, FewThreadsPreferTheDeviceAndReadingHidesItsStart) {
  const std::uint64_t symbols = 30'000'000;
  EXPECT_EQ(suffix_array_seconds(symbols, 0, threads).best(), Backend::host);
  EXPECT_EQ(suffix_array_seconds(symbols, 0, 2).best(), Backend::cuda);
  EXPECT_GT(suffix_array_seconds(symbols, 0, 2).device,
            suffix_array_seconds(symbols, 0.1, 2).device);
  EXPECT_EQ(suffix_array_seconds(symbols, 10, 2).device,
            suffix_array_seconds(symbols, 20, 2).device);
}

TEST(BackendChoice, NoWorkTakesTheHost) {
  for (const BackendSeconds& none : {spgemm_seconds(0, 0, 1), suffix_array_seconds(0, 0, 1),
                                     query_seconds(0, 0, 0, 1), sort_seconds(0, 0, 1)}) {
    EXPECT_EQ(none.best(), Backend::host);
    EXPECT_EQ(none.other(), Backend::cuda);
    EXPECT_EQ(none.of(Backend::host), 0);
    EXPECT_GT(none.of(Backend::cuda), 0);
  }
}

TEST(BackendChoice, SymbolsOfAFileAreEstimatedFromItsBytes) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(estimated_symbols(folder.write("text.fa", ">x\nACGT\n").c_str()), 8u);
  EXPECT_EQ(estimated_symbols(folder.write("text.fa.gz", std::string(100, 'x')).c_str()), 400u);
  EXPECT_EQ(estimated_symbols("-"), 0u);
  EXPECT_EQ(estimated_symbols("/dev/null"), 0u);
  EXPECT_EQ(estimated_symbols(folder.path("absent").c_str()), 0u);
}

}  // namespace
}  // namespace sortie::cli
