// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/essc/analysis.hpp"
#include "apps/spgemm/cuda/essc/payload.hpp"
#include "sortie/device_csr.hpp"

namespace sortie::spgemm::cuda {

/// Consecutive rows of A whose products are processed together.
struct RowChunk {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t first_entry = 0;  ///< of A
  std::int64_t entries = 0;
  std::int64_t first_product = 0;
  std::int64_t products = 0;  ///< at most max_chunk_products
};

/// Product indices within a chunk have 32 bits: they are offsets of the segmented sort and payloads
/// of complex products.
inline constexpr std::int64_t max_chunk_products = 0xffffffff;

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
/// \param layout  holds the row for Key = std::uint64_t only
/// Complexity: O(entries + products). Extra memory: 8 bytes per 2048 entries or products, and 4
/// bytes per entry if keys hold rows.
/// Source: the expansion of Bell, Dalton, Olson (SISC 2012), section 3.1; balanced by the
/// merge-path search of Odeh, Green, Mwassi, Shmueli, Birk (IPDPSW 2012).
template <class Value, class Column, class Key>
void expand(const DeviceCsrView<Value, Column>& a, const DeviceCsrView<Value, Column>& b,
            const ProductCounts& counts, const RowChunk& chunk, KeyLayout layout,
            ExpandedProducts<Value, Key> out, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
