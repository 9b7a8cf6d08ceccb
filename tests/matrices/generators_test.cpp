// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "matrices/generators.hpp"
#include "sortie/error.hpp"
#include "tests/matrices/matrix_types.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using namespace sortie::matrices;

template <class Value>
bool in_unit_range(Value value) {
  if constexpr (std::is_same_v<Value, std::complex<double>>) {
    return in_unit_range(value.real()) && in_unit_range(value.imag());
  } else {
    return value >= -1 && value < 1;
  }
}

template <class Csr>
void expect_random_values(const Csr& csr) {
  validate(csr);
  EXPECT_TRUE(
      std::all_of(csr.values.begin(), csr.values.end(), in_unit_range<typename Csr::value_type>));
  const double mean =
      std::abs(std::accumulate(csr.values.begin(), csr.values.end(), typename Csr::value_type{0})) /
      static_cast<double>(csr.nnz());
  // Three standard deviations of a mean of uniform numbers; twice as wide for two parts.
  EXPECT_LT(mean, 2 * 3 * 0.58 / std::sqrt(static_cast<double>(csr.nnz())));
}

template <class Types>
class Generators : public testing::Test {};
TYPED_TEST_SUITE(Generators, AllMatrixTypes);

TYPED_TEST(Generators, ErdosRenyi) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  const auto matrix = erdos_renyi<Value, Idx>(3000, 200, 7, 1);
  expect_random_values(matrix);
  EXPECT_THAT(row_lengths(matrix), testing::Each(7));
  // Each column is drawn 3000 * 7 / 200 = 105 times, give or take 5 standard deviations.
  EXPECT_THAT(row_lengths(transpose(matrix)),
              testing::Each(testing::AllOf(testing::Gt(105 - 51), testing::Lt(105 + 51))));
  EXPECT_EQ(matrix, (erdos_renyi<Value, Idx>(3000, 200, 7, 1)));
  EXPECT_NE(matrix, (erdos_renyi<Value, Idx>(3000, 200, 7, 2)));
}

TYPED_TEST(Generators, ErdosRenyiDenseAndEmpty) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  for (const std::int64_t row_nnz : {0, 1, 20, 21, 39, 40}) {
    const auto matrix = erdos_renyi<Value, Idx>(10, 40, row_nnz, 3);
    validate(matrix);
    EXPECT_THAT(row_lengths(matrix), testing::Each(row_nnz));
  }
  EXPECT_EQ((erdos_renyi<Value, Idx>(0, 0, 0, 1).nnz()), 0);
  EXPECT_EQ((erdos_renyi<Value, Idx>(4, 0, 0, 1).rows), 4);
}

TYPED_TEST(Generators, Rmat) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  const auto matrix = rmat<Value, Idx>(10, 8, 1);
  validate(matrix);
  EXPECT_EQ(matrix.rows, 1024);
  EXPECT_EQ(matrix.cols, 1024);
  EXPECT_LT(matrix.nnz(), 8 * 1024);  // some edges are drawn twice
  EXPECT_GT(matrix.nnz(), 5 * 1024);
  // 0.76 of the edges leave the upper half; those drawn twice are mostly there, so a little less.
  const double upper = static_cast<double>(matrix.row_ptr[512]) / static_cast<double>(matrix.nnz());
  EXPECT_NEAR(upper, 0.74, 0.03);
  const auto lengths = row_lengths(matrix);
  EXPECT_GT(*std::max_element(lengths.begin(), lengths.end()), 100);
  EXPECT_EQ(matrix, (rmat<Value, Idx>(10, 8, 1)));
  EXPECT_NE(matrix, (rmat<Value, Idx>(10, 8, 2)));
  EXPECT_EQ((rmat<Value, Idx>(0, 3, 1).nnz()), 1);
}

TYPED_TEST(Generators, Banded) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  for (const std::int64_t half : {0, 1, 3, 49, 50, 1000}) {
    const auto matrix = banded<Value, Idx>(50, half, 1);
    validate(matrix);
    const auto coo = to_coo(matrix);
    std::int64_t inside = 0;
    for (std::int64_t row = 0; row < 50; ++row) {
      for (std::int64_t col = 0; col < 50; ++col) inside += std::abs(row - col) <= half ? 1 : 0;
    }
    EXPECT_EQ(matrix.nnz(), inside);
    for (std::size_t i = 0; i < coo.values.size(); ++i) {
      EXPECT_LE(std::abs(coo.row_idx[i] - coo.col_idx[i]), half);
    }
  }
  expect_random_values(banded<Value, Idx>(2000, 5, 1));
  EXPECT_EQ((banded<Value, Idx>(0, 2, 1).rows), 0);
}

