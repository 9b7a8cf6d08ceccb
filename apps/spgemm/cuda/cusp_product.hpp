#pragma once

#include <memory>

#include "sortie/apps/spgemm/cuda/device_csr.cuh"
#include "sortie/core/context.hpp"

namespace sortie::spgemm::cuda {

/// The product of CUSP (expansion, sorting, compression by Thrust), cut in three as
/// CusparseProduct: the constructor copies operands into CUSP's matrices, multiply() is the
/// library's work with all its allocations, take_result() turns the result into ours. Only in
/// builds that found CUSP.
///
/// CUSP works on the default stream, and takes memory by cudaMalloc, not from the stream-ordered
/// pool: the pool's peak does not tell its work space.
/// \tparam Value  float or double
template <class Value>
class CuspProduct {
 public:
  /// \throws Error (unavailable) rows, columns or entries of an operand pass 2^31 - 1
  CuspProduct(const Context& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b);
  ~CuspProduct();
  CuspProduct(const CuspProduct&) = delete;
  CuspProduct& operator=(const CuspProduct&) = delete;

  /// C = A * B, kept inside; may be called again. Waits for the device.
  /// \throws Error (out_of_memory, device)
  void multiply();

  /// The result of the last multiply(), with 64-bit offsets and columns that ascend in every row.
  [[nodiscard]] DeviceCsr<Value> take_result();

 private:
  struct Matrices;  ///< CUSP's, whose headers only nvcc reads

  const Context& context_;
  std::unique_ptr<Matrices> matrices_;
};

}  // namespace sortie::spgemm::cuda
