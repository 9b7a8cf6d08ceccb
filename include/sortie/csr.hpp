// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sortie/export.hpp"
#include "sortie/float16.hpp"

namespace sortie::matrices {

/// Types of matrix values.
template <class T>
concept Scalar =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::complex<double>>;

/// Types of the values of products over semirings (semiring_spgemm.hpp). std::uint8_t holds a bool,
/// 0 or 1, since std::vector<bool> has no array.
template <class T>
concept Element = Scalar<T> || std::same_as<T, std::uint8_t> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::complex<float>> || Float16Like<T>;

/// Types of row and column indices.
template <class T>
concept Index = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// A sparse matrix in compressed sparse row form.
///
/// Row i is the half-open range row_ptr[i] .. row_ptr[i+1] of col_idx and values. Unless a function
/// states otherwise, columns ascend strictly within a row. row_ptr is 64 bits wide for every Index,
/// since the number of entries may exceed 2^31 when the numbers of rows and columns do not.
template <Element Value, Index Idx = std::int32_t>
struct Csr {
  using value_type = Value;
  using index_type = Idx;

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> row_ptr{0};  ///< rows + 1 offsets
  std::vector<Idx> col_idx;              ///< nnz column indices, 0-based
  std::vector<Value> values;             ///< nnz values

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
  friend bool operator==(const Csr&, const Csr&) = default;
};

/// A sparse matrix in coordinate form: entries in any order, duplicates allowed.
template <Scalar Value, Index Idx = std::int32_t>
struct Coo {
  using value_type = Value;
  using index_type = Idx;

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<Idx> row_idx;
  std::vector<Idx> col_idx;
  std::vector<Value> values;

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(row_idx.size()); }
};

/// Sorts entries by row and column and sums duplicates in input order. Uses the threads of the host
/// runtime if it has been started, else one thread; the result is the same.
/// Complexity: O(nnz + rows) plus sorting each row. Extra memory: about one copy of the entries.
/// \throws Error (input) an index outside the matrix, or index and value lists of different length
template <Scalar Value, Index Idx>
[[nodiscard]] SORTIE_API Csr<Value, Idx> to_csr(const Coo<Value, Idx>& coo);

/// Lists the entries row by row. Complexity: O(nnz + rows).
template <Scalar Value, Index Idx>
[[nodiscard]] SORTIE_API Coo<Value, Idx> to_coo(const Csr<Value, Idx>& csr);

/// The transpose, without conjugation. Complexity: O(nnz + rows + cols). Extra memory: one Idx per
/// entry. Threads as for to_csr().
template <Scalar Value, Index Idx>
[[nodiscard]] SORTIE_API Csr<Value, Idx> transpose(const Csr<Value, Idx>& csr);

/// Removes entries that are zero, of either sign (complex: both parts); the others keep their
/// order. NaN is not zero. \return the number of removed entries
/// Complexity: O(nnz + rows), sequential. Memory: in place; the arrays keep their capacity.
template <Scalar Value, Index Idx>
SORTIE_API std::int64_t drop_zeros(Csr<Value, Idx>& csr);

/// Checks the invariants of Csr: sizes, monotone row_ptr, columns in range and strictly ascending.
/// \throws Error (input) naming the first row that violates one
template <Scalar Value, Index Idx>
SORTIE_API void validate(const Csr<Value, Idx>& csr);

/// The sparsity pattern of a matrix in compressed sparse row form: positions without values. The
/// invariants are those of Csr.
template <Index Idx = std::int32_t>
struct Pattern {
  using index_type = Idx;

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> row_ptr{0};  ///< rows + 1 offsets
  std::vector<Idx> col_idx;              ///< nnz column indices, 0-based

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
  friend bool operator==(const Pattern&, const Pattern&) = default;
};

/// The pattern of a matrix; the values are discarded. Pass the matrix by std::move to avoid a copy.
/// Explicit zeros count as entries.
template <Element Value, Index Idx>
[[nodiscard]] Pattern<Idx> pattern_of(Csr<Value, Idx> matrix) {
  return {matrix.rows, matrix.cols, std::move(matrix.row_ptr), std::move(matrix.col_idx)};
}

/// The matrix with this pattern and every value 1. Pass the pattern by std::move to avoid a copy.
template <Element Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> with_ones(Pattern<Idx> pattern) {
  const std::size_t entries = pattern.col_idx.size();
  return {pattern.rows, pattern.cols, std::move(pattern.row_ptr), std::move(pattern.col_idx),
          std::vector<Value>(entries, Value{1})};
}

}  // namespace sortie::matrices
