// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/spgemm/cuda/baselines/cusparse_arrays.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::spgemm::cuda {

/// cuSPARSE generic SpGEMM in three steps, so that a benchmark can time the library alone: the
/// constructor prepares the operands, multiply() is the library's work with all its allocations,
/// take_result() converts the result.
///
/// \tparam Value  float, double or std::complex<double>
template <class Value>
class CusparseProduct : public CusparseArrays<Value> {
 public:
  /// Creates a cuSPARSE handle and converts the row offsets of the operands to 32 bits. The
  /// context, and the arrays of `a` and `b`, must outlive this object.
  /// \throws Error (unavailable) rows, columns or entries of an operand exceed 2^31 - 1: cuSPARSE
  ///         SpGEMM supports 32-bit indices only
  CusparseProduct(const DeviceContext& context, const DeviceCsrView<Value>& a,
                  const DeviceCsrView<Value>& b)
      : CusparseArrays<Value>(context, a, b) {}

  /// C = A * B, kept in this object; may be called again.
  /// \param which  one of the cusparse_... algorithms except cusparse_reuse (CusparseReuse)
  /// \throws Error (out_of_memory) the message gives CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, or the
  ///         bytes of work space that exceed the budget
  /// \throws Error (unavailable) the library lacks the algorithm for this type
  /// \throws Error (device)
  void multiply(Algorithm which);

 private:
  struct Call;

  void estimate(Call& call);
  [[nodiscard]] DeviceBuffer<char> compute(Call& call, Algorithm which);
};

}  // namespace sortie::spgemm::cuda
