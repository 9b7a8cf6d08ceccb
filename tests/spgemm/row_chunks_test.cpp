// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "apps/spgemm/cuda/essc/chunk_steps.hpp"

namespace sortie::test {
namespace {

using spgemm::cuda::rows_that_fit;

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
// Rows of 3, 0, 5, 0, 0 and 2 products.
const std::vector<std::int64_t> offsets{0, 3, 3, 8, 8, 8, 10};

TEST(RowChunks, AsManyRowsAsFit) {
  EXPECT_EQ(rows_that_fit(offsets, 0, 10, any), 6);
  EXPECT_EQ(rows_that_fit(offsets, 0, any, any), 6);
  EXPECT_EQ(rows_that_fit(offsets, 0, 9, any), 5) << "empty rows come along";
  EXPECT_EQ(rows_that_fit(offsets, 0, 7, any), 2);
  EXPECT_EQ(rows_that_fit(offsets, 2, 5, any), 3);
  EXPECT_EQ(rows_that_fit(offsets, 5, 2, any), 1);
}

TEST(RowChunks, FirstRowTooLong) {
  EXPECT_EQ(rows_that_fit(offsets, 0, 2, any), 0);
  EXPECT_EQ(rows_that_fit(offsets, 2, 4, any), 0);
  EXPECT_EQ(rows_that_fit(offsets, 1, 0, any), 1) << "an empty row fits everywhere";
}

TEST(RowChunks, NoMoreThanTheLimitOfRows) {
  EXPECT_EQ(rows_that_fit(offsets, 0, 10, 4), 4);
  EXPECT_EQ(rows_that_fit(offsets, 2, 2, 4), 0);
}

TEST(RowChunks, OffsetsNearTheEndOfTheirType) {
  const std::vector<std::int64_t> large{any - 9, any - 4, any};
  EXPECT_EQ(rows_that_fit(large, 0, 5, any), 1);
  EXPECT_EQ(rows_that_fit(large, 1, any, any), 1);
}

}  // namespace
}  // namespace sortie::test
