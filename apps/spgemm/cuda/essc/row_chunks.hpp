// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

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

/// Largest number of rows from first_row on, at most max_rows, that have at most max_products
/// products in total; 0 if the first row has more.
///
/// \param row_offsets  first product of each row; rows + 1 ascending offsets
[[nodiscard]] inline std::int64_t rows_that_fit(std::span<const std::int64_t> row_offsets,
                                                std::int64_t first_row, std::int64_t max_products,
                                                std::int64_t max_rows) {
  const auto begin = row_offsets.begin() + first_row;
  // Differences are compared, since first + limit could overflow for a limit of 2^63 - 1.
  const auto beyond = std::upper_bound(
      begin, row_offsets.end(), max_products,
      [first = *begin](std::int64_t limit, std::int64_t offset) { return limit < offset - first; });
  return std::min<std::int64_t>(beyond - begin - 1, max_rows);
}

}  // namespace sortie::spgemm::cuda
