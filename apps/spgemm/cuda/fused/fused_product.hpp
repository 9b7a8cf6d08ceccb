#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sortie/apps/spgemm/cuda/device_csr_view.hpp"
#include "sortie/apps/spgemm/cuda/fused/row_bins.hpp"
#include "sortie/apps/spgemm/cuda/product_chunks.hpp"
#include "sortie/core/context.hpp"
#include "sortie/core/error.hpp"

namespace sortie::spgemm::cuda {

/// True where FusedProduct can make C on the current device: C has at most 2^23 columns, A fewer
/// than 2^32 rows, and a block may have the shared memory that takes.
template <class Value>
[[nodiscard]] bool fits_fused_product(std::int64_t rows, std::int64_t columns);

/// What to throw where it cannot.
[[nodiscard]] Error too_large_for_fused_product(std::int64_t rows, std::int64_t columns);

/// C = A * B without the expanded matrix in device memory: rows are put into bins by their number
/// of products, and each row is made in registers and shared memory.
///
/// | products of a row | made by                                                                 |
/// |-------------------|-------------------------------------------------------------------------|
/// | up to 32          | as many lanes: one product each, sorted by column in registers          |
/// | up to 512         | a warp: sorted by column in registers, products in shared memory        |
/// | more              | a block: the columns as bits in shared memory, which give every column  |
/// |                   | its rank, and sums by rank; rows of more than 6144 entries in several   |
/// |                   | blocks, each with a window of columns                                   |
///
/// Neighbouring rows of more than 512 products that have the same columns of A, as the unknowns of
/// a point have them, are counted once.
///
/// Every entry of C is the sum of its products in an order that depends on A and B only. Used as
/// ChunkedProduct is; rows are made in chunks where C does not fit the memory budget.
///
/// Work space (n: products, rows: of A; all beside C):
///
/// | array                              | bytes                                   | lives        |
/// |------------------------------------|-----------------------------------------|--------------|
/// | products of rows, row_ptr          | 16 rows                                 | always       |
/// | rows by bins, places               | 8 rows                                  | chunk        |
/// | long rows' windows, tasks          | < n                                     | chunk        |
/// | images of long rows                | 2 of their products; less where less is | chunk        |
/// |                                    | left                                    |              |
/// | short rows before C is there       | 4 + V of their products, these rounded  | chunk        |
/// |                                    | up to 8 a row; none where it does not   |              |
/// |                                    | fit                                     |              |
template <class Value>
class FusedProduct {
 public:
  using Column = std::uint32_t;

  /// Counts the products. The arrays of `a` and `b` must outlive this.
  /// \pre fits_fused_product<Value>(a.rows, b.cols)
  /// \throws Error (out_of_memory, device)
  FusedProduct(const Context& context, const DeviceCsrView<Value>& a,
               const DeviceCsrView<Value>& b);

  /// Computes the next rows of C; nothing when all rows are done.
  /// \throws Error (out_of_memory) when a row alone does not fit the budget
  [[nodiscard]] std::optional<ProductChunk<Value, Column>> next();

  /// Offsets of C: rows + 1; complete after the last chunk.
  [[nodiscard]] DeviceBuffer<std::int64_t>& row_ptr() { return row_ptr_; }
  [[nodiscard]] std::int64_t nnz() const { return nnz_; }
  /// Rows of C that next() has handed out.
  [[nodiscard]] std::int64_t rows_done() const { return next_row_; }

 private:
  [[nodiscard]] std::int64_t rows_that_fit(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t bytes_left() const;
  [[nodiscard]] Error row_too_long(std::uint64_t bytes) const;
  /// The next rows of C, which are in `bins`; \param row_ptr takes their offsets from the first.
  ProductChunk<Value, Column> multiply_rows(std::int64_t rows, const RowBins& bins,
                                            std::int64_t* row_ptr);

  const Context& context_;
  DeviceCsrView<Value> a_;
  DeviceCsrView<Value> b_;
  std::uint64_t budget_ = 0;              ///< bytes
  std::uint64_t reserved_ = 0;            ///< bytes of the budget that live as long as this
  DeviceBuffer<std::uint64_t> products_;  ///< of each row first
  RowBins bins_;                          ///< of all rows, as long as one chunk may be enough
  DeviceBuffer<std::int64_t> row_ptr_;
  std::vector<std::uint64_t> products_on_host_;  ///< only where more than one chunk may be needed
  std::int64_t next_row_ = 0;
  std::int64_t nnz_ = 0;
};

}  // namespace sortie::spgemm::cuda
