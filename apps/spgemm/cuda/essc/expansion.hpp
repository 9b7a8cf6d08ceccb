// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/essc/payload.hpp"
#include "apps/spgemm/cuda/essc/row_chunks.hpp"
#include "sortie/device_csr.hpp"

/// The products of A * B in device memory, in expanded order: entry by entry of A.
namespace sortie::spgemm::cuda {

/// First product of each entry (i, k) of A, which has as many as row k of B has entries; nnz(A) + 1
/// offsets, the last is the number of all products.
/// Complexity: O(nnz(A)).
template <class Column>
[[nodiscard]] DeviceBuffer<std::int64_t> entry_offsets(const Column* a_col_idx, std::int64_t nnz_a,
                                                       const std::int64_t* b_row_ptr,
                                                       cudaStream_t stream);

/// First product of each of `rows` rows, relative to `first_product`: rows + 1 offsets.
/// \param row_ptr        offsets of these rows of A, on the device
/// \param entry_offsets  of entry_offsets()
template <class Offset>
[[nodiscard]] DeviceBuffer<Offset> row_offsets(const std::int64_t* row_ptr, std::int64_t rows,
                                               const std::int64_t* entry_offsets,
                                               std::int64_t first_product, cudaStream_t stream);

/// Destination of the expansion: one key and one payload per product of the chunk, row by row.
template <class Value, class Key>
struct ExpandedProducts {
  Key* keys = nullptr;
  PayloadType<Value>* payloads = nullptr;
  Value* products = nullptr;  ///< only if the payload is the index of the product
};

/// Upper bound of the work space of expand() in bytes per product and per entry of A.
inline constexpr std::int64_t expansion_bytes_per_entry = 5;

/// Writes all products of a chunk. The work is balanced over threads for any row lengths.
///
/// \param entry_offsets  of entry_offsets()
/// \param layout         holds the row for Key = std::uint64_t only
/// Complexity: O(entries + products). Extra memory: 8 bytes per 2048 entries or products, and 4
/// bytes per entry if keys hold rows.
/// Source: the expansion of Bell, Dalton, Olson (SISC 2012), section 3.1; balanced by the
/// merge-path search of Odeh, Green, Mwassi, Shmueli, Birk (IPDPSW 2012).
template <class Value, class Column, class Key>
void expand(const DeviceCsrView<Value, Column>& a, const DeviceCsrView<Value, Column>& b,
            const std::int64_t* entry_offsets, const RowChunk& chunk, KeyLayout layout,
            const ExpandedProducts<Value, Key>& out, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
