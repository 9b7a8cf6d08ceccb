// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/fused/row_kernels.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/error.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie::spgemm::cuda {

/// True if FusedProduct can compute C on the current device.
template <class Value>
[[nodiscard]] bool fits_fused_product(std::int64_t rows, std::int64_t columns) {
  return columns <= max_fused_columns && rows <= std::numeric_limits<std::uint32_t>::max() &&
         large_rows_fit<Value>(columns);
}

/// The error to throw if fits_fused_product() is false.
[[nodiscard]] inline Error too_large_for_fused_product(std::int64_t rows, std::int64_t columns) {
  return {
      ErrorKind::unavailable,
      fmt::format("SpGEMM on CUDA: found a product of {} x {}, expected for the algorithm fused "
                  "at most 2^32 - 1 rows, 2^23 columns, and a GPU with as much shared memory as "
                  "they take",
                  rows, columns)};
}

/// Bytes of the fused product per row of A, in addition to C, for its whole lifetime and for a
/// chunk; see the table below.
inline constexpr std::uint64_t fused_bytes_per_row = sizeof(std::uint64_t) + sizeof(std::int64_t);
inline constexpr std::uint64_t fused_bytes_per_row_of_chunk =
    2 * sizeof(std::uint32_t) + sizeof(std::int64_t);
template <class Value>
inline constexpr std::uint64_t entry_bytes = sizeof(std::uint32_t) + sizeof(Value);

/// Upper bound of the bytes that rows take, including their entries of C and excluding the optional
/// row bitmaps and staging.
template <class Value>
[[nodiscard]] constexpr std::uint64_t max_bytes_of_rows(std::int64_t rows, const RowBins& bins) {
  return rows * fused_bytes_per_row_of_chunk +
         bins.products * (entry_bytes<Value> + large_row_bytes_per_product);
}

/// Rows whose entries are counted.
template <class Value>
struct CountedRows {
  LargeRows large;
  LargeRowCounters found{};
  /// Small and medium rows that are already computed: one entry per product of a row, rounded up to
  /// whole slots (policy.hpp).
  std::optional<DeviceEntries<Value, std::uint32_t>> staged;
};

/// Counts the entries of C in rows from the structure of A and B. The host waits for the counts.
/// \param bytes    usable memory. Bitmaps of large rows and staged rows each take at most half of
///                 what max_bytes_of_rows() leaves
/// \param row_ptr  rows + 1, as written by find_row_bins(); receives the offsets of the rows from
///                 the first row
/// \param stage    compute small and medium rows now, if their entries fit
template <class Value>
[[nodiscard]] CountedRows<Value> count_rows(const ProductOperands<Value>& operands,
                                            const RowBins& bins, std::uint64_t bytes,
                                            std::int64_t* row_ptr, bool stage,
                                            cudaStream_t stream) {
  const std::int64_t rows = operands.a.rows;
  const std::uint64_t wanted = max_bytes_of_rows<Value>(rows, bins);
  const std::uint64_t spare = bytes > wanted ? (bytes - wanted) / 2 : 0;
  // Half a word per product suffices if rows of C have not much fewer entries than products, and
  // their columns are close together or C has up to about 100 000 columns. Rows without a bitmap
  // take one more pass over their products.
  const auto bitmap_words = std::min(bins.large_row_products / 2,
                                     static_cast<std::int64_t>(spare / sizeof(std::uint32_t)));
  CountedRows<Value> counted;
  RowsOut<Value> out{.counts = row_ptr};
  stage = stage && bins.staged_entries * entry_bytes<Value> <= spare;
  if (stage) {
    counted.staged = DeviceEntries<Value, std::uint32_t>{
        DeviceBuffer<std::uint32_t>(bins.staged_entries, stream),
        DeviceBuffer<Value>(bins.staged_entries, stream)};
    out.slots = bins.slots.data();
    out.col_idx = counted.staged->col_idx.data();
    out.values = counted.staged->values.data();
  }
  counted.large = plan_large_rows(operands, bins, bitmap_words, stream);
  KernelGroup count(stream);
  count_large_rows(operands, bins, counted.large, row_ptr, count);
  if (stage) {
    compute_sorted_rows<true>(operands, bins, out, count);
  } else {
    compute_sorted_rows<false>(operands, bins, out, count);
  }
  list_panel_tasks(counted.large, row_ptr, stream);
  exclusive_sum(row_ptr, rows + 1, stream);
  PinnedMailbox<LargeRowCounters> mailbox(stream);
  publish_counters(counted.large, row_ptr + rows, mailbox.on_device(), stream);
  mailbox.mark();
  counted.found = mailbox.wait();
  return counted;
}

