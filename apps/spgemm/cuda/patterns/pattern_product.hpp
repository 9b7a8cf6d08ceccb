// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/essc/chunked_product.hpp"
#include "apps/spgemm/cuda/patterns/class_programs.hpp"
#include "apps/spgemm/cuda/patterns/row_classes.hpp"
#include "apps/spgemm/cuda/patterns/row_tiles.hpp"
#include "apps/spgemm/row_patterns.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/error.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie::spgemm::cuda {

/// True if PatternProduct can compute C.
[[nodiscard]] inline bool fits_pattern_product(std::int64_t rows_a, std::int64_t rows_b) {
  return rows_a < std::numeric_limits<std::uint32_t>::max() &&
         rows_b < std::numeric_limits<std::uint32_t>::max();
}

/// True if the patterns of both operands repeat (row_patterns.hpp). The host waits for samples of them.
template <class Value>
[[nodiscard]] bool patterns_repeat(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                                   double min_products, cudaStream_t stream) {
  const auto repeat = [&](const DeviceCsrView<Value>& matrix) {
    return PatternSamples(matrix.rows, matrix.row_ptr, matrix.col_idx, stream).repeat();
  };
  return may_repeat_patterns(a.rows, a.nnz, b.rows, b.nnz, min_products) && repeat(a) &&
         (a.col_idx == b.col_idx || repeat(b));
}

/// The error to throw if fits_pattern_product() is false, or columns take 64 bits.
[[nodiscard]] inline Error too_large_for_pattern_product(std::int64_t rows_a, std::int64_t rows_b,
                                                         std::int64_t columns) {
  return {ErrorKind::unavailable,
          fmt::format("SpGEMM on CUDA: found a product of {} x {} and {} x {}, expected for the "
                      "algorithm pattern less than 2^32 - 1 rows, and columns of 32 bits",
                      rows_a, rows_b, rows_b, columns)};
}

/// Bytes of a pattern product per row of A, and while it finds the structure also per row of B: class
/// and first row of a class, row_ptr, tiles.
inline constexpr std::uint64_t pattern_bytes_per_row =
    2 * sizeof(std::uint32_t) + sizeof(std::int64_t) + 2 * sizeof(RowTile) / 8;
inline constexpr std::uint64_t pattern_bytes_per_row_of_b = 2 * sizeof(std::uint32_t);

/// The structure of C by classes of rows, for any values.
///
/// Two rows of C are of the same class if their rows of A have the same pattern, and the rows of B
/// that they multiply have pairwise the same pattern. Their columns then differ by the distance of
/// the rows, and product j of entry e belongs to the same entry of C. For each class this is found
/// once, by the product of its first row.
template <class Value>
struct PatternStructure {
  RowClasses classes;
  ClassPrograms<Value> programs;
  int tile_rows = max_tile_rows;
  DeviceBuffer<std::int64_t> row_ptr;  ///< of C

  /// \param budget  bytes, for all of it and for its work space
  /// \pre fits_pattern_product(a.rows, b.rows) \throws Error (out_of_memory, device)
  PatternStructure(const DeviceContext& context, const DeviceCsrView<Value>& a,
                   const DeviceCsrView<Value>& b, std::uint64_t budget) {
    const cudaStream_t stream = context.stream;
    const std::uint64_t wanted = pattern_bytes_per_row * static_cast<std::uint64_t>(a.rows + 1) +
                                 pattern_bytes_per_row_of_b * static_cast<std::uint64_t>(b.rows);
    if (wanted > budget) throw out_of_memory_error("the patterns of A * B", wanted, budget);
    DevicePhase analysis(context, "analysis");
    const RowClasses of_b = find_row_classes(b.rows, b.nnz, b.row_ptr, b.col_idx, nullptr, stream);
    classes = find_row_classes(a.rows, a.nnz, a.row_ptr, a.col_idx, of_b.of_row.data(), stream);
    const ClassList list = list_classes(classes, stream);
    classes.first_row.reset();
    analysis.stop();
    DevicePhase counting(context, "counting");
    const DeviceCsr<Value> a_rows = gather_rows(a, list.rows.data(), list.count, stream);
    DeviceCsr<Value> c_rows = product_of_rows(context, a_rows, b, budget - wanted);
    programs = make_programs(list, a_rows, b, of_b.of_row.data(), std::move(c_rows), stream);
    // Shared memory limits how many tiles a multiprocessor computes at a time: five of this size on
    // an H100. Where a tile of 16 rows takes more, tiles have 8 rows.
    constexpr std::uint64_t most_of_16 = 40960;
    tile_rows = programs.sizes.elements_of_16 * sizeof(Value) <= most_of_16 ? 16 : 8;
    row_ptr = DeviceBuffer<std::int64_t>(static_cast<std::size_t>(a.rows) + 1, stream);
    count_by_class(classes, programs.of_class.data(), a.rows, row_ptr.data(), stream);
    exclusive_sum(row_ptr.data(), a.rows + 1, stream);
    counting.stop();
  }

