// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/spgemm/cuda/baselines/cusparse_operands.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_csr.hpp"

/// Common base of CusparseProduct and CusparseReuse. Internal.
namespace sortie::spgemm::cuda {

/// Operands in the form that cuSPARSE SpGEMM requires, with 32-bit offsets; the arrays of the
/// result; and the accounting of work space.
///
/// \tparam Value  float, double or std::complex<double>
template <class Value>
class CusparseArrays {
 public:
  /// Moves the result of the library out, with 64-bit offsets and columns ascending in every row.
  /// Rows in another order are sorted by segmented sort.
  [[nodiscard]] DeviceCsr<Value> take_result();

  /// Total bytes of work_buffer() since start_result(), including released buffers and excluding C.
  [[nodiscard]] std::uint64_t work_space() const { return work_space_; }

 protected:
  /// Creates a cuSPARSE handle and converts the row offsets of the operands to 32 bits. The
  /// context, and the arrays of `a` and `b`, must outlive this object.
  /// \throws Error (unavailable) rows, columns or entries of an operand exceed 2^31 - 1
  CusparseArrays(const DeviceContext& context, const DeviceCsrView<Value>& a,
                 const DeviceCsrView<Value>& b);
  ~CusparseArrays() = default;

  /// Releases the last result and allocates the offsets of the next. They are zeroed if there are
  /// no products, otherwise written by the library.
  void start_result();
  /// False if an operand is empty: cuSPARSE rejects such matrices.
  [[nodiscard]] bool has_products() const { return a_.nnz != 0 && b_.nnz != 0; }

  [[nodiscard]] cusparseHandle_t handle() const { return handle_.get(); }
  [[nodiscard]] CusparseConstMatrix describe_a() const { return describe_operand(a_, a_row_ptr_); }
  [[nodiscard]] CusparseConstMatrix describe_b() const { return describe_operand(b_, b_row_ptr_); }
  [[nodiscard]] CusparseMatrix describe_c();

  /// Allocates the entries that the library has counted in `c`, and sets their pointers in `c`.
  /// \return false if there are no entries
  /// \throws Error (unavailable) more than 2^31 - 1 entries; (out_of_memory, device)
  [[nodiscard]] bool allocate_result(const CusparseMatrix& c);
  [[nodiscard]] bool result_has_entries() const { return c_values_.size() != 0; }

  /// \throws Error (out_of_memory) the total work space exceeds the context's budget
  [[nodiscard]] DeviceBuffer<char> work_buffer(std::size_t bytes);

 private:
  const DeviceContext& context_;
  DeviceCsrView<Value> a_;
  DeviceCsrView<Value> b_;
  CusparseHandle handle_;
  DeviceBuffer<std::int32_t> a_row_ptr_;
  DeviceBuffer<std::int32_t> b_row_ptr_;
  DeviceBuffer<std::int32_t> c_row_ptr_;
  DeviceBuffer<std::uint32_t> c_col_idx_;
  DeviceBuffer<Value> c_values_;
  std::uint64_t work_space_ = 0;
};

}  // namespace sortie::spgemm::cuda
