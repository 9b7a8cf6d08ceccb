// SPDX-License-Identifier: Apache-2.0

// Items that are words, sorted by vectors: with a scratch so small that short arrays are halved,
// too.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "multisort/host/part_sort.hpp"
#include "tests/multisort/distributions.hpp"

namespace sortie::test {
namespace {

using multisort::sort_as_words;

/// Values descend, so that pairs of equal keys have to change places.
void check_pairs(const std::vector<std::uint64_t>& bits) {
  const std::uint64_t n = bits.size();
  std::vector<std::uint32_t> keys(bits.begin(), bits.end());
  std::vector<std::uint32_t> values(n);
  std::vector<std::uint64_t> expected(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    values[i] = ~static_cast<std::uint32_t>(i);
    expected[i] = std::uint64_t{keys[i]} << 32 | values[i];
  }
  std::sort(expected.begin(), expected.end());
  std::vector<std::uint64_t> scratch(n);
  sort_as_words(Items<std::uint32_t, std::uint32_t>{keys.data(), values.data()}, n, scratch.data());
  for (std::uint64_t i = 0; i < n; ++i)
    ASSERT_EQ(std::uint64_t{keys[i]} << 32 | values[i], expected[i]) << "item " << i;
}

class WordSortTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_fast_word_sort()) GTEST_SKIP() << "needs a processor with AVX-512";
  }
};

TEST_F(WordSortTest, EveryDistribution) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (const std::uint64_t n : {0, 1, 2, 95, 128, 2'048, 3'001, 70'001}) {
      check_pairs(draw_bits(distribution, 32, n, n));
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace sortie::test
