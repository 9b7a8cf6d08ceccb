#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/cusparse_operands.hpp"
#include "sortie/apps/spgemm/cuda/device_csr.cuh"
#include "sortie/core/context.hpp"

/// Internal to spgemm/cuda: what CusparseProduct and CusparseReuse have in common.
namespace sortie::spgemm::cuda {

/// The operands of a product as cuSPARSE's SpGEMM takes them, with 32-bit offsets, the arrays of
/// its result, and the work space that was given to it.
///
/// \tparam Value  float, double or std::complex<double>
template <class Value>
class CusparseArrays {
 public:
  /// The result that the library has left, with 64-bit offsets and columns that ascend in every row
  /// (sorted by segmented sort where cuSPARSE left them in another order). Takes it away.
  [[nodiscard]] DeviceCsr<Value> take_result();

  /// Bytes of work space that was handed out since start_result(), beside C, all counted though
  /// some is let go.
  [[nodiscard]] std::uint64_t work_space() const { return work_space_; }

 protected:
  /// Starts cuSPARSE and narrows the row offsets of the operands. `a` and `b` must outlive this.
  /// \throws Error (unavailable) rows, columns or entries of an operand pass 2^31 - 1
  CusparseArrays(const Context& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b);
  ~CusparseArrays() = default;

  /// Lets the last result go, and makes room for the offsets of the next: zeros where there are no
  /// products, else the library's to write.
  void start_result();
  /// True when cuSPARSE has work to do: it refuses matrices without arrays.
  [[nodiscard]] bool has_products() const { return a_.nnz() != 0 && b_.nnz() != 0; }

  [[nodiscard]] cusparseHandle_t handle() const { return handle_.get(); }
  [[nodiscard]] CusparseConstMatrix describe_a() const { return describe_operand(a_, a_row_ptr_); }
  [[nodiscard]] CusparseConstMatrix describe_b() const { return describe_operand(b_, b_row_ptr_); }
  [[nodiscard]] CusparseMatrix describe_c();

  /// Makes room for the entries that the library has counted in `c`, and tells it where.
  /// \return false when there are none
  /// \throws Error (unavailable) more than 2^31 - 1; (out_of_memory, device)
  [[nodiscard]] bool allocate_result(const CusparseMatrix& c);
  [[nodiscard]] bool result_has_entries() const { return c_values_.size() != 0; }

  /// \throws Error (out_of_memory) the work space passes the context's budget, if that has one
  [[nodiscard]] DeviceBuffer<char> work_buffer(std::size_t bytes);

 private:
  const Context& context_;
  const DeviceCsr<Value>& a_;
  const DeviceCsr<Value>& b_;
  CusparseHandle handle_;
  DeviceBuffer<std::int32_t> a_row_ptr_;
  DeviceBuffer<std::int32_t> b_row_ptr_;
  DeviceBuffer<std::int32_t> c_row_ptr_;
  DeviceBuffer<std::uint32_t> c_col_idx_;
  DeviceBuffer<Value> c_values_;
  std::uint64_t work_space_ = 0;
};

}  // namespace sortie::spgemm::cuda
