// SPDX-License-Identifier: Apache-2.0

// Kernels of Markov clustering on the host: products of rows, pruning and inflation.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "apps/graph_clusters/cuda/pruning.cuh"

namespace sortie::graphs::cuda {
namespace {

/// A stochastic matrix. Every third row has few distinct values, so that entries equal the limit.
matrices::Csr<float> stochastic(int rows, int entries) {
  std::mt19937 random(static_cast<unsigned>(rows + entries));
  matrices::Csr<float> matrix{rows, rows, {0}, {}, {}};
  for (int row = 0; row < rows; ++row) {
    std::map<std::int32_t, double> values;
    for (int i = 0; i < entries; ++i) {
      const double value = row % 3 == 0 ? 1 + static_cast<double>(random() % 2)
                                        : std::pow(1e-3 + (random() % 1000) * 1e-3, 6);
      values[static_cast<std::int32_t>(random() % rows)] = value;
    }
    double sum = 0;
    for (const auto& [column, value] : values) sum += value;
    for (const auto& [column, value] : values) {
      matrix.col_idx.push_back(column);
      matrix.values.push_back(static_cast<float>(value / sum));
    }
    matrix.row_ptr.push_back(matrix.nnz());
  }
  return matrix;
}

/// The first rows of the matrix times itself, products in order.
matrices::Csr<double> squared(const matrices::Csr<float>& matrix, std::int64_t rows) {
  matrices::Csr<double> product{rows, matrix.cols, {0}, {}, {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    std::map<std::int32_t, double> sums;
    for (auto i = matrix.row_ptr[row]; i < matrix.row_ptr[row + 1]; ++i) {
      const std::int32_t k = matrix.col_idx[i];
      for (auto j = matrix.row_ptr[k]; j < matrix.row_ptr[k + 1]; ++j) {
        sums[matrix.col_idx[j]] +=
            static_cast<double>(matrix.values[i]) * static_cast<double>(matrix.values[j]);
      }
    }
    for (const auto& [column, value] : sums) {
      product.col_idx.push_back(column);
      product.values.push_back(value);
    }
    product.row_ptr.push_back(product.nnz());
  }
  return product;
}

template <int Threads>
void expect_plain_result(const matrices::Csr<float>& matrix, ClusterOptions options) {
  constexpr std::int64_t most_rows = 24;
  const matrices::Csr<double> expanded = squared(matrix, std::min(matrix.rows, most_rows));
  const std::vector<std::uint32_t> columns(expanded.col_idx.begin(), expanded.col_idx.end());
  const ExpandedRows rows{expanded.rows, expanded.nnz(), expanded.row_ptr.data(), columns.data(),
                          expanded.values.data()};
  const PruningRule rule(options);
  std::vector<RowRule> rules(expanded.rows);
  std::vector<std::int64_t> counts(expanded.rows);
  unsigned long long chaos = 0;
  for (unsigned block = 0; block < expanded.rows; ++block) {
    cuda_on_host::run_block(
        Threads,
        [&] { find_rules_kernel<Threads>(rows, rule, rules.data(), counts.data(), &chaos); },
        block);
  }
  matrices::Csr<float> found{expanded.rows, expanded.cols, {0}, {}, {}};
  for (const std::int64_t count : counts) found.row_ptr.push_back(found.row_ptr.back() + count);
  std::vector<std::uint32_t> found_columns(found.row_ptr.back());
  std::vector<double> found_values(found.row_ptr.back());
  for (unsigned block = 0; block < expanded.rows; ++block) {
    cuda_on_host::run_block(
        Threads,
        [&] {
          apply_rules_kernel<Threads>(rows, rule, rules.data(), found.row_ptr.data(),
                                      found_columns.data(), found_values.data());
        },
        block);
  }
  found.col_idx.assign(found_columns.begin(), found_columns.end());
  found.values.assign(found_values.begin(), found_values.end());

  options.max_iterations = 1;
  Limit expected = plain_limit(matrix, options);
  if (matrix.rows <= most_rows) {
    EXPECT_EQ(std::bit_cast<double>(chaos) < stable_chaos, expected.converged);
  }
  expected.matrix.rows = found.rows;
  expected.matrix.row_ptr.resize(found.rows + 1);
  expected.matrix.col_idx.resize(expected.matrix.row_ptr.back());
  expected.matrix.values.resize(expected.matrix.row_ptr.back());
  EXPECT_EQ(found, expected.matrix);
}

TEST(GraphClustersKernels, PruningAndInflation) {
  std::vector<ClusterOptions> options(1);
  options.push_back({.inflation = 1.7, .pruning = {}});
  for (const Pruning pruning :
       {Pruning{1e-3, 10, 14, 0.9}, Pruning{1e-2, 40, 20, 0.99}, Pruning{1e-2, 3, 70, 0.999},
        Pruning{0.9, 10, 14, 0}, Pruning{0, 1, 1, 0.5}, Pruning{0.02, 5, 7, 1}}) {
    options.push_back({.inflation = 2, .pruning = pruning});
  }
  for (const ClusterOptions& of : options) {
    for (const auto& [rows, entries] : {std::pair{1, 1}, {20, 3}, {90, 20}, {400, 30}}) {
      const matrices::Csr<float> matrix = stochastic(rows, entries);
      expect_plain_result<32>(matrix, of);
      expect_plain_result<256>(matrix, of);
    }
  }
}

TEST(GraphClustersKernels, CountsTheProductsOfRows) {
  const matrices::Csr<float> matrix = stochastic(50, 60);
  const std::vector<std::uint32_t> columns(matrix.col_idx.begin(), matrix.col_idx.end());
  std::vector<std::int64_t> products(matrix.rows, -1);
  for (unsigned block = 0; block < blocks_for(matrix.rows, element_threads / 32); ++block) {
    cuda_on_host::run_block(
        element_threads,
        [&] {
          count_products_kernel(matrix.rows, matrix.row_ptr.data(), columns.data(),
                                products.data());
        },
        block);
  }
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    std::int64_t expected = 0;
    for (auto i = matrix.row_ptr[row]; i < matrix.row_ptr[row + 1]; ++i)
      expected += matrix.row_ptr[columns[i] + 1] - matrix.row_ptr[columns[i]];
    EXPECT_EQ(products[row], expected);
  }
}

}  // namespace
}  // namespace sortie::graphs::cuda
