#pragma once

#include "sortie/apps/spgemm/cuda/cusparse_arrays.hpp"
#include "sortie/apps/spgemm/cuda/device_csr.cuh"
#include "sortie/core/context.hpp"

namespace sortie::spgemm::cuda {

/// cuSPARSE's SpGEMM that finds the structure of C once (cusparseSpGEMMreuse_workEstimation, _nnz
/// and _copy) and then computes values as often as wanted (cusparseSpGEMMreuse_compute), each time
/// with the values that A and B have by then.
///
/// \tparam Value  float, double or std::complex<double>
template <class Value>
class CusparseReuse : public CusparseArrays<Value> {
 public:
  /// Starts cuSPARSE and narrows the row offsets of the operands. `a` and `b` must outlive this.
  /// \throws Error (unavailable) rows, columns or entries of an operand pass 2^31 - 1
  CusparseReuse(const Context& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b)
      : CusparseArrays<Value>(context, a, b) {}

  /// The structure of C = A * B, kept inside with what computing the values needs; may be called
  /// again. \throws Error (out_of_memory, unavailable, device) as CusparseProduct::multiply()
  void analyse();

  /// The values of C, which take_result() gives and takes away with the structure: then analyse()
  /// must come before the next compute(). \pre analyse() was called
  void compute();

 private:
  template <class Function, class... Rest>
  void call(Function function, Rest... rest) const;

  // The library keeps pointers to these from the structure to the values.
  DeviceBuffer<char> nnz_buffer_;
  DeviceBuffer<char> copy_buffer_;
  CusparseConstMatrix a_matrix_;
  CusparseConstMatrix b_matrix_;
  CusparseMatrix c_matrix_;
  CusparseDescriptor descriptor_;
};

}  // namespace sortie::spgemm::cuda
