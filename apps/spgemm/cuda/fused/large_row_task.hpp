// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/spgemm/cuda/fused/policy.hpp"

namespace sortie::spgemm::cuda {

/// Most columns of C. The shared memory of the bitmap of a row grows with the number of columns.
inline constexpr std::int64_t max_fused_columns = std::int64_t{1} << 23;

/// Metadata bytes per product of large rows, bitmaps excluded.
inline constexpr std::int64_t large_row_bytes_per_product = 1;

/// Panels that the columns of C are divided into, each with about the same number of entries of B.
inline constexpr int column_panels = 64;

/// A large row of C, or a range of its column panels; computed by one thread block.
struct PanelTask {
  std::uint32_t row;  ///< number in the list of large rows
  std::uint16_t first_panel;
  std::uint16_t end_panel;
};

/// Results of the counting kernels that the host reads.
struct LargeRowCounters {
  unsigned long long bitmap_words;
  std::int64_t entries;                      ///< of C in all rows, small and medium rows included
  std::uint32_t tasks[task_classes.size()];  ///< of each class
};

}  // namespace sortie::spgemm::cuda
