// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/arriving_array.hpp"
#include "primitives/payload.hpp"
#include "sortie/csr.hpp"

/// What the writers of matrices take.
namespace sortie::matrices {

/// Rows of a matrix whose entries may not have been copied from a device yet. Copies share the arrays.
template <Scalar Value, Index Idx>
struct ArrivingRows {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  ArrivingArray<std::int64_t> row_ptr;  ///< rows + 1 offsets, the first 0; complete
  ArrivingArray<Idx> col_idx;
  ArrivingArray<Value> values;

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
  /// Returns once the first `entries` entries have been copied. Thread-safe. \throws Error (device)
  void await(std::int64_t entries) const {
    col_idx.await(static_cast<std::uint64_t>(entries));
    values.await(static_cast<std::uint64_t>(entries));
  }
};

/// Rows of a matrix that somebody else owns. \tparam Value  NoValue for a pattern
template <class Value, Index Idx>
struct RowsView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::span<const std::int64_t> row_ptr;
  std::span<const Idx> col_idx;
  std::span<const Value> values;  ///< empty for a pattern
  /// Returns once the first `entries` entries have been copied; empty if all have.
  std::function<void(std::int64_t entries)> await = {};

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
};

template <Element Value, Index Idx>
[[nodiscard]] RowsView<Value, Idx> view_of(const Csr<Value, Idx>& matrix) {
  return {matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx, matrix.values};
}
template <Index Idx>
[[nodiscard]] RowsView<NoValue, Idx> view_of(const Pattern<Idx>& pattern) {
  return {pattern.rows, pattern.cols, pattern.row_ptr, pattern.col_idx, {}};
}
template <Scalar Value, Index Idx>
RowsView<Value, Idx> view_of(const ArrivingRows<Value, Idx>&& rows) = delete;
/// \pre the rows outlive the view
template <Scalar Value, Index Idx>
[[nodiscard]] RowsView<Value, Idx> view_of(const ArrivingRows<Value, Idx>& rows) {
  return {rows.rows,
          rows.cols,
          rows.row_ptr.items(),
          rows.col_idx.items(),
          rows.values.items(),
          [&rows](std::int64_t entries) { rows.await(entries); }};
}

}  // namespace sortie::matrices
