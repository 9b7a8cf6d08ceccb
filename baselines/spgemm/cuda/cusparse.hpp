// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "baselines/spgemm/cuda/cusparse_arrays.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_csr.hpp"

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
  /// \throws Error (out_of_memory) the message gives CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, or the
  ///         bytes of work space that exceed the budget
  /// \throws Error (unavailable) the library lacks the algorithm for this type
  /// \throws Error (device)
  void multiply(cusparseSpGEMMAlg_t algorithm);

 private:
  struct Call;

  void estimate(Call& call);
  [[nodiscard]] DeviceBuffer<char> compute(Call& call);
};

/// cuSPARSE SpGEMMreuse: computes the structure of C once (cusparseSpGEMMreuse_workEstimation, _nnz
/// and _copy), then the values any number of times (cusparseSpGEMMreuse_compute) from the current
/// values of A and B.
///
/// \tparam Value  float, double or std::complex<double>
template <class Value>
class CusparseReuse : public CusparseArrays<Value> {
 public:
  /// Creates a cuSPARSE handle and converts the row offsets of the operands to 32 bits. The
  /// context, and the arrays of `a` and `b`, must outlive this object.
  /// \throws Error (unavailable) rows, columns or entries of an operand exceed 2^31 - 1
  CusparseReuse(const DeviceContext& context, const DeviceCsrView<Value>& a,
                const DeviceCsrView<Value>& b)
      : CusparseArrays<Value>(context, a, b) {}

  /// Computes the structure of C = A * B and keeps it with the buffers for the values; may be
  /// called again. \throws Error (out_of_memory, unavailable, device) as
  /// CusparseProduct::multiply()
  void analyse();

  /// Computes the values of C. take_result() moves values and structure out; after it, call
  /// analyse() before the next compute(). \pre analyse() was called
  void compute();

 private:
  template <class Function, class... Rest>
  void call(Function function, Rest... rest) const;

  // Buffers and descriptors to which the library keeps pointers between analyse() and compute().
  DeviceBuffer<char> nnz_buffer_;
  DeviceBuffer<char> copy_buffer_;
  CusparseConstMatrix a_matrix_;
  CusparseConstMatrix b_matrix_;
  CusparseMatrix c_matrix_;
  CusparseDescriptor descriptor_;
};

}  // namespace sortie::spgemm::cuda
