#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace sortie::spgemm::cuda {

/// Rows from first_row on that can be handled together: the most whose products number at most
/// max_products; 0 when not even the first row fits.
///
/// \param row_offsets  first product of each row; rows + 1 ascending offsets
[[nodiscard]] inline std::int64_t rows_that_fit(std::span<const std::int64_t> row_offsets,
                                                std::int64_t first_row, std::int64_t max_products,
                                                std::int64_t max_rows) {
  const auto begin = row_offsets.begin() + first_row;
  // Compared as lengths, since a limit of 2^63 - 1 must not overflow.
  const auto beyond = std::upper_bound(
      begin, row_offsets.end(), max_products,
      [first = *begin](std::int64_t limit, std::int64_t offset) { return limit < offset - first; });
  return std::min<std::int64_t>(beyond - begin - 1, max_rows);
}

}  // namespace sortie::spgemm::cuda