  /// The product of a few rows by essc, which sums in the same order for any neighbours of a row.
  [[nodiscard]] static DeviceCsr<Value> product_of_rows(const DeviceContext& context,
                                                        const DeviceCsr<Value>& a_rows,
                                                        const DeviceCsrView<Value>& b,
                                                        std::uint64_t bytes) {
    DeviceContext inner = context;
    inner.progress = nullptr;
    inner.report = nullptr;
    if (context.memory_budget != 0) inner.memory_budget = std::max<std::uint64_t>(1, bytes);
    const DeviceCsrView<Value> rows = view(a_rows);
    ChunkedProduct<Value, std::uint32_t, SegmentedRowSort<std::uint32_t>> product(inner, rows, b);
    return product_on_device(inner, product, rows, b);
  }

  /// Bytes that stay allocated.
  [[nodiscard]] std::uint64_t bytes() const {
    return classes.of_row.bytes() + row_ptr.bytes() + programs.of_class.bytes() +
           programs.steps.bytes() + programs.places.bytes() + programs.first_rows.col_idx.bytes() +
           programs.first_rows.values.bytes() + programs.first_rows.row_ptr.bytes();
  }
  [[nodiscard]] RowTiles tiles(std::int64_t first_row, std::int64_t rows,
                               cudaStream_t stream) const {
    return make_tiles(classes, programs.of_class.data(), first_row, rows, tile_rows, stream);
  }
};

/// C = A * B for matrices most of whose rows have one of a few patterns, such as those of grids with
/// the points numbered line by line. Rows of one class are computed together, a warp for 8 or 16 of
/// them (tile_rows.cuh). Rows with more than max_program_entries entries, or that take more than
/// max_tile_bytes, are computed by essc. Models Product. C is computed in chunks of windows of rows
/// if it does not fit the memory budget.
///
/// Every entry of C is the sum of its products in the order of A's entries, whatever the class of the
/// row. Work space in addition to C, bytes (rows: of A):
///
/// | array                               | bytes                          | lifetime  |
/// |-------------------------------------|--------------------------------|-----------|
/// | class and row_ptr of each row       | 12 rows                        | product   |
/// | first rows of classes, and those of | 4 rows, 8 rows of B            | structure |
/// | B with classes                      |                                |           |
/// | programs of the classes             | 2 per product of a first row   | product   |
/// | tiles                               | 3 to 6 rows                    | chunk     |
template <class Value>
class PatternProduct {
 public:
  using Column = std::uint32_t;
  using Entries = DeviceEntries<Value, Column>;

  /// Finds the structure. The arrays of `a` and `b` must outlive this object.
  /// \pre fits_pattern_product(a.rows, b.rows)
  PatternProduct(const DeviceContext& context, const DeviceCsrView<Value>& a,
                 const DeviceCsrView<Value>& b)
      : context_(context),
        a_(a),
        b_(b),
        budget_(product_memory_budget(context)),
        structure_(context, a, b, budget_) {
    if (a.rows == 0) return;
    // Offsets at the borders of windows, for the chunks.
    const std::size_t windows = blocks_for(static_cast<std::uint64_t>(a.rows), tile_window);
    borders_.resize(windows + 1);
    check_cuda(cudaMemcpy2DAsync(borders_.data(), sizeof(std::int64_t), structure_.row_ptr.data(),
                                 tile_window * sizeof(std::int64_t), sizeof(std::int64_t), windows,
                                 cudaMemcpyDeviceToHost, context.stream));
    check_cuda(cudaMemcpyAsync(borders_.data() + windows, structure_.row_ptr.data() + a.rows,
                               sizeof(std::int64_t), cudaMemcpyDeviceToHost, context.stream));
    check_cuda(cudaStreamSynchronize(context.stream));
    for (std::size_t window = 0; window < windows; ++window)
      require_window(window, budget_ - std::min(budget_, structure_.bytes()));
  }

