// Items that are words, sorted by vectors: with a scratch so small that short arrays are halved,
// too.

#include "sortie/multisort/host/word_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "multisort/distributions.hpp"

namespace sortie::test {
namespace {

using multisort::NoValue;
using multisort::WordSort;

constexpr std::uint64_t scratch_words = 4096;

void check_keys(std::vector<std::uint64_t> keys) {
  std::vector<std::uint64_t> expected = keys;
  std::sort(expected.begin(), expected.end());
  std::vector<std::uint64_t> scratch(std::min<std::uint64_t>(keys.size(), scratch_words));
  WordSort<std::uint64_t, NoValue, scratch_words>().sort({keys.data(), nullptr}, keys.size(),
                                                         scratch.data());
  ASSERT_TRUE(keys == expected);
}

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
  WordSort<std::uint32_t, std::uint32_t, scratch_words>().sort({keys.data(), values.data()}, n,
                                                               scratch.data());
  for (std::uint64_t i = 0; i < n; ++i)
    ASSERT_EQ(std::uint64_t{keys[i]} << 32 | values[i], expected[i]) << "item " << i;
}

class WordSortTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!segsort::has_vector_sort()) GTEST_SKIP() << "needs a processor with AVX-512";
  }
};

TEST_F(WordSortTest, EveryDistribution) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (const std::uint64_t n : {0, 1, 2, 95, 2'047, 2'048, 3'001, 4'096}) {
      check_pairs(draw_bits(distribution, 32, n, n));
      check_keys(draw_bits(distribution, 64, n, n));
      if (HasFatalFailure()) return;
    }
    for (const std::uint64_t n : {4'097, 10'000, 70'001}) {
      check_keys(draw_bits(distribution, 64, n, n));
      if (HasFatalFailure()) return;
    }
  }
}

// The groups are found from the least and the greatest key: these must not overflow.
TEST_F(WordSortTest, KeysOfAnyRange) {
  for (const int key_bits : {32, 64}) {
    const std::uint64_t last = std::numeric_limits<std::uint64_t>::max() >> (64 - key_bits);
    for (int range_bits = 0; range_bits <= key_bits; ++range_bits) {
      const std::uint64_t range = range_bits == 0 ? 0 : last >> (key_bits - range_bits);
      for (const std::uint64_t least : {std::uint64_t{0}, (last - range) / 2, last - range}) {
        SCOPED_TRACE(testing::Message() << range_bits << " bits from " << least << " on");
        auto bits = draw_bits({"", Distribution::Kind::uniform, 0}, 64, 3'000, 1);
        for (std::uint64_t& key : bits) key = least + (key & range);
        bits.front() = least + range;
        bits.back() = least;
        key_bits == 32 ? check_pairs(bits) : check_keys(bits);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// One key far above the others leaves all of these in one group.
TEST_F(WordSortTest, AnOutlier) {
  for (const std::uint64_t n : {3'000, 30'000}) {
    auto bits = draw_bits({"", Distribution::Kind::uniform, 0}, 10, n, 2);
    if (n <= scratch_words) {
      bits[n / 3] = std::numeric_limits<std::uint32_t>::max();
      check_pairs(bits);
    }
    bits[n / 3] = std::numeric_limits<std::uint64_t>::max();
    check_keys(bits);
  }
}

}  // namespace
}  // namespace sortie::test
