// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sortie/context.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/export.hpp"
#include "sortie/semiring_spgemm.hpp"

namespace sortie::spgemm::cuda {

/// The structure of a matrix in device memory, with the conditions of DeviceCsrView.
struct DeviceStructure {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const std::int64_t* row_ptr = nullptr;   ///< rows + 1 offsets
  const std::uint32_t* col_idx = nullptr;  ///< nnz columns
};

/// The structure of a matrix.
template <class Value>
[[nodiscard]] DeviceStructure structure_of(const DeviceCsrView<Value>& matrix) {
  return {matrix.rows, matrix.cols, matrix.nnz, matrix.row_ptr, matrix.col_idx};
}

/// What C = A * B means, as ProductOptions.
struct DeviceProductOptions {
  Semiring semiring = Semiring::plus_times;
  const DeviceStructure* mask = nullptr;
  bool complement = false;
  RowFilter filter = {};
};

/// C = A * B with a mask, over a semiring, filtered, from device memory to device memory, for the
/// types of semiring_spgemm.hpp. Ordering, ownership and allocation are those of
/// multiply_on_device() (device_spgemm.hpp). The values are those of the host, bit by bit, unless C
/// is the plain product of floating-point numbers without mask, which multiply_on_device()
/// computes.
///
/// The host waits for the number of entries of C if there is a mask or a filter, and as
/// multiply_on_device() without mask or with its complement, for which it computes the structure.
///
/// \param context  device; memory budget; report: phases "structure", "values", "filter"
/// \pre columns ascend in the rows of A, B and the mask
/// \throws Error (input, usage) as multiply() of semiring_spgemm.hpp
/// \throws Error (unavailable) 2^32 columns, rows or entries of B, or more
/// \throws Error (out_of_memory, device)
/// Complexity: O(products), and O(nnz) for the filter, whose keep_top sorts the rows.
/// Extra memory: with a mask, a value and 2 bytes for each of its entries; 20 bytes for each row;
/// with a filter, at most 18 bytes for each entry of C before it, and what the sort takes. For
/// Float16 and BFloat16, 4 bytes for each entry of A, B and C: their values in float.
template <class Value>
[[nodiscard]] SORTIE_API DeviceCsr<Value> multiply_on_device(const Context& context,
                                                             const DeviceCsrView<Value>& a,
                                                             const DeviceCsrView<Value>& b,
                                                             const DeviceProductOptions& options,
                                                             CUstream_st* stream);

/// New values on an old structure, as multiply_values(). The host does not wait.
/// \param structure  of C
/// \param values     nnz of them on the device, which are overwritten
/// \throws Error as multiply_on_device()
/// Extra memory: 20 bytes for each row; for plus_pair, any_pair and or_and, at most 4 bytes for each
/// entry of C and 1 for each of A and B.
template <class Value>
SORTIE_API void multiply_values_on_device(const Context& context, const DeviceCsrView<Value>& a,
                                          const DeviceCsrView<Value>& b, Semiring semiring,
                                          const DeviceStructure& structure, Value* values,
                                          CUstream_st* stream);

}  // namespace sortie::spgemm::cuda
