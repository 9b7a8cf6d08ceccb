// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/fused/large_rows.hpp"
#include "apps/spgemm/cuda/fused/operands.hpp"
#include "apps/spgemm/cuda/fused/row_bins.hpp"
#include "apps/spgemm/cuda/fused/sorted_rows.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/error.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie::spgemm::cuda {

/// True if FusedProduct can compute C on the current device: C has at most 2^23 columns, A has
/// fewer than 2^32 rows, and a block can have the shared memory of the kernels.
template <class Value>
[[nodiscard]] bool fits_fused_product(std::int64_t rows, std::int64_t columns);

/// The error to throw if fits_fused_product() is false.
[[nodiscard]] Error too_large_for_fused_product(std::int64_t rows, std::int64_t columns);

/// Bytes of the fused product per row of A, in addition to C. For its whole lifetime: number of
/// products, offset in C. For a chunk: list of rows, staging slots, offsets of the chunk.
inline constexpr std::uint64_t fused_bytes_per_row = sizeof(std::uint64_t) + sizeof(std::int64_t);
inline constexpr std::uint64_t fused_bytes_per_row_of_chunk =
    2 * sizeof(std::uint32_t) + sizeof(std::int64_t);

/// Bytes of an entry of C: column and value.
template <class Value>
inline constexpr std::uint64_t entry_bytes = sizeof(std::uint32_t) + sizeof(Value);

/// Upper bound of the bytes that rows take, including their entries of C and excluding the optional
/// row bitmaps and StagedRows.
template <class Value>
[[nodiscard]] constexpr std::uint64_t max_bytes_of_rows(std::int64_t rows, const RowBins& bins) {
  return static_cast<std::uint64_t>(rows) * fused_bytes_per_row_of_chunk +
         static_cast<std::uint64_t>(bins.products) *
             (entry_bytes<Value> + large_row_bytes_per_product);
}

/// Rows whose entries are counted. Large rows can be recomputed any number of times.
struct CountedRows {
  LargeRows large;
  LargeRowCounters found{};
  std::int64_t entries = 0;  ///< of C in all these rows
};

/// Counts the entries of C in rows from the structure of A and B. The host waits for the counts.
/// \param bitmap_words  capacity for bitmaps of large rows; see bitmap_words_for()
/// \param row_ptr       rows + 1, as written by find_row_bins(); receives the offsets of the rows
///                      from the first row
/// \param staged        receives the small and medium rows, which are then already computed; may be
///                      null
/// \throws Error (out_of_memory, device)
/// Extra memory: that of LargeRows.
template <class Value>
[[nodiscard]] CountedRows count_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                                     std::int64_t rows, std::int64_t bitmap_words,
                                     std::int64_t* row_ptr, StagedRows<Value>* staged,
                                     cudaStream_t stream);

/// Computes columns and values of counted rows. Only launches kernels: no allocation, no host
/// synchronisation.
/// \param operands  of the counted structure; values may differ if `staged` is null
/// \param staged    as passed to count_rows(); if null, all rows are computed here
/// \throws Error (device)
template <class Value>
void make_rows(const ProductOperands<Value>& operands, const RowBins& bins,
               const CountedRows& counted, const StagedRows<Value>* staged,
               const ProductRows<Value>& c, cudaStream_t stream);

/// C = A * B without the expanded matrix in device memory. Rows are sorted into bins by their
/// number of products, and each row is computed in registers and shared memory. Models Product.
///
/// | products of a row | computed by                                                            |
/// |-------------------|------------------------------------------------------------------------|
/// | up to 32 (small)  | 8, 16 or 32 lanes: one product each, sorted by column in registers     |
/// | up to 512         | a warp: columns sorted in registers, products in shared memory         |
/// | (medium)          |                                                                        |
/// | more (large)      | a block: a bitmap of the columns in shared memory gives each column    |
/// |                   | its rank; sums are indexed by rank. Rows of more than 6144 entries are |
/// |                   | split into column panels, computed by several blocks                   |
///
/// Consecutive large rows with the same columns of A, as for several unknowns per grid point, are
/// counted once.
///
/// Every entry of C is the sum of its products in an order that depends on A and B only. Used like
/// ChunkedProduct; C is computed in chunks of rows if it does not fit the memory budget.
///
/// Work space in addition to C (n: products, rows: of A or of the chunk, V: bytes per value):
///
/// | array                                   | bytes                              | lifetime |
/// |-----------------------------------------|------------------------------------|----------|
/// | products of rows, row_ptr               | 16 rows of A                       | product  |
/// | rows by bin, staging slots, offsets     | 16 rows                            | chunk    |
/// | panels and tasks of large rows          | < n                                | chunk    |
/// | bitmaps of large rows (opt.)            | <= 2 per product of these rows     | chunk    |
/// | staging of small, medium rows (opt.)    | 4 + V per product of these rows,   | chunk    |
/// |                                         | rounded up to 8 products per row   |          |
///
/// Each optional (opt.) array takes at most half of the memory that C and the other arrays leave.
/// Bitmaps may be smaller than given above; staging is all or nothing.
template <class Value>
class FusedProduct {
 public:
  using Column = std::uint32_t;
  using Entries = DeviceEntries<Value, Column>;

  /// Counts the products. The arrays of `a` and `b` must outlive this object.
  /// \pre fits_fused_product<Value>(a.rows, b.cols)
  /// \throws Error (out_of_memory, device)
  FusedProduct(const DeviceContext& context, const DeviceCsrView<Value>& a,
               const DeviceCsrView<Value>& b);

  /// Computes the next rows of C. Returns no value when all rows are done.
  /// \throws Error (out_of_memory) a single row does not fit the budget
  [[nodiscard]] std::optional<Entries> next();

  /// Offsets of C, rows + 1 elements; complete after the last chunk.
  [[nodiscard]] DeviceBuffer<std::int64_t>& row_ptr() { return row_ptr_; }
  /// Rows of C that next() has returned.
  [[nodiscard]] std::int64_t rows_done() const { return next_row_; }

  /// Predicts the memory by the table above. The device of the context must be current.
  [[nodiscard]] static WorkSpace work_space(const HostContext& context, const ProductSize& size);

 private:
  [[nodiscard]] std::int64_t rows_that_fit(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t bytes_left() const;
  [[nodiscard]] Error row_too_long(std::uint64_t bytes) const;
  /// Computes the next rows of C, which are in `bins`.
  /// \param row_ptr  receives their offsets from the first of these rows
  Entries multiply_rows(std::int64_t rows, const RowBins& bins, std::int64_t* row_ptr);

  const DeviceContext& context_;
  DeviceCsrView<Value> a_;
  DeviceCsrView<Value> b_;
  std::uint64_t budget_ = 0;    ///< bytes
  std::uint64_t reserved_ = 0;  ///< bytes of the budget for arrays that live as long as this object
  DeviceBuffer<std::uint64_t> products_;  ///< of each row; scratch behind them
  RowBins bins_;                          ///< of all rows, until more than one chunk is needed
  DeviceBuffer<std::int64_t> row_ptr_;
  std::vector<std::uint64_t> products_on_host_;  ///< only if more than one chunk may be needed
  std::int64_t next_row_ = 0;
  std::int64_t nnz_ = 0;
};

}  // namespace sortie::spgemm::cuda
