// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/cuda/device_context.hpp"
#include "sortie/device_csr.hpp"

namespace sortie::spgemm::cuda {

/// CUSP's product (expansion, sorting and compression with Thrust) in three steps like
/// CusparseProduct: the constructor copies operands to CUSP matrices, multiply() is the library's
/// work with all its allocations, take_result() converts the result. Only in builds with CUSP.
///
/// CUSP uses the default stream and allocates with cudaMalloc, so its work space is not part of the
/// peak of the memory pool.
/// \tparam Value  float or double
template <class Value>
class CuspProduct {
 public:
  /// \throws Error (unavailable) rows, columns or entries of an operand exceed 2^31 - 1
  CuspProduct(const DeviceContext& context, const DeviceCsrView<Value>& a,
              const DeviceCsrView<Value>& b);
  ~CuspProduct();
  CuspProduct(const CuspProduct&) = delete;
  CuspProduct& operator=(const CuspProduct&) = delete;

  /// C = A * B, kept in this object; may be called again. Synchronises the device.
  /// \throws Error (out_of_memory, device)
  void multiply();

  /// The result of the last multiply(), with 64-bit offsets and columns ascending in every row.
  [[nodiscard]] DeviceCsr<Value> take_result();

 private:
  struct Matrices;  ///< CUSP's types; only nvcc compiles its headers

  const DeviceContext& context_;
  std::unique_ptr<Matrices> matrices_;
};

}  // namespace sortie::spgemm::cuda