TYPED_TEST(Generators, StencilIsASymmetricLaplacian) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  struct Grid {
    int points;
    std::int64_t nx, ny, nz;
    int unknowns;
  };
  for (const Grid& grid :
       {Grid{5, 6, 7, 1, 1}, Grid{7, 4, 5, 6, 1}, Grid{27, 5, 4, 3, 1}, Grid{9, 5, 4, 1, 1},
        Grid{5, 3, 4, 1, 3}, Grid{27, 3, 3, 3, 2}, Grid{7, 1, 1, 1, 1}}) {
    const auto matrix = stencil<Value, Idx>(grid.points, grid.nx, grid.ny, grid.nz, grid.unknowns);
    validate(matrix);
    EXPECT_EQ(matrix.rows, grid.nx * grid.ny * grid.nz * grid.unknowns);
    EXPECT_EQ(transpose(matrix), matrix);
    const auto lengths = row_lengths(matrix);
    const double block_sum = 1 + 0.5 * (grid.unknowns - 1);
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      const auto begin = matrix.values.begin() + matrix.row_ptr[row];
      const auto end = matrix.values.begin() + matrix.row_ptr[row + 1];
      // The full number of neighbours less those inside the grid, 0 for inner points.
      const auto neighbours = lengths[row] / grid.unknowns - 1;
      const auto missing = static_cast<double>(grid.points - 1 - neighbours);
      EXPECT_EQ(std::accumulate(begin, end, Value{0}), Value(missing * block_sum));
      const auto diagonal = std::find(matrix.col_idx.begin() + matrix.row_ptr[row],
                                      matrix.col_idx.begin() + matrix.row_ptr[row + 1], row);
      EXPECT_EQ(matrix.values[static_cast<std::size_t>(diagonal - matrix.col_idx.begin())],
                Value(grid.points - 1));
    }
    const bool has_inner_points =
        grid.nx > 2 && grid.ny > 2 && (grid.nz > 2 || grid.points == 5 || grid.points == 9);
    if (has_inner_points) {
      EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), grid.points * grid.unknowns);
    }
  }
}

TYPED_TEST(Generators, RenumberedHasTheSameRowsInAnotherOrder) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  const auto matrix = stencil<Value, Idx>(9, 20, 30, 1);
  const auto other = renumbered(matrix, 3);
  validate(other);
  EXPECT_NE(other, matrix);
  EXPECT_EQ(transpose(other), other);
  EXPECT_EQ(other, renumbered(matrix, 3));
  auto lengths = row_lengths(matrix);
  auto other_lengths = row_lengths(other);
  std::sort(lengths.begin(), lengths.end());
  std::sort(other_lengths.begin(), other_lengths.end());
  EXPECT_EQ(lengths, other_lengths);
  EXPECT_THROW((void)renumbered(erdos_renyi<Value, Idx>(3, 4, 1, 1), 1), Error);
}

TYPED_TEST(Generators, StencilOfAGridByHand) {
  using Value = typename TypeParam::value_type;
  const auto matrix = stencil<Value, typename TypeParam::index_type>(5, 2, 2, 1);
  EXPECT_THAT(matrix.row_ptr, testing::ElementsAre(0, 3, 6, 9, 12));
  EXPECT_THAT(matrix.col_idx, testing::ElementsAre(0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3));
  const Value d{4}, n{-1};
  EXPECT_THAT(matrix.values, testing::ElementsAre(d, n, n, n, d, n, n, d, n, n, n, d));
}

TYPED_TEST(Generators, PowerLaw) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  const auto matrix = power_law<Value, Idx>(20000, 1000, 1.5, 50, 1);
  expect_random_values(matrix);
  const auto lengths = row_lengths(matrix);
  EXPECT_EQ(*std::min_element(lengths.begin(), lengths.end()), 1);
  EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), 50);
  double weights = 0;
  for (int length = 1; length <= 50; ++length) weights += std::pow(length, -1.5);
  for (const int length : {1, 2, 5}) {
    const double expected = std::pow(length, -1.5) / weights;
    const double share =
        static_cast<double>(std::count(lengths.begin(), lengths.end(), length)) / 20000.0;
    EXPECT_NEAR(share, expected, 5 * std::sqrt(expected / 20000)) << length;
  }
  EXPECT_EQ(matrix, (power_law<Value, Idx>(20000, 1000, 1.5, 50, 1)));
  EXPECT_THAT(row_lengths(power_law<Value, Idx>(100, 1, 2.0, 1, 1)), testing::Each(1));
}

