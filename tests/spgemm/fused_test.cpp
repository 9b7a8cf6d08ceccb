// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "apps/spgemm/cuda/fused/policy.hpp"
#include "matrices/generators.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/spgemm/stairs.hpp"

/// The fused product on CUDA: every way that it has for a row, and the borders between them.
namespace sortie::test {
namespace {

template <class ValueType>
class Fused : public testing::Test {
 protected:
  using Value = ValueType;
  using Matrix = Csr<Value, std::int32_t>;

  static void expect_fused(const Matrix& a, const Matrix& b) {
    expect_product(a, b, reference_product(a, b), Algorithm::fused);
  }
};
using Values = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(Fused, Values);

// One product per entry of A. With few columns, many products share a column; with 50 000, rows are
// divided into column panels; with five million, bitmaps have two levels, and the lower level of
// long rows does not fit shared memory at once.
TYPED_TEST(Fused, RowsAtTheBordersOfBins) {
  const auto a = stairs<TypeParam>(border_lengths);
  for (const std::int64_t columns : {1, 40, 3000, 50'000, 5'000'000}) {
    SCOPED_TRACE(columns);
    this->expect_fused(a, matrices::erdos_renyi<TypeParam>(a.cols, columns, 1, 3));
  }
}

// Entries of A that meet many entries of B, none, or some.
TYPED_TEST(Fused, RowsOfBOfManyLengths) {
  const auto b = matrices::power_law<TypeParam>(3000, 40'000, 1.2, 2000, 5);
  const auto a =
      stairs<TypeParam>({1, 2, 3, 5, 8, 30, 33, 64, 100, 200, 300, 500, 900, 1500, 3000});
  this->expect_fused(a, b);
  this->expect_fused(matrices::power_law<TypeParam>(2000, 3000, 1.5, 400, 6), b);
}

// One column of C is a sum of all products of a row.
TYPED_TEST(Fused, RowTimesColumn) {
  const auto row = stairs<TypeParam>({100'000});
  this->expect_fused(row, matrices::transpose(row));
  const auto column = matrices::transpose(stairs<TypeParam>({3000}));
  this->expect_fused(column, matrices::transpose(column));
}

// Every row of B lies in the same few stretches of columns, far apart.
TYPED_TEST(Fused, ColumnsFarApart) {
  auto b = matrices::erdos_renyi<TypeParam>(4000, 4000, 12, 9);
  b.cols = 4000 * 2000;
  for (std::int32_t& column : b.col_idx) column *= 2000;
  this->expect_fused(stairs<TypeParam>({10, 60, 200, 600, 1500, 4000, 4000}), b);
}

// Three unknowns a point: rows of A with the same columns, whose rows of C are counted once. So are
// hundreds of rows that are all alike.
TYPED_TEST(Fused, RowsAlike) {
  const auto stencil = matrices::stencil<TypeParam>(27, 7, 6, 8, 3);
  this->expect_fused(stencil, stencil);
  Csr<TypeParam, std::int32_t> alike;
  alike.rows = 300;
  alike.cols = 50;
  alike.row_ptr = {0};
  for (std::int32_t row = 0; row < 300; ++row) {
    for (std::int32_t i = 0; i < 30; ++i) {
      alike.col_idx.push_back(row == 200 && i == 29 ? 49 : i);
      alike.values.push_back(static_cast<TypeParam>(row % 7 + i));
    }
    alike.row_ptr.push_back(static_cast<std::int64_t>(alike.col_idx.size()));
  }
  for (const std::int64_t columns : {300, 200'000})
    this->expect_fused(alike, matrices::erdos_renyi<TypeParam>(50, columns, 40, 8));
  // In parts: 12 000 entries or so each.
  alike.rows = 9;
  alike.row_ptr.resize(10);
  alike.col_idx.resize(270);
  alike.values.resize(270);
  this->expect_fused(alike, matrices::erdos_renyi<TypeParam>(50, 200'000, 400, 8));
}

TYPED_TEST(Fused, EmptyShapes) {
  this->expect_fused(empty_matrix<TypeParam>(0, 5), empty_matrix<TypeParam>(5, 7));
  this->expect_fused(empty_matrix<TypeParam>(7, 0), empty_matrix<TypeParam>(0, 5));
  this->expect_fused(empty_matrix<TypeParam>(7, 5), empty_matrix<TypeParam>(5, 0));
  this->expect_fused(empty_matrix<TypeParam>(1000, 1000), empty_matrix<TypeParam>(1000, 1000));
}

// With little memory in addition to C, there are no row bitmaps and no staging of small and medium
// rows; the sums stay the same.
TYPED_TEST(Fused, SameBitsForEveryBudget) {
  const auto a = matrices::power_law<TypeParam>(4000, 4000, 1.3, 1500, 2);
  const auto whole = spgemm::multiply(context(), a, a, Algorithm::fused);
  for (const std::uint64_t budget : {std::uint64_t{1} << 22, std::uint64_t{12} << 20,
                                     std::uint64_t{50} << 20, std::uint64_t{200} << 20}) {
    Context limited = context();
    limited.memory_budget = budget;
    EXPECT_TRUE(same_bits(spgemm::multiply(limited, a, a, Algorithm::fused), whole)) << budget;
  }
}

TYPED_TEST(Fused, SingleProductsKeepTheirBits) {
  for (const std::int64_t width : {5, 700, 9000}) {
    auto b = stairs<TypeParam>({width});
    for (std::size_t i = 0; i < b.values.size(); i += 3) b.values[i] = TypeParam(-0.0);
    const auto one = stairs<TypeParam>({1});
    auto a = one;
    a.values[0] = TypeParam(1);
    const auto c = spgemm::multiply(context(), a, b, Algorithm::fused);
    if constexpr (std::is_same_v<TypeParam, std::complex<double>>) {
      EXPECT_EQ(c.values, b.values);
    } else {
      EXPECT_TRUE(same_bits(c, b));
    }
  }
}

TEST(FusedLimits, TooManyColumnsAreRefusedButNotByTheAutomaticChoice) {
  auto b = matrices::erdos_renyi<double>(300, 300, 5, 1);
  b.cols = (std::int64_t{1} << 23) + 1;
  const auto a = matrices::erdos_renyi<double>(200, 300, 6, 2);
  try {
    (void)spgemm::multiply(context(), a, b, Algorithm::fused);
    FAIL() << "a product of 2^23 + 1 columns was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_THAT(error.what(), testing::HasSubstr("200 x 8388609"));
  }
  expect_product(a, b, reference_product(a, b), Algorithm::automatic);
}

// The last column that a word of the sorted rows has bits for.
TEST(FusedLimits, AllColumnsThatThereAre) {
  const std::int64_t columns = std::int64_t{1} << 23;
  for (const std::int64_t length : {8, 32, 100, 512, 600}) {
    Csr<double, std::int32_t> b;
    b.rows = length;
    b.cols = columns;
    b.row_ptr = {0};
    for (std::int64_t row = 0; row < length; ++row) {
      b.col_idx.push_back(static_cast<std::int32_t>(columns - 1 - row / 2));
      b.values.push_back(static_cast<double>(row + 1));
      b.row_ptr.push_back(row + 1);
    }
    const auto a = matrices::erdos_renyi<double>(3, length, length, 4);
    expect_product(a, b, reference_product(a, b), Algorithm::fused);
  }
}

// The automatic choice where the blocks of a long row are too few, and where most rows are empty.
TEST(FusedLimits, FewLongRowsAndEmptyRowsAreLeftToEssc) {
  EXPECT_TRUE(spgemm::cuda::has_few_long_rows(1, 600'000, 900'000));
  EXPECT_FALSE(spgemm::cuda::has_few_long_rows(3, 600'000, 900'000));
  EXPECT_FALSE(spgemm::cuda::has_few_long_rows(1, 100'000, 900'000));
  EXPECT_FALSE(spgemm::cuda::has_few_long_rows(1, 600'000, std::int64_t{1} << 27));
  EXPECT_TRUE(spgemm::cuda::has_mostly_empty_rows(4'000'000, 250'000));
  EXPECT_FALSE(spgemm::cuda::has_mostly_empty_rows(4'000, 250));

  constexpr std::int32_t size = 150'000;
  Csr<double, std::int32_t> a;
  a.rows = a.cols = size;
  a.row_ptr = {0};
  for (std::int32_t row = 0; row < size; ++row) {
    if (row == 70'000) {
      for (std::int32_t col = 0; col < size; ++col) {
        a.col_idx.push_back(col);
        a.values.push_back(col % 7 - 3);
      }
    } else {
      a.col_idx.push_back(row);
      a.values.push_back(2);
    }
    a.row_ptr.push_back(static_cast<std::int64_t>(a.col_idx.size()));
  }
  expect_product(a, a, reference_product(a, a), Algorithm::automatic);
  EXPECT_TRUE(same_bits(spgemm::multiply(context(), a, a),
                        spgemm::multiply(context(), a, a, Algorithm::essc)));
}

}  // namespace
}  // namespace sortie::test
