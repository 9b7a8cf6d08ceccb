// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>

#include "core/cuda/device_context.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/spgemm.hpp"

/// The algorithms behind multiply_on_device(), one function each. They run on the context's stream;
/// its device must be current (DeviceCall). multiply_on_device() has checked the shapes and
/// documents errors, phases, synchronisation and the lifetime of C.
/// Memory: see ChunkedProduct and FusedProduct.
namespace sortie::spgemm::cuda {

/// Expansion, segmented sort of the rows, compression.
/// Source: Hou, Liu, Wang, Feng (ICS 2017), section 5.2.
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> essc_on_device(const DeviceContext& context,
                                                      const DeviceCsrView<Value, Column>& a,
                                                      const DeviceCsrView<Value, Column>& b);

/// Each row in registers and shared memory; see FusedProduct.
/// \throws Error (unavailable) too many columns, or 64-bit columns
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> fused_on_device(const DeviceContext& context,
                                                       const DeviceCsrView<Value, Column>& a,
                                                       const DeviceCsrView<Value, Column>& b);

/// fused_on_device() if it can compute C, otherwise essc_on_device().
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> automatic_on_device(const DeviceContext& context,
                                                           const DeviceCsrView<Value, Column>& a,
                                                           const DeviceCsrView<Value, Column>& b);

/// Expansion, one radix sort of all products by (row, column), compression.
/// Source: Bell, Dalton, Olson: Exposing Fine-Grained Parallelism in Algebraic Multigrid Methods
/// (SISC 2012), section 3.1; the sort of packed keys is CUB's.
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> esc_on_device(const DeviceContext& context,
                                                     const DeviceCsrView<Value, Column>& a,
                                                     const DeviceCsrView<Value, Column>& b);

/// cuSPARSE; CusparseProduct allows timing the library alone.
/// \param which  one of the cusparse_... algorithms
/// \throws Error (unavailable) a size exceeds 2^31 - 1, or 64-bit columns
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> cusparse_on_device(const DeviceContext& context,
                                                          const DeviceCsrView<Value, Column>& a,
                                                          const DeviceCsrView<Value, Column>& b,
                                                          Algorithm which);

}  // namespace sortie::spgemm::cuda

/// Calls `INSTANTIATE(Value, Column)` for every pair of types of the device functions.
#define SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(INSTANTIATE) \
  INSTANTIATE(float, std::uint32_t)                     \
  INSTANTIATE(float, std::uint64_t)                     \
  INSTANTIATE(double, std::uint32_t)                    \
  INSTANTIATE(double, std::uint64_t)                    \
  INSTANTIATE(std::complex<double>, std::uint32_t)      \
  INSTANTIATE(std::complex<double>, std::uint64_t)