/// Computes columns and values of counted rows. Only launches kernels: no allocation, no host
/// synchronisation.
/// \param operands  of the counted structure; values may differ if no rows are staged
template <class Value>
void make_rows(const ProductOperands<Value>& operands, const RowBins& bins,
               const CountedRows<Value>& counted, const ProductRows<Value>& c,
               cudaStream_t stream) {
  KernelGroup make(stream);
  make_large_rows(operands, counted.large, counted.found, c, make);
  if (counted.staged) {
    copy_sorted_rows(bins, counted.staged->col_idx.data(), counted.staged->values.data(), c, make);
  } else {
    const RowsOut<Value> out{.row_ptr = c.row_ptr, .col_idx = c.col_idx, .values = c.values};
    compute_sorted_rows<true>(operands, bins, out, make);
  }
}

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
/// counted once. Every entry of C is the sum of its products in an order that depends on A and B
/// only. C is computed in chunks of rows if it does not fit the memory budget.
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
  /// \param samples  columns of the sampled entries of a larger B (policy.hpp); empty: those of `b`
  /// \pre fits_fused_product<Value>(a.rows, b.cols)
  FusedProduct(const DeviceContext& context, const DeviceCsrView<Value>& a,
               const DeviceCsrView<Value>& b, std::span<const std::uint32_t> samples = {})
      : context_(context), a_(a), b_(b), samples_(samples, context.stream) {
    DevicePhase phase(context, "analysis");
    row_ptr_ = DeviceBuffer<std::int64_t>(a.rows + 1, context.stream);
    if (a.nnz == 0 || b.nnz == 0) {
      check_cuda(cudaMemsetAsync(row_ptr_.data(), 0, row_ptr_.bytes(), context.stream));
      next_row_ = a.rows;  // no rows to compute
      phase.stop();
      return;
    }
    reserved_ = fused_bytes_per_row * static_cast<std::uint64_t>(a.rows + 1);
    // Overlapped: querying free memory takes the driver as long as counting a small product.
    bins_ = find_row_bins(a, b, products_, row_ptr_.data(), context.stream,
                          [&] { budget_ = product_memory_budget(context); });
    if (reserved_ > budget_) throw out_of_memory_error("the analysis of A * B", reserved_, budget_);
    phase.stop();
  }

  /// True if essc is faster (policy.hpp). Before the first next().
  [[nodiscard]] bool has_few_long_rows() const {
    return cuda::has_few_long_rows(bins_.large_rows(), bins_.large_row_products, bins_.products);
  }
  [[nodiscard]] bool has_mostly_empty_rows() const {
    return cuda::has_mostly_empty_rows(a_.rows, bins_.products);
  }
  /// Of all rows. Before the first next().
  [[nodiscard]] CountedProducts counted() const { return {bins_.products, budget_}; }

  /// \throws Error (out_of_memory) a single row does not fit the budget
  [[nodiscard]] std::optional<Entries> next() {
    if (next_row_ == a_.rows) return std::nullopt;
    std::int64_t rows = a_.rows - next_row_;
    Entries chunk;
    const std::uint64_t wanted = max_bytes_of_rows<Value>(rows, bins_);
    const std::uint64_t bytes = bytes_left(budget_ - reserved_, next_row_ == 0);
    if (next_row_ == 0 && wanted <= bytes) {
      chunk = multiply_rows(rows, bins_, row_ptr_.data());
      bins_ = {};
    } else {
      // Sizes of single rows are needed only if one entry per product does not fit.
      if (next_row_ == 0) {
        bins_ = {};
        check_cuda(cudaMemsetAsync(row_ptr_.data(), 0, sizeof(std::int64_t), context_.stream));
      }
      rows = rows_that_fit(bytes);
      // Offsets of the chunk's rows relative to its first row.
      DeviceBuffer<std::int64_t> row_ptr(rows + 1, context_.stream);
      const RowBins bins =
          find_row_bins(products_.data() + next_row_, rows, row_ptr.data(), context_.stream);
      chunk = multiply_rows(rows, bins, row_ptr.data());
      shift_offsets(row_ptr.data() + 1, nnz_, row_ptr_.data() + next_row_ + 1, rows,
                    context_.stream);
    }
    next_row_ += rows;
    nnz_ += chunk.col_idx.size();
    if (context_.progress) context_.progress("rows", next_row_, a_.rows);
    return chunk;
  }

  [[nodiscard]] DeviceBuffer<std::int64_t>& row_ptr() { return row_ptr_; }
  [[nodiscard]] std::int64_t rows_done() const { return next_row_; }

  /// The device of the context must be current.
  [[nodiscard]] static WorkSpace work_space(const HostContext& context, const ProductSize& size) {
    const std::uint64_t limit = product_memory_budget(context);
    const auto rows = static_cast<std::uint64_t>(size.rows);
    const auto products = static_cast<std::uint64_t>(size.products);
    const auto longest = static_cast<std::uint64_t>(size.longest_row_products);
    const std::uint64_t fixed = fused_bytes_per_row * (rows + 1);
    const std::uint64_t left = limit - std::min(limit, fixed);
    const std::uint64_t needed = fused_bytes_per_row_of_chunk * rows +
                                 entry_bytes<Value> * static_cast<std::uint64_t>(size.nnz_c_bound) +
                                 large_row_bytes_per_product * products;
    // Row bitmaps, and staging of small and medium rows with up to seven padding entries per row.
    constexpr auto longest_sorted =
        static_cast<std::uint64_t>(row_bins[first_large_bin - 1].max_products);
    const std::uint64_t helpful =
        2 * products +
        entry_bytes<Value> *
            std::min(8 * products, std::min(products, longest_sorted * rows) + 7 * rows);
    return {.least = fixed + fused_bytes_per_row_of_chunk +
                     entry_bytes<Value> * std::min(longest, static_cast<std::uint64_t>(size.cols)) +
                     large_row_bytes_per_product * longest,
            .most = fixed + std::min(left, needed + helpful),
            .limit = limit};
  }

 private:
  /// Number of the next rows that fit. \throws Error (out_of_memory) the first does not
  std::int64_t rows_that_fit(std::uint64_t bytes) {
    if (products_on_host_.empty()) {
      products_on_host_.resize(a_.rows);
      products_.copy_to(products_on_host_);
      check_cuda(cudaStreamSynchronize(context_.stream));
    }
    // Upper bound of the mandatory bytes: the entries of C, and the share of the lists.
    const auto wanted = [&](std::int64_t row) {
      const std::uint64_t products = products_on_host_[row];
      const std::uint64_t entries = std::min<std::uint64_t>(products, b_.cols);
      return fused_bytes_per_row_of_chunk + entries * entry_bytes<Value> +
             products * large_row_bytes_per_product;
    };
    std::int64_t row = next_row_;
    std::uint64_t left = bytes;
    for (; row < a_.rows && wanted(row) <= left; ++row) left -= wanted(row);
    if (row == next_row_)
      throw out_of_memory_error(named_products(row, products_on_host_[row]),
                                reserved_ + wanted(row), reserved_ + bytes);
    return row - next_row_;
  }

  /// Computes the next rows of C. \param row_ptr  receives their offsets from the first of them
  Entries multiply_rows(std::int64_t rows, const RowBins& bins, std::int64_t* row_ptr) {
    const cudaStream_t stream = context_.stream;
    DevicePhase counting(context_, "counting");
    ProductOperands<Value> operands{a_, b_, samples_.data(),
                                    static_cast<std::int64_t>(samples_.size())};
    operands.a.row_ptr += next_row_;
    operands.a.rows = rows;

    const std::uint64_t bytes = bytes_left(budget_ - reserved_, next_row_ == 0);
    const CountedRows<Value> counted = count_rows(operands, bins, bytes, row_ptr, true, stream);
    counting.stop();

    DevicePhase making(context_, "making");
    Entries chunk{DeviceBuffer<Column>(counted.found.entries, stream),
                  DeviceBuffer<Value>(counted.found.entries, stream)};
    const ProductRows<Value> c{row_ptr, chunk.col_idx.data(), chunk.values.data()};
    make_rows(operands, bins, counted, c, stream);
    making.stop();
    return chunk;
  }

  const DeviceContext& context_;
  DeviceCsrView<Value> a_;
  DeviceCsrView<Value> b_;
  DeviceBuffer<std::uint32_t> samples_;
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
