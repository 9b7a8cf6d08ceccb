#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/cusparse_operands.hpp"
#include "sortie/apps/spgemm/cuda/device_csr.cuh"
#include "sortie/core/context.hpp"

namespace sortie::spgemm::cuda {

/// cuSPARSE's SpGEMM that finds the structure of C once (cusparseSpGEMMreuse_workEstimation, _nnz
/// and _copy) and then computes values as often as wanted (cusparseSpGEMMreuse_compute), each time
/// with the values that A and B have by then.
///
/// \tparam Value  float, double or std::complex<double>
template <class Value>
class CusparseReuse {
 public:
  /// Starts cuSPARSE and narrows the row offsets of the operands. `a` and `b` must outlive this.
  /// \throws Error (unavailable) rows, columns or entries of an operand pass 2^31 - 1
  CusparseReuse(const Context& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b);

  /// The structure of C = A * B, kept inside with what computing the values needs; may be called
  /// again. \throws Error (out_of_memory, unavailable, device) as CusparseProduct::multiply()
  void analyse();

  /// The values of C. \pre analyse() was called
  void compute();

  /// The result of the last compute(), with 64-bit offsets and columns that ascend in every row.
  /// Takes the structure away: analyse() must come before the next compute().
  [[nodiscard]] DeviceCsr<Value> take_result();

  /// Bytes of work space of the last analyse(), beside C, all counted though some are let go.
  [[nodiscard]] std::uint64_t work_space() const { return work_space_; }

 private:
  [[nodiscard]] DeviceBuffer<char> work_buffer(std::size_t bytes);
  template <class Function, class... Rest>
  void call(Function function, Rest... rest) const;
  /// \return true when cuSPARSE has work to do
  [[nodiscard]] bool has_products() const { return a_.nnz() != 0 && b_.nnz() != 0; }

  const Context& context_;
  const DeviceCsr<Value>& a_;
  const DeviceCsr<Value>& b_;
  CusparseHandle handle_;
  DeviceBuffer<std::int32_t> a_row_ptr_;
  DeviceBuffer<std::int32_t> b_row_ptr_;
  DeviceBuffer<std::int32_t> c_row_ptr_;
  DeviceBuffer<std::uint32_t> c_col_idx_;
  DeviceBuffer<Value> c_values_;
  // The library keeps pointers to these from the structure to the values.
  DeviceBuffer<char> nnz_buffer_;
  DeviceBuffer<char> copy_buffer_;
  CusparseConstMatrix a_matrix_;
  CusparseConstMatrix b_matrix_;
  CusparseMatrix c_matrix_;
  CusparseDescriptor descriptor_;
  std::uint64_t work_space_ = 0;
};

}  // namespace sortie::spgemm::cuda
