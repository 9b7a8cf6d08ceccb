// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/fused/fused_product.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "apps/spgemm/cuda/fused/kernel_group.hpp"
#include "apps/spgemm/cuda/fused/operands.hpp"
#include "apps/spgemm/cuda/index_arrays.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_phase.hpp"
#include "core/cuda/device_scope.hpp"
#include "core/cuda/pinned_mailbox.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// Upper bound of the mandatory bytes of a row: its entries of C and its share of the lists.
template <class Value>
std::uint64_t bytes_of_row(std::uint64_t products, std::int64_t columns) {
  const std::uint64_t entries = std::min(products, static_cast<std::uint64_t>(columns));
  return fused_bytes_per_row_of_chunk + entries * entry_bytes<Value> +
         products * large_row_bytes_per_product;
}

/// \param first_row  row of `matrix` that becomes row 0
template <class Value>
MatrixArrays<Value> arrays_of(const DeviceCsrView<Value>& matrix, std::int64_t first_row) {
  return {matrix.row_ptr + first_row, matrix.col_idx, matrix.values};
}

}  // namespace

template <class Value>
bool fits_fused_product(std::int64_t rows, std::int64_t columns) {
  if (columns > max_fused_columns || rows > std::numeric_limits<std::uint32_t>::max()) return false;
  return large_row_shared_memory<Value>(columns) <= max_dynamic_shared_memory();
}

Error too_large_for_fused_product(std::int64_t rows, std::int64_t columns) {
  return {ErrorKind::unavailable,
          "SpGEMM on CUDA: found a product of " + std::to_string(rows) + " x " +
              std::to_string(columns) +
              ", expected for the algorithm fused at most 2^32 - 1 rows, 2^23 columns, and a GPU "
              "with as much shared memory as they take"};
}

template <class Value>
FusedProduct<Value>::FusedProduct(const DeviceContext& context, const DeviceCsrView<Value>& a,
                                  const DeviceCsrView<Value>& b)
    : context_(context), a_(a), b_(b) {
  DevicePhase phase(context, "analysis");
  const auto offsets = static_cast<std::size_t>(a.rows + 1);
  if (a.nnz == 0 || b.nnz == 0) {
    row_ptr_ = DeviceBuffer<std::int64_t>(offsets, context.stream);
    check_cuda(cudaMemsetAsync(row_ptr_.data(), 0, row_ptr_.bytes(), context.stream));
    next_row_ = a.rows;  // no rows to compute
    phase.stop();
    return;
  }
  reserved_ = fused_bytes_per_row * static_cast<std::uint64_t>(a.rows + 1);
  row_ptr_ = DeviceBuffer<std::int64_t>(offsets, context.stream);
  // Overlapped: querying free memory takes the driver as long as counting a small product.
  bins_ = find_row_bins(a, b, products_, row_ptr_.data(), context.stream,
                        [&] { budget_ = product_memory_budget(context); });
  if (reserved_ > budget_) throw out_of_memory_error("the analysis of A * B", reserved_, budget_);
  phase.stop();
}

template <class Value>
std::uint64_t FusedProduct<Value>::bytes_left() const {
  if (next_row_ == 0) return budget_ - reserved_;
  // Earlier chunks of C may still be on the device.
  return std::min(budget_ - reserved_, usable_part(device_memory_free()));
}

template <class Value>
std::int64_t FusedProduct<Value>::rows_that_fit(std::uint64_t bytes) {
  if (products_on_host_.empty()) {
    products_on_host_.resize(static_cast<std::size_t>(a_.rows));
    products_.copy_to(std::span(products_on_host_));
    check_cuda(cudaStreamSynchronize(context_.stream));
  }
  std::int64_t row = next_row_;
  while (row < a_.rows) {
    const std::uint64_t wanted =
        bytes_of_row<Value>(products_on_host_[static_cast<std::size_t>(row)], b_.cols);
    if (wanted > bytes) break;
    bytes -= wanted;
    ++row;
  }
  return row - next_row_;
}

template <class Value>
std::optional<DeviceEntries<Value, std::uint32_t>> FusedProduct<Value>::next() {
  if (next_row_ == a_.rows) return std::nullopt;
  std::int64_t rows = a_.rows - next_row_;
  Entries chunk;
  const std::uint64_t wanted = max_bytes_of_rows<Value>(rows, bins_);
  const std::uint64_t bytes = bytes_left();
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
    if (rows == 0) throw row_too_long(bytes);
    // Offsets of the chunk's rows relative to its first row.
    DeviceBuffer<std::int64_t> row_ptr(static_cast<std::size_t>(rows + 1), context_.stream);
    const RowBins bins =
        find_row_bins(products_.data() + next_row_, rows, row_ptr.data(), context_.stream);
    chunk = multiply_rows(rows, bins, row_ptr.data());
    shift_offsets(row_ptr.data() + 1, nnz_, row_ptr_.data() + next_row_ + 1, rows, context_.stream);
  }
  next_row_ += rows;
  nnz_ += static_cast<std::int64_t>(chunk.col_idx.size());
  if (context_.progress) {
    context_.progress("rows", static_cast<std::uint64_t>(next_row_),
                      static_cast<std::uint64_t>(a_.rows));
  }
  return chunk;
}

