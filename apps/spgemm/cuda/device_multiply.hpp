#pragma once

#include "sortie/apps/spgemm/cuda/device_csr_view.hpp"
#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/context.hpp"

namespace sortie::spgemm::cuda {

/// C = A * B from device memory to device memory, on the context's stream; the context's device
/// must be current (see DeviceScope). Instantiated for float, double and std::complex<double>, and
/// for 32- and 64-bit columns.
///
/// A and B belong to the caller: view() of a DeviceCsr, a DeviceCsrView of any arrays, or what
/// BorrowedCsr makes of offsets and columns of other types and of cuSPARSE's descriptors. What is
/// in the stream before comes before; A and B must stay in place until the stream has come past the
/// product.
///
/// C belongs to the caller, too. Its arrays are from the stream-ordered allocator and are freed, in
/// order of the context's stream, when the DeviceCsr ends; so it must end before its stream does,
/// and work on another stream must wait for that one (cudaStreamWaitEvent) before it reads C, and
/// be over, or waited for in that one, before C ends.
///
/// Columns ascend in every row of C. The functions wait for the stream where sizes must be known on
/// the host, but C may still be in the making when they return.
///
/// \param context  device, stream, memory budget, report (phases "analysis", "expansion", "sort",
///                 "compression"; of fused "analysis", "counting", "making")
/// \pre a.cols == b.rows, and columns ascend in the rows of A and B
/// \throws Error (out_of_memory) the products of one row do not fit the budget, or C the device
/// \throws Error (device)
/// Memory: see the tables at ChunkedProduct and FusedProduct.

/// By expansion, segmented sort of the rows, and compression.
/// Source: Hou, Liu, Wang, Feng (ICS 2017), section 5.2.
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> essc_on_device(const Context& context,
                                                      const DeviceCsrView<Value, Column>& a,
                                                      const DeviceCsrView<Value, Column>& b);

/// With every row in registers and shared memory; see FusedProduct.
/// \throws Error (unavailable) more columns than that can hold, or 64-bit ones
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> fused_on_device(const Context& context,
                                                       const DeviceCsrView<Value, Column>& a,
                                                       const DeviceCsrView<Value, Column>& b);

/// By fused_on_device() where that can make C, else by essc_on_device().
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> automatic_on_device(const Context& context,
                                                           const DeviceCsrView<Value, Column>& a,
                                                           const DeviceCsrView<Value, Column>& b);

/// By expansion, one radix sort of all products by (row, column), and compression.
/// Source: Bell, Dalton, Olson: Exposing Fine-Grained Parallelism in Algebraic Multigrid Methods
/// (SISC 2012), section 3.1; the sort by packed keys is CUB's.
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> esc_on_device(const Context& context,
                                                     const DeviceCsrView<Value, Column>& a,
                                                     const DeviceCsrView<Value, Column>& b);

/// By cuSPARSE; see CusparseProduct for a way to time the library alone.
/// \param which  one of the cusparse_... algorithms
/// \throws Error (unavailable) a size passes 2^31 - 1, which cuSPARSE's SpGEMM cannot count
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> cusparse_on_device(const Context& context,
                                                          const DeviceCsr<Value, Column>& a,
                                                          const DeviceCsr<Value, Column>& b,
                                                          Algorithm which);

/// One of the above, of matrices that Sortie holds.
/// \param algorithm  automatic, fused, essc, esc or one of the cusparse_... algorithms
/// \throws Error (unavailable) any other algorithm
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> multiply_on_device(const Context& context,
                                                          const DeviceCsr<Value, Column>& a,
                                                          const DeviceCsr<Value, Column>& b,
                                                          Algorithm algorithm);

}  // namespace sortie::spgemm::cuda

/// Calls `INSTANTIATE(Value, Column)` for every pair of types of the device functions.
#define SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(INSTANTIATE) \
  INSTANTIATE(float, std::uint32_t)                     \
  INSTANTIATE(float, std::uint64_t)                     \
  INSTANTIATE(double, std::uint32_t)                    \
  INSTANTIATE(double, std::uint64_t)                    \
  INSTANTIATE(std::complex<double>, std::uint32_t)      \
  INSTANTIATE(std::complex<double>, std::uint64_t)
