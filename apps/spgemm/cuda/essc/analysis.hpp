// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "sortie/device_csr.hpp"

namespace sortie::spgemm::cuda {

/// Positions of the products of A * B in the expanded order: entry by entry of A.
struct ProductCounts {
  /// First product of each entry of A; nnz(A) + 1 offsets, the last is `total`.
  DeviceBuffer<std::int64_t> entry_offsets;
  std::int64_t total = 0;
};

/// Counts the products of every entry (i, k) of A: the length of row k of B.
/// Synchronises the stream. Complexity: O(nnz(A)).
template <class Value, class Column>
[[nodiscard]] ProductCounts count_entry_products(const DeviceCsrView<Value, Column>& a,
                                                 const DeviceCsrView<Value, Column>& b,
                                                 cudaStream_t stream);

/// First product of each row: rows + 1 offsets, on the host. Synchronises the stream.
/// \param a_row_ptr  offsets of A, on the device
[[nodiscard]] std::vector<std::int64_t> row_offsets_on_host(const std::int64_t* a_row_ptr,
                                                            std::int64_t rows,
                                                            const ProductCounts& counts,
                                                            cudaStream_t stream);

/// First product of the rows first_row .. first_row + rows, relative to `first_product`: rows + 1
/// offsets on the device.
[[nodiscard]] DeviceBuffer<std::uint32_t> chunk_row_offsets(
    const std::int64_t* a_row_ptr, const ProductCounts& counts, std::int64_t first_row,
    std::int64_t rows, std::int64_t first_product, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