template <class Value>
Error FusedProduct<Value>::row_too_long(std::uint64_t bytes) const {
  const std::uint64_t products = products_on_host_[static_cast<std::size_t>(next_row_)];
  return out_of_memory_error("the " + std::to_string(products) + " products of row " +
                                 std::to_string(next_row_ + 1) + " of C",
                             reserved_ + bytes_of_row<Value>(products, b_.cols), reserved_ + bytes);
}

template <class Value>
DeviceEntries<Value, std::uint32_t> FusedProduct<Value>::multiply_rows(std::int64_t rows,
                                                                       const RowBins& bins,
                                                                       std::int64_t* row_ptr) {
  const cudaStream_t stream = context_.stream;
  DevicePhase counting(context_, "counting");
  const ProductOperands<Value> operands{arrays_of(a_, next_row_), arrays_of(b_, 0), b_.cols,
                                        b_.nnz};

  // Optional arrays: each may take half of the memory that C leaves.
  const std::uint64_t wanted = max_bytes_of_rows<Value>(rows, bins);
  const auto staging = static_cast<std::uint64_t>(StagedRows<Value>::bytes(bins));
  const std::int64_t max_bitmap_words = bitmap_words_for(bins.large_row_products);
  const std::uint64_t left = bytes_left();
  const std::uint64_t spare = left > wanted ? (left - wanted) / 2 : 0;
  std::optional<StagedRows<Value>> staged;
  if (staging <= spare) staged.emplace(bins, stream);
  const auto bitmap_words =
      std::min(max_bitmap_words, static_cast<std::int64_t>(spare / sizeof(std::uint32_t)));

  StagedRows<Value>* const staging_buffers = staged ? &*staged : nullptr;
  const CountedRows counted =
      count_rows(operands, bins, rows, bitmap_words, row_ptr, staging_buffers, stream);
  counting.stop();

  DevicePhase making(context_, "making");
  const auto entries = static_cast<std::size_t>(counted.entries);
  Entries chunk{DeviceBuffer<Column>(entries, stream), DeviceBuffer<Value>(entries, stream)};
  const ProductRows<Value> c{row_ptr, chunk.col_idx.data(), chunk.values.data()};
  make_rows<Value>(operands, bins, counted, staging_buffers, c, stream);
  making.stop();
  return chunk;
}

template <class Value>
WorkSpace FusedProduct<Value>::work_space(const HostContext& context, const ProductSize& size) {
  WorkSpace space;
  space.limit = product_memory_budget(context);
  const auto rows = static_cast<std::uint64_t>(size.rows);
  const auto products = static_cast<std::uint64_t>(size.products);
  const auto longest = static_cast<std::uint64_t>(size.longest_row_products);
  const std::uint64_t fixed = fused_bytes_per_row * (rows + 1);
  const std::uint64_t left = space.limit - std::min(space.limit, fixed);
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
  space.least = fixed + fused_bytes_per_row_of_chunk +
                entry_bytes<Value> * std::min(longest, static_cast<std::uint64_t>(size.cols)) +
                large_row_bytes_per_product * longest;
  space.most = fixed + std::min(left, needed + helpful);
  return space;
}

template <class Value>
CountedRows count_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t rows, std::int64_t bitmap_words, std::int64_t* row_ptr,
                       StagedRows<Value>* staged, cudaStream_t stream) {
  CountedRows counted;
  counted.large = plan_large_rows(operands, bins, bitmap_words, stream);
  KernelGroup count(stream);
  count_large_rows(operands, bins, counted.large, row_ptr, count);
  if (staged != nullptr) {
    stage_sorted_rows(operands, bins, row_ptr, *staged, count);
  } else {
    count_sorted_rows(operands, bins, row_ptr, count);
  }
  list_panel_tasks(bins, counted.large, row_ptr, stream);
  exclusive_sum(row_ptr, rows + 1, stream);
  PinnedMailbox<LargeRowCounters> mailbox(stream);
  publish_counters(counted.large, row_ptr + rows, mailbox.on_device(), stream);
  mailbox.mark();
  counted.found = mailbox.wait();
  counted.entries = counted.found.entries;
  return counted;
}

template <class Value>
void make_rows(const ProductOperands<Value>& operands, const RowBins& bins,
               const CountedRows& counted, const StagedRows<Value>* staged,
               const ProductRows<Value>& c, cudaStream_t stream) {
  KernelGroup make(stream);
  make_large_rows(operands, bins, counted.large, counted.found, c, make);
  if (staged != nullptr) {
    copy_sorted_rows(bins, *staged, c, make);
  } else {
    make_sorted_rows(operands, bins, c, make);
  }
}

#define SORTIE_INSTANTIATE(Value)                                                                 \
  template class FusedProduct<Value>;                                                             \
  template bool fits_fused_product<Value>(std::int64_t, std::int64_t);                            \
  template CountedRows count_rows(const ProductOperands<Value>&, const RowBins&, std::int64_t,    \
                                  std::int64_t, std::int64_t*, StagedRows<Value>*, cudaStream_t); \
  template void make_rows(const ProductOperands<Value>&, const RowBins&, const CountedRows&,      \
                          const StagedRows<Value>*, const ProductRows<Value>&, cudaStream_t);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
