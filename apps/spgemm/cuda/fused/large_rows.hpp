// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/spgemm/cuda/fused/kernel_group.hpp"
#include "apps/spgemm/cuda/fused/policy.hpp"
#include "apps/spgemm/cuda/fused/row_bins.hpp"

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

/// The list of large rows and arrays indexed by number in it, in device memory.
struct LargeRowArrays {
  std::uint32_t count = 0;          ///< of large rows
  std::uint32_t first_panel_row{};  ///< first row that has panel_starts
  const std::uint32_t* rows{};      ///< row of C of each listed row
  LargeRowCounters* counters{};     ///< null if there are no large rows
  std::uint32_t* panel_bounds{};    ///< first column group of each panel
  std::uint32_t* entries{};         ///< entries of C of each counted row
  std::uint32_t* panel_starts{};    ///< entries before each panel; column_panels + 1 per row
  std::uint64_t* bitmap_at{};       ///< offset of each row's bitmap, or a special value
  PanelTask* tasks{};               ///< one list per class, of `count` elements except for the last

  [[nodiscard]] constexpr std::uint32_t* starts_of(std::uint32_t row) const {
    return panel_starts + std::size_t{row - first_panel_row} * (column_panels + 1);
  }
};

/// Owns the arrays. All except the bitmaps share one allocation.
struct LargeRows : LargeRowArrays {
  DeviceBuffer<std::byte> storage;
  DeviceBuffer<std::uint32_t> bitmaps;  ///< row bitmaps; see row_bitmap.cuh
};

/// Largest dynamic shared memory per block on the current device, less 1 KiB for static arrays.
[[nodiscard]] std::size_t max_dynamic_shared_memory();

/// True if a block can have the shared memory of the kernels for a C with this many columns.
template <class Value>
[[nodiscard]] bool large_rows_fit(std::int64_t columns);

/// Bitmap words that suffice if rows of C have not much fewer entries than products, and their
/// columns are close together or C has up to about 100 000 columns. Rows without a bitmap take one
/// more pass over their products.
[[nodiscard]] constexpr std::int64_t bitmap_words_for(std::int64_t products) {
  return products / 2;
}

/// Allocates the arrays and divides the columns of B into panels. Launches nothing if there are no
/// large rows.
/// \param bitmap_words  capacity for row bitmaps
template <class Value>
[[nodiscard]] LargeRows plan_large_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                                        std::int64_t bitmap_words, cudaStream_t stream);

/// Counts the entries of C in large rows and writes counts[row], except for rows that share the
/// count of their predecessor: list_panel_tasks() writes those.
template <class Value>
void count_large_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                      const LargeRows& rows, std::int64_t* counts, KernelGroup& group);

/// Lists the tasks of counted rows.
/// \param counts  as for count_large_rows()
void list_panel_tasks(const LargeRows& rows, std::int64_t* counts, cudaStream_t stream);

/// Writes the counters and the number of entries of C to host memory.
/// \param rows     may be empty; then all counters except `entries` are 0
/// \param entries  on the device
void publish_counters(const LargeRows& rows, const std::int64_t* entries, LargeRowCounters* mailbox,
                      cudaStream_t stream);

/// Computes the large rows and writes them from c.row_ptr[row] on.
/// \param found  counters of `rows`
template <class Value>
void make_large_rows(const ProductOperands<Value>& operands, const LargeRows& rows,
                     const LargeRowCounters& found, const ProductRows<Value>& c,
                     KernelGroup& group);

}  // namespace sortie::spgemm::cuda
