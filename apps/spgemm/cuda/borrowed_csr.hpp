#pragma once

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <cstdint>

#include "sortie/apps/spgemm/cuda/device_csr_view.hpp"

namespace sortie::spgemm::cuda {

/// A matrix in device memory that belongs to someone else, in arrays of any of the usual types of
/// indices, as the products take it:
///
///     const BorrowedCsr<double> a(rows, cols, nnz, a_row_ptr, a_col_idx, a_values, stream);
///     const BorrowedCsr<double> b(b_descriptor, stream);  // cuSPARSE's
///     const DeviceCsr<double> c = automatic_on_device(context, a.view(), b.view());
///
/// Values are never copied, and indices only where their width is another one:
///
/// | given                | Column = std::uint32_t           | Column = std::uint64_t |
/// |----------------------|----------------------------------|------------------------|
/// | 32-bit row offsets   | copied, 8 (rows + 1) bytes       | the same               |
/// | 64-bit row offsets   | as they are                      | as they are            |
/// | 32-bit columns       | as they are                      | refused                |
/// | 64-bit columns       | copied, 4 nnz bytes              | as they are            |
///
/// The copies are this object's, from the stream-ordered allocator, and freed in order of the
/// stream when it ends. All that is as it was given must stay in place as long as this is used.
///
/// \tparam Value   float, double or std::complex<double>
/// \tparam Column  std::uint32_t, or std::uint64_t for matrices of more than 2^32 columns
/// \pre what DeviceCsrView demands of the arrays: offsets from 0, and columns that ascend in every
///      row, which is not looked at (cuSPARSE itself may leave them in another order)
template <class Value, class Column = std::uint32_t>
class BorrowedCsr {
 public:
  /// Takes arrays in device memory. Copies, where there are any, are made on `stream`, and the host
  /// does not wait for them. The current device must be the one of the stream.
  /// \tparam Offset       std::int32_t or std::int64_t
  /// \tparam ColumnIndex  the same, or std::uint32_t or std::uint64_t
  /// \throws Error (unavailable) more columns than Column has numbers, or narrow columns for wide
  /// \throws Error (out_of_memory, device)
  template <class Offset, class ColumnIndex>
  BorrowedCsr(std::int64_t rows, std::int64_t cols, std::int64_t nnz, const Offset* row_ptr,
              const ColumnIndex* col_idx, const Value* values, cudaStream_t stream);

  /// Takes what a descriptor of cuSPARSE in CSR form points to. The descriptor itself is not needed
  /// any more when this returns. A cusparseSpMatDescr_t converts to this type.
  /// \throws Error (usage) values of another type than Value, or not in CSR form
  /// \throws Error (unavailable) indices from 1, 16-bit indices, and as above
  /// \throws Error (out_of_memory, device)
  BorrowedCsr(cusparseConstSpMatDescr_t descriptor, cudaStream_t stream);

  /// \pre this object is still there when the view is used
  [[nodiscard]] const DeviceCsrView<Value, Column>& view() const& { return view_; }
  const DeviceCsrView<Value, Column>& view() const&& = delete;

  /// Bytes of indices that had to be copied.
  [[nodiscard]] std::uint64_t copied_bytes() const { return row_ptr_.bytes() + col_idx_.bytes(); }

 private:
  DeviceBuffer<std::int64_t> row_ptr_;  ///< empty where the given one will do
  DeviceBuffer<Column> col_idx_;        ///< the same
  DeviceCsrView<Value, Column> view_;
};

}  // namespace sortie::spgemm::cuda
