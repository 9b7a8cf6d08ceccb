#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/cusparse_operands.hpp"
#include "sortie/apps/spgemm/cuda/device_csr.cuh"
#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/context.hpp"

namespace sortie::spgemm::cuda {

/// cuSPARSE's generic SpGEMM, cut in three so that a benchmark can time the library alone: the
/// constructor prepares operands as cuSPARSE wants them, multiply() is the library's work with all
/// its allocations, take_result() turns the result into ours.
///
/// \tparam Value  float, double or std::complex<double>
template <class Value>
class CusparseProduct {
 public:
  /// Starts cuSPARSE and narrows the row offsets of the operands. `a` and `b` must outlive this.
  /// \throws Error (unavailable) rows, columns or entries of an operand pass 2^31 - 1: the SpGEMM
  /// of
  ///         cuSPARSE takes 32-bit indices only
  CusparseProduct(const Context& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b);

  /// C = A * B, kept inside; may be called again.
  /// \param which  one of the cusparse_... algorithms but cusparse_reuse (CusparseReuse)
  /// \throws Error (out_of_memory) naming CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, or the bytes of
  ///         work space that pass the budget
  /// \throws Error (unavailable) the library lacks the algorithm for this type
  /// \throws Error (device)
  void multiply(Algorithm which);

  /// The result of the last multiply(), with 64-bit offsets and columns that ascend in every row
  /// (sorted by segmented sort where cuSPARSE left them in another order).
  [[nodiscard]] DeviceCsr<Value> take_result();

  /// Bytes of work space of the last multiply(), beside C.
  [[nodiscard]] std::uint64_t work_space() const { return work_space_; }

 private:
  struct Call;

  [[nodiscard]] DeviceBuffer<char> work_buffer(std::size_t bytes);
  void estimate(Call& call);
  [[nodiscard]] DeviceBuffer<char> compute(Call& call, Algorithm which);
  void copy_result(Call& call);

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
