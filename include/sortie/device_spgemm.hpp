// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sortie/context.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/export.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::spgemm::cuda {

/// C = A * B from device memory to device memory. All work is ordered on `stream`, which must be of
/// context.device; the call makes that device current while it runs. A and B must stay valid until
/// the product has finished. Only in builds with CUDA.
///
/// A and B are view() of a DeviceCsr, a DeviceCsrView of any arrays, or view() of a BorrowedCsr,
/// which accepts other index types and cuSPARSE descriptors.
///
/// C belongs to the caller. Columns ascend in every row. Its arrays are allocated from Sortie's
/// pool and freed in the order of `stream` when the DeviceCsr is destroyed, so C must be destroyed
/// before the stream. Work on another stream must wait for `stream` (cudaStreamWaitEvent) before it
/// reads C, and `stream` must wait for that work before C is destroyed. With the default stream,
/// the device must be current when C is destroyed.
///
/// The host waits for the stream to read the number of products once, and the number of entries of
/// C once per chunk of rows, but not for the entries: C may be incomplete when the call returns.
///
/// Allocation: the work space and C come from Sortie's pool. The first calls also allocate a few
/// bytes of page-locked memory, which are kept for reuse.
///
/// | algorithm    | selected by automatic     | approximate work space in addition to C           |
/// |--------------|---------------------------|---------------------------------------------------|
/// | pattern      | if most rows of A and of  | 28 bytes per row of A, 8 per row of B, and 2 per  |
/// |              | B repeat a few patterns   | product of one row of each class                  |
/// |              | of columns relative to    |                                                   |
/// |              | the row, as on grids, and |                                                   |
/// |              | there are 33 M products   |                                                   |
/// | fused        | otherwise, whenever it    | 32 bytes per row of A and 1 byte per product; if  |
/// |              | can compute C             | it fits, up to 2 bytes per product of rows with   |
/// |              |                           | more than 512 products, and 4 + sizeof(Value) per |
/// |              |                           | product of the other rows, rounded up to 8        |
/// |              |                           | products per row                                  |
/// | essc         | otherwise, and if one or  | 13 bytes per entry and 16 per row of A; twice the |
/// |              | two rows have a large part| keys and values of the products of a chunk        |
/// |              | of the work, or few rows  |                                                   |
/// |              | have any                  |                                                   |
///
/// Algorithms that the program has registered for CUDA are never selected by automatic.
/// All three compute C in chunks of rows if the work space does not fit the budget; pattern in chunks
/// of at least 2048 rows, without which automatic takes another. fused
/// computes a C of at most 2^23 columns and fewer than 2^32 rows, with 32-bit columns, on a GPU
/// with enough shared memory for a bitmap of the columns.
///
/// \param context    device; memory budget; progress; report (phases "analysis", "expansion",
///                   "sort", "compression" of essc; "analysis", "counting", "making" of pattern
///                   and fused)
/// \param algorithm  automatic, pattern, fused, essc, or a registered one that runs on CUDA
/// \param stream     a cudaStream_t; null is the default stream
/// \pre columns ascend in the rows of A and B
/// \throws Error (input)         a.cols != b.rows
/// \throws Error (unavailable)   no such CUDA device; any other algorithm; a product that fused
///                               cannot compute
/// \throws Error (out_of_memory) the products of one row do not fit the budget, or C does not fit
///                               the device
/// \throws Error (device)
/// Source: section 5.2 of Hou, Liu, Wang, Feng (ICS 2017) for essc. FusedProduct
/// (apps/spgemm/cuda/fused/fused_product.hpp) and PatternProduct
/// (apps/spgemm/cuda/patterns/pattern_product.hpp) describe how fused and pattern compute C.
template <class Value, class Column>
[[nodiscard]] SORTIE_API DeviceCsr<Value, Column> multiply_on_device(
    const Context& context, const DeviceCsrView<Value, Column>& a,
    const DeviceCsrView<Value, Column>& b, Algorithm algorithm, CUstream_st* stream);

/// The same with Algorithm::automatic.
template <class Value, class Column>
[[nodiscard]] SORTIE_API DeviceCsr<Value, Column> multiply_on_device(
    const Context& context, const DeviceCsrView<Value, Column>& a,
    const DeviceCsrView<Value, Column>& b, CUstream_st* stream);

}  // namespace sortie::spgemm::cuda
