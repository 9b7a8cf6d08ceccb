#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/analysis.hpp"
#include "sortie/apps/spgemm/cuda/device_csr_view.hpp"
#include "sortie/apps/spgemm/cuda/payload.hpp"

namespace sortie::spgemm::cuda {

/// Consecutive rows of A whose products are handled together.
struct RowChunk {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t first_entry = 0;  ///< of A
  std::int64_t entries = 0;
  std::int64_t first_product = 0;
  std::int64_t products = 0;  ///< at most max_chunk_products
};

/// Numbers of products within a chunk have 32 bits: they are offsets of the segmented sort and
/// payloads of complex products.
inline constexpr std::int64_t max_chunk_products = 0xffffffff;

/// Where the expansion writes: one key and one payload for each product of the chunk, row by row.
template <class Value, class Key>
struct ExpandedProducts {
  Key* keys = nullptr;
  PayloadType<Value>* payloads = nullptr;
  Value* products = nullptr;  ///< only where the payload is the number of the product
};

/// Bytes of work space that expand() takes for each product and each entry of A, rounded up.
inline constexpr std::int64_t expansion_bytes_per_entry = 5;

/// Writes all products of a chunk, balanced over the threads whatever the lengths of rows are.
///
/// \param layout  holds the row for Key = std::uint64_t only
/// Complexity: O(entries + products). Extra memory: 8 bytes for each 2048 entries or products, and
/// 4 bytes an entry when the keys hold rows.
/// Source: the expansion of Bell, Dalton, Olson (SISC 2012), section 3.1; balanced by the
/// merge-path search of Odeh, Green, Mwassi, Shmueli, Birk (IPDPSW 2012).
template <class Value, class Column, class Key>
void expand(const DeviceCsrView<Value, Column>& a, const DeviceCsrView<Value, Column>& b,
            const ProductCounts& counts, const RowChunk& chunk, KeyLayout layout,
            ExpandedProducts<Value, Key> out, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