std::int64_t products_of_square(const Csr<float>& matrix) {
  std::int64_t products = 0;
  for (const std::int64_t row : matrix.col_idx) {
    products += matrix.row_ptr[row + 1] - matrix.row_ptr[row];
  }
  return products;
}

TYPED_TEST(Generators, WebGraph) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  const WebGraph graph{.rows = 20000,
                       .nnz = 100'000,
                       .products = 1'000'000,
                       .max_row_nnz = 200,
                       .site_rows = 2,
                       .locality = 0.3};
  const auto matrix = web_graph<Value, Idx>(graph, 1);
  expect_random_values(matrix);
  EXPECT_EQ(matrix.rows, 20000);
  EXPECT_EQ(matrix.cols, 20000);
  EXPECT_NEAR(static_cast<double>(matrix.nnz()), 100'000, 10'000);
  const auto lengths = row_lengths(matrix);
  EXPECT_EQ(*std::min_element(lengths.begin(), lengths.end()), 1);
  EXPECT_LE(*std::max_element(lengths.begin(), lengths.end()), 200);
  EXPECT_EQ(matrix, (web_graph<Value, Idx>(graph, 1)));
  EXPECT_NE(matrix, (web_graph<Value, Idx>(graph, 2)));
}

TEST(Generators, WebGraphHasTheLinksAndProductsWanted) {
  for (const std::int64_t products : {700'000, 1'200'000, 2'000'000}) {
    const auto matrix = web_graph<float>({.rows = 40000,
                                          .nnz = 160'000,
                                          .products = products,
                                          .max_row_nnz = 100,
                                          .site_rows = 1,
                                          .locality = 0.3},
                                         3);
    EXPECT_NEAR(static_cast<double>(matrix.nnz()), 160'000, 0.03 * 160'000);
    EXPECT_NEAR(static_cast<double>(products_of_square(matrix)), static_cast<double>(products),
                0.06 * static_cast<double>(products));
  }
}

TEST(Generators, WebGraphKeepsLinksNearby) {
  const auto far = [](double locality) {
    const auto matrix = web_graph<float>({.rows = 10000,
                                          .nnz = 40000,
                                          .products = 320'000,
                                          .max_row_nnz = 50,
                                          .site_rows = 1,
                                          .locality = locality},
                                         1);
    const auto coo = to_coo(matrix);
    const auto lengths = row_lengths(matrix);
    std::int64_t links = 0;
    for (std::size_t i = 0; i < coo.row_idx.size(); ++i) {
      links += std::abs(coo.row_idx[i] - coo.col_idx[i]) > lengths[coo.row_idx[i]] ? 1 : 0;
    }
    return static_cast<double>(links) / static_cast<double>(matrix.nnz());
  };
  const double none = far(0);
  EXPECT_GT(none, 0.99);
  EXPECT_LT(far(0.5), 0.7);
  EXPECT_LT(far(1), 0.45);  // those to pages in proportion to their links go anywhere
}

TEST(Generators, WebGraphSitesHaveRowsOfOneLength) {
  const auto matrix = web_graph<float>({.rows = 1000,
                                        .nnz = 4000,
                                        .products = 20'000,
                                        .max_row_nnz = 20,
                                        .site_rows = 10,
                                        .locality = 0.2},
                                       1);
  const auto lengths = row_lengths(matrix);
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    EXPECT_EQ(lengths[row], lengths[row / 10 * 10]) << row;
  }
}

TEST(Generators, WebGraphOfTheSmallestSizes) {
  EXPECT_EQ(web_graph<double>({}, 1), Csr<double>{});
  const WebGraph one{.rows = 1, .nnz = 1, .products = 1, .max_row_nnz = 1};
  EXPECT_EQ(web_graph<double>(one, 1).nnz(), 1);
  const WebGraph full{.rows = 8, .nnz = 64, .products = 497, .max_row_nnz = 8};
  const auto matrix = web_graph<double>(full, 1);
  validate(matrix);
  EXPECT_GT(matrix.nnz(), 48);
}

