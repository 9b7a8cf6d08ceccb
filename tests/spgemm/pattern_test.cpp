// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "apps/spgemm/row_patterns.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "matrices/generators.hpp"
#include "sortie/device_spgemm_plan.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/spgemm/stairs.hpp"

/// The product by row patterns on CUDA: grids, rows that repeat no pattern, long rows, chunks.
namespace sortie::test {
namespace {

template <class ValueType>
class PatternProduct : public testing::Test {
 protected:
  using Value = ValueType;
  using Matrix = Csr<Value, std::int32_t>;

  static void expect_pattern(const Matrix& a, const Matrix& b) {
    expect_product(a, b, reference_product(a, b), Algorithm::pattern);
  }
  /// The same matrix with values that differ from entry to entry.
  static Matrix with_values(Matrix matrix, std::uint64_t seed) {
    const auto values =
        matrices::erdos_renyi<Value>(1, matrix.nnz() + 1, matrix.nnz(), seed).values;
    matrix.values.assign(values.begin(), values.end());
    return matrix;
  }
};
using Values = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(PatternProduct, Values);

// Grids whose lines are shorter and longer than a tile; with several unknowns, rows of a class are
// not consecutive, and tiles have 8 rows.
TYPED_TEST(PatternProduct, Grids) {
  struct Grid {
    int points;
    std::int64_t nx, ny, nz;
    int unknowns;
  };
  for (const Grid& grid :
       {Grid{5, 70, 41, 1, 1}, Grid{9, 33, 64, 1, 1}, Grid{7, 40, 9, 10, 1}, Grid{27, 37, 8, 9, 1},
        Grid{27, 5, 6, 7, 1}, Grid{5, 40, 30, 1, 2}, Grid{7, 20, 6, 7, 3}, Grid{27, 21, 4, 5, 3},
        Grid{27, 9, 5, 4, 5}, Grid{5, 3000, 1, 1, 1}, Grid{7, 1, 1, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << grid.points << " points, " << grid.nx << " x " << grid.ny
                                    << " x " << grid.nz << ", " << grid.unknowns << " unknowns");
    const auto matrix = this->with_values(
        matrices::stencil<TypeParam>(grid.points, grid.nx, grid.ny, grid.nz, grid.unknowns), 3);
    this->expect_pattern(matrix, matrix);
  }
}

TYPED_TEST(PatternProduct, BandsAndDifferentOperands) {
  const auto band = matrices::banded<TypeParam>(5000, 3, 1);
  this->expect_pattern(band, band);
  const auto grid = this->with_values(matrices::stencil<TypeParam>(5, 100, 50, 1), 4);
  this->expect_pattern(band, grid);
  this->expect_pattern(grid, band);
  this->expect_pattern(grid, matrices::erdos_renyi<TypeParam>(5000, 300, 4, 5));
}

// Some rows of a grid have other columns, none, or all columns of the grid.
TYPED_TEST(PatternProduct, GridWithOtherRows) {
  const auto grid = this->with_values(matrices::stencil<TypeParam>(9, 60, 50, 1), 6);
  Csr<TypeParam, std::int32_t> mixed;
  mixed.rows = grid.rows;
  mixed.cols = grid.cols;
  mixed.row_ptr = {0};
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    if (row == 1700) {
      for (std::int32_t col = 0; col < grid.cols; ++col) {
        mixed.col_idx.push_back(col);
        mixed.values.push_back(TypeParam(col % 5 + 1));
      }
    } else if (row % 97 == 5) {
      mixed.col_idx.push_back(static_cast<std::int32_t>(row * row % grid.cols));
      mixed.values.push_back(TypeParam(3));
    } else if (row % 97 != 6) {
      for (std::int64_t i = grid.row_ptr[row]; i < grid.row_ptr[row + 1]; ++i) {
        mixed.col_idx.push_back(grid.col_idx[i]);
        mixed.values.push_back(grid.values[i]);
      }
    }
    mixed.row_ptr.push_back(static_cast<std::int64_t>(mixed.col_idx.size()));
  }
  this->expect_pattern(mixed, grid);
  this->expect_pattern(mixed, mixed);
}

// No two rows alike: more classes than the table has, and rows too long for a program.
TYPED_TEST(PatternProduct, RowsThatRepeatNoPattern) {
  const auto a = matrices::power_law<TypeParam>(20'000, 20'000, 1.5, 40, 2);
  this->expect_pattern(a, a);
  this->expect_pattern(
      stairs<TypeParam>(border_lengths),
      matrices::erdos_renyi<TypeParam>(stairs<TypeParam>(border_lengths).cols, 3000, 1, 3));
  const auto long_rows = stairs<TypeParam>({10, 60, 1023, 1024, 1025, 1026, 3000, 3000});
  this->expect_pattern(long_rows, matrices::erdos_renyi<TypeParam>(3000, 50'000, 2, 9));
}

// Rows of different lengths whose sums of hashes are easily equal: columns 0, 0 .. n of rows of B
// without entries, and rows of one entry.
TYPED_TEST(PatternProduct, ShortAndEmptyRows) {
  this->expect_pattern(stairs<TypeParam>({0, 1, 0, 1, 2, 0, 2, 1, 1, 0}),
                       matrices::erdos_renyi<TypeParam>(2, 5, 1, 1));
  this->expect_pattern(matrices::erdos_renyi<TypeParam>(3000, 3000, 1, 1),
                       matrices::erdos_renyi<TypeParam>(3000, 3000, 1, 2));
  this->expect_pattern(empty_matrix<TypeParam>(0, 5), empty_matrix<TypeParam>(5, 7));
  this->expect_pattern(empty_matrix<TypeParam>(7, 0), empty_matrix<TypeParam>(0, 5));
  this->expect_pattern(empty_matrix<TypeParam>(7, 5), empty_matrix<TypeParam>(5, 0));
  this->expect_pattern(empty_matrix<TypeParam>(3000, 3000), empty_matrix<TypeParam>(3000, 3000));
}

// Sums in the order of A's entries, rounded as by fused and essc, and the sign of zero.
TYPED_TEST(PatternProduct, SameBitsAsFusedForRowsThatItSorts) {
  auto a = this->with_values(matrices::stencil<TypeParam>(7, 30, 20, 10), 7);
  for (std::size_t i = 0; i < a.values.size(); i += 5) a.values[i] = TypeParam(-0.0);
  EXPECT_TRUE(same_bits(spgemm::multiply(context(), a, a, Algorithm::pattern),
                        spgemm::multiply(context(), a, a, Algorithm::fused)));
}

TYPED_TEST(PatternProduct, SameBitsForEveryBudget) {
  const auto a = this->with_values(matrices::stencil<TypeParam>(27, 40, 30, 30), 8);
  const auto whole = spgemm::multiply(context(), a, a, Algorithm::pattern);
  for (const std::uint64_t budget :
       {std::uint64_t{12} << 20, std::uint64_t{24} << 20, std::uint64_t{60} << 20}) {
    Context limited = context();
    limited.memory_budget = budget;
    EXPECT_TRUE(same_bits(spgemm::multiply(limited, a, a, Algorithm::pattern), whole)) << budget;
  }
  Context tiny = context();
  tiny.memory_budget = 1 << 20;
  try {
    (void)spgemm::multiply(tiny, a, a, Algorithm::pattern);
    FAIL() << "36 000 rows fitted 1 MiB";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
  }
}

// A grid that is large enough for the automatic choice: patterns, then a plan with new values; with
// a budget that its windows exceed, another algorithm computes it.
TYPED_TEST(PatternProduct, AutomaticChoiceAndPlan) {
  const auto a = this->with_values(matrices::stencil<TypeParam>(9, 800, 600, 1), 9);
  ASSERT_TRUE(spgemm::may_repeat_patterns(a.rows, a.nnz(), a.rows, a.nnz()));
  const auto by_pattern = spgemm::multiply(context(), a, a, Algorithm::pattern);
  EXPECT_TRUE(same_bits(spgemm::multiply(context(), a, a), by_pattern));
  Context limited = context();
  limited.memory_budget = 12 << 20;
  EXPECT_THROW((void)spgemm::multiply(limited, a, a, Algorithm::pattern), Error);
  const auto limited_product = spgemm::multiply(limited, a, a);
  EXPECT_NO_THROW(spgemm::compare(limited_product, by_pattern, a, a,
                                  rounding_tolerance<TypeParam>(longest_row(a))));

  using namespace spgemm::cuda;
  const DeviceScope scope(context());
  const CudaStream own_stream = make_stream();
  cudaStream_t const stream = own_stream.get();
  const auto device = to_device<std::uint32_t>(a, stream);
  SpgemmPlan<TypeParam> plan(context(), view(device), view(device), stream);
  for (const std::uint64_t seed : {1, 2}) {
    const auto other = this->with_values(a, seed);
    const auto other_device = to_device<std::uint32_t>(other, stream);
    const auto expected = spgemm::multiply(context(), other, other, Algorithm::pattern);
    EXPECT_TRUE(same_bits(to_host<std::int32_t>(plan.multiply(other_device.values.data(),
                                                              other_device.values.data())),
                          expected));
    DeviceBuffer<TypeParam> values(expected.values.size(), stream);
    check_cuda(cudaMemsetAsync(values.data(), 0xff, values.bytes(), stream));
    plan.multiply(other_device.values.data(), other_device.values.data(), values.data());
    auto found = expected;
    values.copy_to(std::span(found.values));
    check_cuda(cudaStreamSynchronize(stream));
    EXPECT_TRUE(same_bits(found, expected));
  }
}

// More than 2^23 columns, which the fused product refuses, also by a plan.
TEST(PatternLimits, ManyColumns) {
  auto a = matrices::stencil<double>(5, 3000, 3000, 1);
  ASSERT_GT(a.cols, std::int64_t{1} << 23);
  expect_product(a, a, reference_product(a, a), Algorithm::pattern);
  const DeviceScope scope(context());
  const auto device = spgemm::cuda::to_device<std::uint32_t>(a, nullptr);
  spgemm::cuda::SpgemmPlan<double> plan(context(), view(device), view(device), nullptr);
  EXPECT_EQ(spgemm::cuda::to_host<std::int32_t>(
                plan.multiply(device.values.data(), device.values.data())),
            spgemm::multiply(context(), a, a));
}

}  // namespace
}  // namespace sortie::test
