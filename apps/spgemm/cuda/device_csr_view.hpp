#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/device_csr.cuh"

namespace sortie::spgemm::cuda {

/// A sparse matrix in device memory that belongs to someone else, in compressed sparse row form:
/// what the products take that are Sortie's own. Nothing is copied, and nothing is freed; the
/// arrays must stay in place as long as work that was given the view is under way.
///
/// \tparam Value   float, double or std::complex<double> (a cuDoubleComplex has the same bytes)
/// \tparam Column  std::uint32_t, or std::uint64_t for matrices of more than 2^32 columns; signed
///                 columns of the same width have the same bits (see BorrowedCsr)
/// \pre row_ptr[0] == 0 and row_ptr[rows] == nnz; columns ascend in every row, none twice, and are
///      below cols. Arrays of no elements may be null, but row_ptr always has rows + 1
template <class Value, class Column = std::uint32_t>
struct DeviceCsrView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const std::int64_t* row_ptr = nullptr;  ///< rows + 1 offsets
  const Column* col_idx = nullptr;        ///< nnz columns
  const Value* values = nullptr;          ///< nnz entries
};

/// All of a matrix.
template <class Value, class Column>
[[nodiscard]] DeviceCsrView<Value, Column> view(const DeviceCsr<Value, Column>& matrix) {
  return {matrix.rows,           matrix.cols,           matrix.nnz(),
          matrix.row_ptr.data(), matrix.col_idx.data(), matrix.values.data()};
}
/// Not of one that is about to end.
template <class Value, class Column>
DeviceCsrView<Value, Column> view(const DeviceCsr<Value, Column>&& matrix) = delete;

}  // namespace sortie::spgemm::cuda