TEST(Generators, PatternIsTheSameForEveryType) {
  const auto one = power_law<float, std::int64_t>(500, 300, 1.0, 40, 9);
  const auto other = power_law<std::complex<double>, std::int64_t>(500, 300, 1.0, 40, 9);
  EXPECT_EQ(one.row_ptr, other.row_ptr);
  EXPECT_EQ(one.col_idx, other.col_idx);
}

TEST(Generators, FixedNumbers) {
  // Held by value, so that a change of the generators or a machine that differs is seen.
  const auto matrix = erdos_renyi<double>(2, 100, 3, 42);
  EXPECT_THAT(matrix.col_idx, testing::ElementsAre(33, 83, 92, 31, 79, 96));
  EXPECT_THAT(matrix.values, testing::ElementsAre(0.23939084203245797, 0.38135350858350492,
                                                  -0.75053664621140403, 0.065900524528972548,
                                                  0.39004112041243011, -0.72406931905752669));
}

TEST(Generators, RefuseWhatMakesNoSense) {
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)erdos_renyi<double>(3, 4, 5, 1); }),
            "matrix generator: found 5 entries per row, expected 0 to 4, the number of columns");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)erdos_renyi<double>(-3, 4, 1, 1); }),
            "matrix generator: found -3 rows, expected 0 to 2147483647");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)erdos_renyi<double>(3, 3000000000, 1, 1); }),
            "matrix generator: found 3000000000 columns, expected 0 to 2147483647");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)rmat<double>(31, 1, 1); }),
            "matrix generator: found scale 31, expected 0 to 30");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)rmat<double>(3, -1, 1); }),
            "matrix generator: found edge factor -1, expected 0 to 18014398509481983");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)banded<double>(3, -1, 1); }),
            "matrix generator: found half bandwidth -1, expected at least 0");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)stencil<double>(8, 2, 2, 2); }),
            "matrix generator: found 8 points, expected 5, 7, 9 or 27");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)stencil<double>(5, 2, 2, 2); }),
            "matrix generator: found 2 layers, expected 1 for a 5-point stencil");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)stencil<double>(7, 2, 2, 2, 0); }),
            "matrix generator: found 0 unknowns per point, expected at least 1");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)stencil<double>(7, 2000, 2000, 2000); }),
            "matrix generator: found 8000000000 unknowns, expected 0 to 2147483647");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)power_law<double>(3, 4, 1.0, 5, 1); }),
            "matrix generator: found a longest row of 5 entries, expected 1 to 4, the number of "
            "columns");
  EXPECT_EQ(error_message(ErrorKind::usage, [] { (void)power_law<double>(3, 4, NAN, 2, 1); }),
            "matrix generator: found exponent nan, expected a finite number");
  const auto web_message = [](const WebGraph& graph) {
    return error_message(ErrorKind::usage, [&] { (void)web_graph<double>(graph, 1); });
  };
  EXPECT_EQ(web_message({.rows = 10, .nnz = 20, .products = 60, .max_row_nnz = 11}),
            "matrix generator: found a longest row of 11 entries, expected 1 to 10, the number of "
            "columns");
  EXPECT_EQ(web_message({.rows = 10, .nnz = 9, .products = 60, .max_row_nnz = 5}),
            "matrix generator: found 9 entries, expected 10 to 50, 1 to 5 in each of 10 rows");
  EXPECT_EQ(web_message({.rows = 10, .nnz = 20, .products = 60, .max_row_nnz = 5, .locality = 2}),
            "matrix generator: found locality 2, expected 0 to 1");
  EXPECT_THAT(web_message({.rows = 10, .nnz = 20, .products = 7, .max_row_nnz = 5}),
              testing::StartsWith("matrix generator: found 7 products, expected "));
}

TEST(Generators, RefuseWhatDoesNotFitMemory) {
  const std::function<void()> calls[] = {
      [] { (void)banded<double, std::int64_t>(std::numeric_limits<std::int64_t>::max(), 0, 1); },
      [] { (void)erdos_renyi<double, std::int64_t>(1, std::int64_t{1} << 62, 1LL << 60, 1); },
      [] { (void)rmat<double, std::int64_t>(62, 0, 1); },
      [] { (void)rmat<double, std::int64_t>(38, 1 << 14, 1); }};
  for (const auto& call : calls) {
    try {
      call();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what();
    }
  }
}

}  // namespace
}  // namespace sortie::test
