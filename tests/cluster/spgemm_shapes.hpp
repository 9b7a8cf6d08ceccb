// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/spgemm/ranks/move_rows.hpp"
#include "apps/spgemm/ranks/row_division.hpp"
#include "core/random.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/csr.hpp"

namespace sortie::test {

/// Which entries a matrix has.
using HasEntry = std::function<bool(std::int64_t row, std::int64_t column)>;

/// A value whose sums depend on their order; some are zero, of either sign.
template <class Value>
Value odd_value(std::uint64_t number) {
  const auto real = static_cast<double>(static_cast<std::int64_t>(number % 2001) - 1000) / 7.0;
  if (number % 17 == 0) return static_cast<Value>(number % 2 == 0 ? 0.0 : -0.0);
  if constexpr (std::is_same_v<Value, std::complex<double>>) {
    return {real, static_cast<double>(number % 13) / 3.0};
  } else {
    return static_cast<Value>(real);
  }
}

template <class Value, class Idx>
matrices::Csr<Value, Idx> matrix_of(std::int64_t rows, std::int64_t cols, const HasEntry& has) {
  matrices::Csr<Value, Idx> matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  std::uint64_t number = 1;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) {
      number = number * 6364136223846793005u + 1442695040888963407u;
      if (!has(row, col)) continue;
      matrix.col_idx.push_back(static_cast<Idx>(col));
      matrix.values.push_back(odd_value<Value>(number >> 33));
    }
    matrix.row_ptr.push_back(matrix.nnz());
  }
  return matrix;
}

/// Operands of a product.
template <class Value, class Idx>
struct Factors {
  std::string name;
  matrices::Csr<Value, Idx> a;
  matrices::Csr<Value, Idx> b;  ///< without rows: A * A
  [[nodiscard]] const matrices::Csr<Value, Idx>& second() const { return b.rows == 0 ? a : b; }
};

/// Shapes that divide badly, and usual ones.
template <class Value, class Idx>
std::vector<Factors<Value, Idx>> all_shapes() {
  const auto scattered = [](std::int64_t every) {
    return [every](std::int64_t row, std::int64_t col) {
      return (row * 7919 + col * 104729 + row * col) % every == 0;
    };
  };
  const auto make = [](std::int64_t rows, std::int64_t cols, const HasEntry& has) {
    return matrix_of<Value, Idx>(rows, cols, has);
  };
  const HasEntry none = [](std::int64_t, std::int64_t) { return false; };
  const HasEntry diagonal = [](std::int64_t row, std::int64_t col) { return row == col; };
  std::vector<Factors<Value, Idx>> shapes;
  shapes.push_back({"scattered", make(60, 60, scattered(7)), {}});
  shapes.push_back({"uneven",
                    make(70, 70,
                         [&](std::int64_t row, std::int64_t col) {
                           return row < 12 ? col % 2 == 0 : col == row % 5;
                         }),
                    {}});
  shapes.push_back(
      {"hub row",
       make(50, 50,
            [](std::int64_t row, std::int64_t col) { return row == 31 || col == (row * 3) % 50; }),
       {}});
  shapes.push_back(
      {"full column",
       make(50, 50, [](std::int64_t row, std::int64_t col) { return col == 17 || col == row; }),
       {}});
  shapes.push_back(
      {"one row", make(40, 40, [](std::int64_t row, std::int64_t) { return row == 23; }), {}});
  shapes.push_back(
      {"first rows only",
       make(48, 48,
            [](std::int64_t row, std::int64_t col) { return row < 4 && (row + col) % 3 == 0; }),
       {}});
  shapes.push_back({"three rows", make(3, 3, scattered(2)), {}});
  shapes.push_back({"one entry", make(1, 1, diagonal), {}});
  shapes.push_back({"no entries", make(20, 20, none), {}});
  shapes.push_back({"diagonal", make(33, 33, diagonal), {}});
  shapes.push_back({"rectangular", make(45, 30, scattered(5)), make(30, 80, scattered(6))});
  shapes.push_back({"one column of A", make(40, 1, scattered(2)), make(1, 50, scattered(1))});
  shapes.push_back({"no rows of A", make(0, 12, none), make(12, 12, diagonal)});
  shapes.push_back({"empty B", make(25, 25, scattered(3)), make(25, 25, none)});
  return shapes;
}

/// The matrix of rank 0, divided among ranks with the first rows given. Collective.
template <class Matrix>
cluster::DividedMatrix<Matrix> divide(cluster::Ranks& ranks, const Matrix& matrix,
                                      std::vector<std::int64_t> first_rows) {
  cluster::TrafficPlan plan(ranks);
  cluster::DividedMatrix<Matrix> whole;
  whole.first_rows.assign(static_cast<std::size_t>(ranks.size()) + 1, matrix.rows);
  whole.first_rows.front() = 0;
  if (ranks.rank() == 0) whole.block = matrix;
  whole.block.cols = matrix.cols;
  cluster::RankMemory memory(ranks, HostContext{});
  return cluster::move_rows(ranks, plan, memory, std::move(whole), std::move(first_rows));
}

/// All rows, on rank 0; nothing on the others. Collective.
template <class Matrix>
Matrix joined(cluster::Ranks& ranks, cluster::DividedMatrix<Matrix> matrix) {
  cluster::TrafficPlan plan(ranks);
  std::vector<std::int64_t> all(matrix.first_rows.size(), matrix.rows());
  all.front() = 0;
  cluster::RankMemory memory(ranks, HostContext{});
  return cluster::move_rows(ranks, plan, memory, std::move(matrix), std::move(all)).block;
}

/// Equal rows, all rows on the last rank, or all on rank 0.
inline std::vector<std::vector<std::int64_t>> divisions(std::int64_t rows, int ranks) {
  std::vector<std::int64_t> on_first(static_cast<std::size_t>(ranks) + 1, rows);
  on_first.front() = 0;
  std::vector<std::int64_t> on_last(static_cast<std::size_t>(ranks) + 1, 0);
  on_last.back() = rows;
  return {cluster::equal_rows(rows, ranks), on_first, on_last};
}

/// Equality of bits, where operator== would take -0.0 for 0.0.
template <class Matrix>
bool equal_bits(const Matrix& x, const Matrix& y) {
  if (x.rows != y.rows || x.cols != y.cols || x.row_ptr != y.row_ptr || x.col_idx != y.col_idx)
    return false;
  if constexpr (cluster::has_values<Matrix>) {
    const auto bytes_x = std::as_bytes(std::span(x.values));
    const auto bytes_y = std::as_bytes(std::span(y.values));
    return std::ranges::equal(bytes_x, bytes_y);
  }
  return true;
}

}  // namespace sortie::test