  /// \throws Error (out_of_memory) a window of rows does not fit the memory that is left
  [[nodiscard]] std::optional<Entries> next() {
    if (next_row_ == a_.rows) return std::nullopt;
    DevicePhase making(context_, "making");
    const cudaStream_t stream = context_.stream;
    const std::uint64_t reserved = structure_.bytes();
    const std::uint64_t bytes = bytes_left(budget_ - std::min(budget_, reserved), next_row_ == 0);
    const auto first_window = static_cast<std::size_t>(next_row_ / tile_window);
    const std::int64_t first_entry = borders_[first_window];
    std::size_t window = first_window;
    require_window(window, bytes);
    while (window + 1 < borders_.size() &&
           bytes_of(borders_[window + 1] - first_entry, window + 1 - first_window) <= bytes)
      ++window;
    const std::int64_t end = std::min(a_.rows, static_cast<std::int64_t>(window) * tile_window);
    const auto entries = static_cast<std::size_t>(borders_[window] - first_entry);
    Entries chunk{DeviceBuffer<Column>(entries, stream), DeviceBuffer<Value>(entries, stream)};
    const TileRowsOut<Value> out{structure_.row_ptr.data(), first_entry, chunk.col_idx.data(),
                                 chunk.values.data()};
    const ClassProgram* const programs = structure_.programs.of_class.data();
    if (structure_.programs.sizes.long_classes != 0) {
      const LongRows rows = list_long_rows(structure_.classes, programs, next_row_, end, stream);
      if (rows.count != 0) {
        const DeviceCsr<Value> a_rows = gather_rows(a_, rows.rows.data(), rows.count, stream);
        copy_long_rows(structure_.product_of_rows(context_, a_rows, b_, bytes), rows, out, stream);
      }
    }
    compute_tiles(a_, b_, structure_.programs, structure_.tiles(next_row_, end, stream),
                  structure_.tile_rows, out, stream);
    making.stop();
    next_row_ = end;
    if (context_.progress) context_.progress("rows", next_row_, a_.rows);
    return chunk;
  }

  [[nodiscard]] DeviceBuffer<std::int64_t>& row_ptr() { return structure_.row_ptr; }
  [[nodiscard]] std::int64_t rows_done() const { return next_row_; }

  /// The device of the context must be current.
  [[nodiscard]] static WorkSpace work_space(const HostContext& context, const ProductSize& size) {
    const std::uint64_t limit = product_memory_budget(context);
    const auto rows = static_cast<std::uint64_t>(size.rows);
    const auto longest = static_cast<std::uint64_t>(size.longest_row_products);
    const std::uint64_t fixed = pattern_bytes_per_row * (rows + 1);
    const std::uint64_t left = limit - std::min(limit, fixed);
    const std::uint64_t of_c = entry_bytes_ * static_cast<std::uint64_t>(size.nnz_c_bound);
    return {.least = fixed + entry_bytes_ * std::min<std::uint64_t>(rows, tile_window) *
                                 std::min(longest, static_cast<std::uint64_t>(size.cols)),
            .most = fixed + std::min(left, of_c),
            .limit = limit};
  }

 private:
  static constexpr std::uint64_t entry_bytes_ = sizeof(Column) + sizeof(Value);

  /// Bytes of windows with so many entries.
  [[nodiscard]] static std::uint64_t bytes_of(std::int64_t entries, std::size_t windows) {
    return static_cast<std::uint64_t>(entries) * entry_bytes_ +
           windows * tile_window * 2 * sizeof(RowTile) / 8;
  }
  /// \throws Error (out_of_memory) it does not fit
  void require_window(std::size_t window, std::uint64_t bytes) const {
    const std::uint64_t wanted = bytes_of(borders_[window + 1] - borders_[window], 1);
    if (wanted <= bytes) return;
    const auto first = static_cast<std::int64_t>(window) * tile_window;
    throw out_of_memory_error(
        fmt::format("rows {} to {} of A * B", first, std::min(a_.rows, first + tile_window) - 1),
        structure_.bytes() + wanted, structure_.bytes() + bytes);
  }

  const DeviceContext& context_;
  DeviceCsrView<Value> a_;
  DeviceCsrView<Value> b_;
  std::uint64_t budget_;  ///< bytes
  PatternStructure<Value> structure_;
  std::vector<std::int64_t> borders_;  ///< row_ptr of C at the borders of windows
  std::int64_t next_row_ = 0;
};

}  // namespace sortie::spgemm::cuda
