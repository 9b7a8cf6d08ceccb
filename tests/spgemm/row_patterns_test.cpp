// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/row_patterns.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "matrices/generators.hpp"
#include "tests/spgemm/stairs.hpp"

/// Which matrices repeat patterns.
namespace sortie::test {
namespace {

using matrices::Csr;

std::vector<std::uint64_t> hashes_of(const Csr<double>& matrix) {
  std::vector<std::uint64_t> hashes;
  for (std::int64_t sample = 0; sample < spgemm::pattern_samples; ++sample) {
    const std::int64_t row = spgemm::sampled_row(matrix.rows, sample);
    EXPECT_GE(row, sample * (matrix.rows / spgemm::pattern_samples));
    EXPECT_LT(row, matrix.rows);
    const std::int64_t begin = matrix.row_ptr[row];
    hashes.push_back(
        spgemm::hash_of_row(row, matrix.col_idx.data() + begin, matrix.row_ptr[row + 1] - begin));
  }
  return hashes;
}

bool repeats(const Csr<double>& matrix) {
  return spgemm::patterns_repeat(hashes_of(matrix));
}

TEST(RowPatterns, GridsRepeatThem) {
  for (const int points : {5, 7, 9, 27}) {
    const bool is_flat = points == 5 || points == 9;
    for (const int unknowns : {1, points == 27 ? 1 : 3})
      EXPECT_TRUE(repeats(is_flat ? matrices::stencil<double>(points, 90, 80, 1, unknowns)
                                  : matrices::stencil<double>(points, 30, 29, 28, unknowns)))
          << points << " points, " << unknowns << " unknowns";
  }
  EXPECT_TRUE(repeats(matrices::banded<double>(5000, 4, 1)));
}

TEST(RowPatterns, OthersDoNot) {
  EXPECT_FALSE(repeats(matrices::renumbered(matrices::stencil<double>(7, 30, 30, 30), 1)));
  EXPECT_FALSE(repeats(matrices::erdos_renyi<double>(20'000, 20'000, 4, 1)));
  EXPECT_FALSE(repeats(matrices::rmat<double>(14, 8, 1)));
  EXPECT_FALSE(repeats(matrices::stencil<double>(27, 30, 29, 28, 3)));  // rows of 81 entries
  EXPECT_FALSE(repeats(stairs<double>(std::vector<std::int64_t>(5000, 0))));
  EXPECT_FALSE(spgemm::patterns_repeat({}));
}

TEST(RowPatterns, SmallProductsAreNotSampled) {
  const std::int64_t rows = 1 << 20;
  EXPECT_TRUE(spgemm::may_repeat_patterns(rows, 8 * rows, rows, 8 * rows));
  EXPECT_FALSE(spgemm::may_repeat_patterns(rows, 8 * rows, rows, 3 * rows));
  EXPECT_TRUE(spgemm::may_repeat_patterns(rows, 8 * rows, rows, 3 * rows, 4e6));
  EXPECT_FALSE(spgemm::may_repeat_patterns(1023, std::int64_t{1} << 30, rows, 8 * rows));
  EXPECT_FALSE(spgemm::may_repeat_patterns(rows, 8 * rows, 1023, std::int64_t{1} << 30));
  const auto grid = matrices::stencil<double>(5, 500, 400, 1);
  EXPECT_TRUE(spgemm::patterns_repeat(grid, grid, 4e6));
  EXPECT_FALSE(spgemm::patterns_repeat(grid, grid, 33e6));
}

}  // namespace
}  // namespace sortie::test
