#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sortie/matrices/csr.hpp"

namespace sortie::matrices {

/// Where a sparse matrix has entries, in compressed sparse row form, without their values. The
/// invariants are those of Csr.
template <Index Idx = std::int32_t>
struct Pattern {
  using index_type = Idx;

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> row_ptr{0};  ///< rows + 1 offsets
  std::vector<Idx> col_idx;              ///< nnz columns, from 0

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
  friend bool operator==(const Pattern&, const Pattern&) = default;
};

/// The structure of a matrix, whose values are let go. Pass it by std::move to copy nothing.
/// Explicit zeros are entries like all others.
template <Scalar Value, Index Idx>
[[nodiscard]] Pattern<Idx> pattern_of(Csr<Value, Idx> matrix) {
  return {matrix.rows, matrix.cols, std::move(matrix.row_ptr), std::move(matrix.col_idx)};
}

/// The matrix of that structure with every entry 1.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> with_ones(const Pattern<Idx>& pattern) {
  return {pattern.rows, pattern.cols, pattern.row_ptr, pattern.col_idx,
          std::vector<Value>(pattern.col_idx.size(), Value{1})};
}

}  // namespace sortie::matrices
