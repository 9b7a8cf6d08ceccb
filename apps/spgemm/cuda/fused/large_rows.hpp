// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "apps/spgemm/cuda/fused/kernel_group.hpp"
#include "apps/spgemm/cuda/fused/large_row_task.hpp"
#include "apps/spgemm/cuda/fused/operands.hpp"
#include "apps/spgemm/cuda/fused/row_bins.hpp"

namespace sortie::spgemm::cuda {

/// Per-row data of large rows, indexed by number in the list of large rows. All arrays except the
/// bitmaps share one allocation.
struct LargeRows {
  DeviceBuffer<std::byte> storage;      ///< of the arrays below; empty if there are no large rows
  DeviceBuffer<std::uint32_t> bitmaps;  ///< row bitmaps; see row_bitmap.cuh
  LargeRowCounters* counters{};         ///< null if there are no large rows
  std::uint32_t* panel_bounds{};        ///< first column group of each panel
  std::uint32_t* counts{};              ///< entries of C of each counted row
  std::uint32_t* panel_starts{};        ///< entries before each panel; column_panels + 1 per row
  std::uint64_t* bitmap_at{};           ///< offset of each row's bitmap, or a special value
  PanelTask* tasks{};                   ///< one list per class
  std::uint32_t first_panel_row = 0;    ///< first row that has panel_starts
  std::array<std::uint32_t, task_classes.size()> capacity{};  ///< of each list
};

/// Largest dynamic shared memory per block on the current device, less 1 KiB for static arrays.
[[nodiscard]] std::size_t max_dynamic_shared_memory();

/// Largest dynamic shared memory per block of the kernels for a C with this many columns.
template <class Value>
[[nodiscard]] std::size_t large_row_shared_memory(std::int64_t columns);

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
void count_large_rows(const ProductOperands<Value>& operands, const RowBins& bins, LargeRows& rows,
                      std::int64_t* counts, KernelGroup& group);

/// Lists the tasks of counted rows.
/// \param counts  as for count_large_rows()
void list_panel_tasks(const RowBins& bins, LargeRows& rows, std::int64_t* counts,
                      cudaStream_t stream);

/// Writes the counters and the number of entries of C to host memory.
/// \param rows     may be empty; then all counters except `entries` are 0
/// \param entries  on the device
void publish_counters(const LargeRows& rows, const std::int64_t* entries, LargeRowCounters* mailbox,
                      cudaStream_t stream);

/// Computes the large rows and writes them from c.row_ptr[row] on.
/// \param found  counters of `rows`
template <class Value>
void make_large_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                     const LargeRows& rows, const LargeRowCounters& found,
                     const ProductRows<Value>& c, KernelGroup& group);

}  // namespace sortie::spgemm::cuda
