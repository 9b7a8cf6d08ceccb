// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sortie/csr.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/export.hpp"

struct cusparseSpMatDescr;  // cusparseConstSpMatDescr_t is a pointer to a const one

/// Sparse matrices in device memory: matrices that own their arrays, views of the caller's arrays,
/// and adapters for arrays of other index types. Only in builds with CUDA.
///
/// Value is float, double or std::complex<double>; Column is std::uint32_t, or std::uint64_t for
/// matrices of more than 2^32 columns. DeviceCsr also has the other types of semiring_spgemm.hpp,
/// with 32-bit columns.
namespace sortie::spgemm::cuda {

/// A sparse matrix in device memory, in compressed sparse row form like matrices::Csr. It owns its
/// arrays, which are allocated from Sortie's pool and freed in the order of their stream.
template <class Value, class Column = std::uint32_t>
struct DeviceCsr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  DeviceBuffer<std::int64_t> row_ptr;  ///< rows + 1 offsets, from 0
  DeviceBuffer<Column> col_idx;        ///< nnz columns
  DeviceBuffer<Value> values;          ///< nnz entries

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
};

/// A view of a sparse matrix in device memory, in compressed sparse row form: the operand type of
/// all products on the device. The caller owns the arrays; nothing is copied or freed. The arrays
/// must stay valid until all work that uses the view has finished. A cuDoubleComplex has the bytes
/// of a std::complex<double>, and signed columns those of unsigned ones (see BorrowedCsr).
/// \pre row_ptr[0] == 0 and row_ptr[rows] == nnz; columns ascend strictly in every row and are
///      below cols. Empty arrays may be null; row_ptr always has rows + 1 elements
template <class Value, class Column = std::uint32_t>
struct DeviceCsrView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const std::int64_t* row_ptr = nullptr;  ///< rows + 1 offsets
  const Column* col_idx = nullptr;        ///< nnz columns
  const Value* values = nullptr;          ///< nnz entries
};

/// A view of a whole matrix.
template <class Value, class Column>
[[nodiscard]] DeviceCsrView<Value, Column> view(const DeviceCsr<Value, Column>& matrix) {
  return {matrix.rows,           matrix.cols,           matrix.nnz(),
          matrix.row_ptr.data(), matrix.col_idx.data(), matrix.values.data()};
}
/// A view of a temporary would dangle.
template <class Value, class Column>
DeviceCsrView<Value, Column> view(const DeviceCsr<Value, Column>&& matrix) = delete;

/// True if column numbers 0 .. cols - 1 do not fit std::uint32_t.
[[nodiscard]] constexpr bool needs_wide_columns(std::int64_t cols) {
  return cols > (std::int64_t{1} << 32);
}

/// Copies a host matrix to the current device, which must be the stream's. Synchronises the stream.
/// Instantiated with 32-bit Column for both types of Idx, and with 64-bit Column for 64-bit Idx.
/// \pre the column numbers fit Column (see needs_wide_columns)
/// \throws Error (out_of_memory, device)
template <class Column, class Value, class Idx>
[[nodiscard]] SORTIE_API DeviceCsr<Value, Column> to_device(const matrices::Csr<Value, Idx>& host,
                                                            CUstream_st* stream);

/// Copies a device matrix to the host. Synchronises the stream of its arrays, whose device must be
/// current. Instantiated like to_device(). Memory: up to 16 MiB of page-locked memory; if the
/// widths of Column and Idx differ, also a copy of the columns on the device.
/// \throws Error (out_of_memory, device)
template <class Idx, class Column, class Value>
[[nodiscard]] SORTIE_API matrices::Csr<Value, Idx> to_host(const DeviceCsr<Value, Column>& device);

/// Adapts a matrix in the caller's device memory, with any of the usual index types, to the view
/// that the products take:
///
///     const BorrowedCsr<double> a(rows, cols, nnz, a_row_ptr, a_col_idx, a_values, stream);
///     const BorrowedCsr<double> b(b_descriptor, stream);  // a cuSPARSE descriptor
///     const DeviceCsr<double> c = multiply_on_device(context, a.view(), b.view(), stream);
///
/// Values are never copied. Indices are copied only if their width differs:
///
/// | given              | Column = std::uint32_t     | Column = std::uint64_t     |
/// |--------------------|----------------------------|----------------------------|
/// | 32-bit row offsets | copied, 8 (rows + 1) bytes | copied, 8 (rows + 1) bytes |
/// | 64-bit row offsets | used in place              | used in place              |
/// | 32-bit columns     | used in place              | Error (unavailable)        |
/// | 64-bit columns     | copied, 4 nnz bytes        | used in place              |
///
/// This object owns the copies. They are allocated from Sortie's pool and freed in the order of the
/// stream when the object is destroyed. Arrays that are used in place must stay valid as long as
/// this object is used.
///
/// \pre the preconditions of DeviceCsrView: offsets from 0, columns that ascend in every row. The
///      order of columns is not checked; results of cuSPARSE may have another order
template <class Value, class Column = std::uint32_t>
class SORTIE_API BorrowedCsr {
 public:
  /// Refers to arrays in device memory. Copies, if any, are made on `stream`, and the host does not
  /// wait for them. The current device must be that of the stream.
  /// \tparam Offset       std::int32_t or std::int64_t
  /// \tparam ColumnIndex  std::int32_t, std::int64_t, std::uint32_t or std::uint64_t
  /// \throws Error (unavailable) more columns than Column can represent, or 32-bit columns for
  ///         64-bit Column
  /// \throws Error (out_of_memory, device)
  template <class Offset, class ColumnIndex>
  SORTIE_API BorrowedCsr(std::int64_t rows, std::int64_t cols, std::int64_t nnz,
                         const Offset* row_ptr, const ColumnIndex* col_idx, const Value* values,
                         CUstream_st* stream);

  /// Refers to the arrays of a cuSPARSE CSR descriptor, given as cusparseSpMatDescr_t or
  /// cusparseConstSpMatDescr_t. The descriptor may be destroyed when the constructor has returned.
  /// \throws Error (usage) values of another type than Value, or not in CSR form
  /// \throws Error (unavailable) indices from 1, 16-bit indices, and the cases above
  /// \throws Error (out_of_memory, device)
  BorrowedCsr(const cusparseSpMatDescr* descriptor, CUstream_st* stream);

  /// \pre this object outlives every use of the view
  [[nodiscard]] const DeviceCsrView<Value, Column>& view() const& { return view_; }
  const DeviceCsrView<Value, Column>& view() const&& = delete;

  /// Bytes of copied indices.
  [[nodiscard]] std::uint64_t copied_bytes() const { return row_ptr_.bytes() + col_idx_.bytes(); }

 private:
  DeviceBuffer<std::int64_t> row_ptr_;  ///< empty if the given array is used in place
  DeviceBuffer<Column> col_idx_;        ///< empty if the given array is used in place
  DeviceCsrView<Value, Column> view_;
};

}  // namespace sortie::spgemm::cuda
