#pragma once

#include "sortie/apps/spgemm/cuda/cusparse_arrays.hpp"
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
class CusparseProduct : public CusparseArrays<Value> {
 public:
  /// Starts cuSPARSE and narrows the row offsets of the operands. `a` and `b` must outlive this.
  /// \throws Error (unavailable) rows, columns or entries of an operand pass 2^31 - 1: cuSPARSE's
  ///         SpGEMM takes 32-bit indices only
  CusparseProduct(const Context& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b)
      : CusparseArrays<Value>(context, a, b) {}

  /// C = A * B, kept inside; may be called again.
  /// \param which  one of the cusparse_... algorithms but cusparse_reuse (CusparseReuse)
  /// \throws Error (out_of_memory) naming CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, or the bytes of
  ///         work space that pass the budget
  /// \throws Error (unavailable) the library lacks the algorithm for this type
  /// \throws Error (device)
  void multiply(Algorithm which);

 private:
  struct Call;

  void estimate(Call& call);
  [[nodiscard]] DeviceBuffer<char> compute(Call& call, Algorithm which);
};

}  // namespace sortie::spgemm::cuda
