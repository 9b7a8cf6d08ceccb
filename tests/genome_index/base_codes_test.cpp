// SPDX-License-Identifier: Apache-2.0

// Eight codes at a time, beside one at a time.
#include "apps/genome_index/base_codes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sortie::test {
namespace {

using namespace genomes;

/// Codes 0 to 3, and end_code at `end` if it is one of them. \param fixed  the same code everywhere
std::vector<std::uint8_t> codes_of(std::uint64_t n, std::uint64_t end, int fixed) {
  std::uint64_t state = n + 1;
  std::vector<std::uint8_t> codes(n);
  for (std::uint8_t& code : codes) {
    state = state * 6364136223846793005 + 1442695040888963407;
    code = fixed >= 0 ? static_cast<std::uint8_t>(fixed) : static_cast<std::uint8_t>(state >> 62);
  }
  if (end < n) codes[end] = end_code;
  return codes;
}

TEST(BaseCodes, CountsAreThoseOfALoop) {
  // 2040 codes are the most that a byte of a sum can count eight at a time.
  for (const std::uint64_t n : {0, 1, 7, 8, 9, 63, 64, 128, 2039, 2040, 2041, 2048, 5000})
    for (const int fixed : {-1, 0, 1, 2, 3}) {
      const std::vector<std::uint8_t> codes = codes_of(n, n / 2, fixed);
      LetterCounts expected = {1, 2, 3, 4};
      for (const std::uint8_t code : codes)
        if (code != end_code) ++expected[code];
      LetterCounts counts = {1, 2, 3, 4};
      count_codes(codes.data(), n, counts);
      EXPECT_EQ(counts, expected) << n << ' ' << fixed;
    }
}

TEST(BaseCodes, PackedCodesAreThoseOfALoop) {
  const std::vector<std::uint8_t> codes = codes_of(1000, 1000, -1);
  for (std::uint64_t i = 0; i + 8 <= codes.size(); ++i) {
    std::uint32_t expected = 0;
    for (std::uint64_t j = 0; j < 8; ++j) expected = expected << 2 | codes[i + j];
    ASSERT_EQ(pack_eight(&codes[i]), expected);
  }
}

TEST(BaseCodes, ReverseComplementIsThatOfALoop) {
  for (const std::uint64_t n : {0, 1, 7, 8, 9, 100}) {
    const std::vector<std::uint8_t> codes = codes_of(n, n, -1);
    std::vector<std::uint8_t> expected;
    for (std::uint64_t i = n; i-- > 0;) expected.push_back(static_cast<std::uint8_t>(3 - codes[i]));
    std::vector<std::uint8_t> found(n);
    write_reverse_complement(codes.data(), n, found.data());
    EXPECT_EQ(found, expected) << n;
  }
}

}  // namespace
}  // namespace sortie::test
