// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "apps/spgemm/cuda/fused/kernel_group.hpp"
#include "apps/spgemm/cuda/fused/policy.hpp"
#include "sortie/device_csr.hpp"

/// The kernels of the fused product: rows in bins, small and medium rows, large rows.
namespace sortie::spgemm::cuda {

/// Consecutive rows of A, and all of B.
template <class Value>
struct ProductOperands {
  DeviceCsrView<Value> a;  ///< row_ptr from the first of the rows on
  DeviceCsrView<Value> b;
  /// Columns of the sampled entries (policy.hpp); null: those of `b`
  const std::uint32_t* samples = nullptr;
  std::int64_t sample_count = 0;
};

/// Destination of the corresponding rows of C; row_ptr is already computed.
template <class Value>
struct ProductRows {
  const std::int64_t* row_ptr;
  std::uint32_t* col_idx;
  Value* values;
};

// --- Rows in bins --------------------------------------------------------------------------------

/// Rows of C = A * B by number of products, in the bins of policy.hpp.
struct RowBins {
  static constexpr int count = static_cast<int>(row_bins.size());

  /// The rows of bin 1, then those of bin 2, and so on. Rows of bin 0 are not listed.
  DeviceBuffer<std::uint32_t> rows;
  std::array<std::uint32_t, count + 1> begin{};  ///< first element of each bin in `rows`
  std::int64_t products = 0;
  std::int64_t large_row_products = 0;
  /// First staging slot of every small and medium row; no_slot for other rows.
  DeviceBuffer<std::uint32_t> slots;
  std::int64_t staged_entries = 0;  ///< entries of all staging slots

  [[nodiscard]] std::uint32_t size(int bin) const { return begin[bin + 1] - begin[bin]; }
  /// The rows of a bin and, behind them, those of the next bins.
  [[nodiscard]] const std::uint32_t* list(int bin) const { return rows.data() + begin[bin]; }
  [[nodiscard]] std::uint32_t large_rows() const { return begin[count] - begin[first_large_bin]; }
};

/// Counts the products of every row of A * B and sorts the rows into bins. The host waits for the
/// sizes of the bins, not for the lists.
/// \param products   receives the number of products of each row; the elements behind the rows are
///                   scratch
/// \param counts     rows + 1; the elements of empty rows and the last element are set to 0
/// \param meanwhile  called on the host while the device counts
/// \pre rows < 2^32
/// Complexity: O(nnz(A) + rows) for any distribution of the entries over the rows. Extra memory:
/// only the result.
template <class Value>
[[nodiscard]] RowBins find_row_bins(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                                    DeviceBuffer<std::uint64_t>& products, std::int64_t* counts,
                                    cudaStream_t stream,
                                    const std::function<void()>& meanwhile = {});

/// The same for consecutive rows with known numbers of products, numbered from the first of them.
[[nodiscard]] RowBins find_row_bins(const std::uint64_t* products, std::int64_t rows,
                                    std::int64_t* counts, cudaStream_t stream);

// --- Small and medium rows -----------------------------------------------------------------------

/// Destination of small and medium rows: counts only, or columns and values in C, or in staging
/// slots (policy.hpp) if row_ptr of C is not known yet.
template <class Value>
struct RowsOut {
  std::int64_t* counts = nullptr;         ///< entries of each row of C, or null
  const std::int64_t* row_ptr = nullptr;  ///< of C, or null
  const std::uint32_t* slots = nullptr;   ///< first staging slot of each row, if row_ptr is null
  std::uint32_t* col_idx = nullptr;
  Value* values = nullptr;

  [[nodiscard]] constexpr std::int64_t first_entry(std::uint32_t row) const {
    return row_ptr != nullptr ? row_ptr[row] : std::int64_t{slots[row]} * entries_per_slot;
  }
};

/// Computes the small and medium rows.
/// \tparam WithValues  compute columns and values; otherwise only count the entries
template <bool WithValues, class Value>
void compute_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                         const RowsOut<Value>& out, KernelGroup& group);

/// Copies staged rows to C, from c.row_ptr[row] on.
template <class Value>
void copy_sorted_rows(const RowBins& bins, const std::uint32_t* columns, const Value* values,
                      const ProductRows<Value>& c, KernelGroup& group);

// --- Large rows ----------------------------------------------------------------------------------

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
  std::uint32_t count = 0;
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
void list_panel_tasks(const LargeRows& rows, std::int64_t* counts, cudaStream_t stream);

/// Writes the counters and the number of entries of C, which is on the device, to host memory.
void publish_counters(const LargeRows& rows, const std::int64_t* entries, LargeRowCounters* mailbox,
                      cudaStream_t stream);

/// Computes the large rows and writes them from c.row_ptr[row] on.
/// \param found  counters of `rows`
template <class Value>
void make_large_rows(const ProductOperands<Value>& operands, const LargeRows& rows,
                     const LargeRowCounters& found, const ProductRows<Value>& c,
                     KernelGroup& group);

}  // namespace sortie::spgemm::cuda
