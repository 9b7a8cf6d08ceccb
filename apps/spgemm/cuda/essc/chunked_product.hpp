// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/essc/chunk_steps.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_csr.hpp"
#include "sortie/device_segmented_sort.hpp"
#include "sortie/error.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie::spgemm::cuda {

/// The sort of ChunkedProduct in essc: of each row by itself. Segments are rows, keys are columns.
template <class Column>
struct SegmentedRowSort {
  using Key = Column;

  static int column_bits(std::int64_t /*cols*/) { return 0; }
  static std::int64_t max_rows(int /*column_bits*/) {
    return std::numeric_limits<std::int64_t>::max();
  }

  template <class Payload>
  static void sort(DoubleBuffer<Key>& keys, DoubleBuffer<Payload>& payloads, const RowChunk& chunk,
                   const std::uint32_t* row_offsets, cudaStream_t stream) {
    // An unstable sort suffices: it is deterministic, so the order of equal columns, and with it
    // the order of summation, is reproducible.
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return DeviceSegmentedSort::SortPairs(scratch, bytes, keys, payloads, chunk.products,
                                            chunk.rows, row_offsets, row_offsets + 1, stream);
    });
  }
};

/// C = A * B by expansion, sorting and compression. Models Product. C is computed in chunks of rows,
/// so that the work space fits the memory budget of the context.
///
/// Work space (n: products of the chunk; K, P, V: bytes per key, payload and value):
///
/// | array                      | bytes                             | lifetime                 |
/// |----------------------------|-----------------------------------|--------------------------|
/// | entry offsets              | 8 (nnz(A) + 1)                    | product                  |
/// | row_ptr                    | 8 (rows + 1)                      | product                  |
/// | row offsets, sort's lists  | 8 (rows + 1)                      | chunk                    |
/// | tiles, entry rows          | 5 nnz(A)                          | expansion                |
/// | keys, payloads             | (K + P) n                         | expansion to compression |
/// | products (complex only)    | V n                               | expansion to compression |
/// | alternate keys, payloads   | (K + P) n                         | sort                     |
/// | scratch of the sort        | < n                               | sort                     |
/// | run heads, entries of C    | <= (sizeof(Column) + V) n + n / 6 | compression              |
///
/// \tparam Sort  the key type, its layout and the sort, as SegmentedRowSort
template <class Value, class Column, class Sort>
class ChunkedProduct {
 public:
  using Key = typename Sort::Key;
  using Entries = DeviceEntries<Value, Column>;

  /// Counts the products. The arrays of `a` and `b` must outlive this object.
  /// \param counted  if it is known: the host does not wait
  ChunkedProduct(const DeviceContext& context, const DeviceCsrView<Value, Column>& a,
                 const DeviceCsrView<Value, Column>& b,
                 const std::optional<CountedProducts>& counted = std::nullopt)
      : context_(context), a_(a), b_(b), column_bits_(Sort::column_bits(b.cols)) {
    DevicePhase phase(context, "analysis");
    reserved_ = bytes_beside_products(a.nnz, a.rows);
    const auto require = [this](std::uint64_t budget) {
      if (reserved_ > budget) throw out_of_memory_error("the analysis of A * B", reserved_, budget);
    };
    if (context.memory_budget != 0) require(context.memory_budget);
    if (counted) require(counted->budget);
    entry_offsets_ = entry_offsets(a.col_idx, a.nnz, b.row_ptr, context_.stream);
    row_ptr_ = DeviceBuffer<std::int64_t>(a.rows + 1, context_.stream);
    check_cuda(cudaMemsetAsync(row_ptr_.data(), 0, sizeof(std::int64_t), context_.stream));
    if (counted) {
      budget_ = counted->budget - reserved_;
      products_ = counted->products;
      phase.stop();
      return;
    }
    PinnedMailbox<std::int64_t> mailbox(context_.stream);
    check_cuda(cudaMemcpyAsync(mailbox.on_device(), entry_offsets_.data() + a.nnz,
                               sizeof(std::int64_t), cudaMemcpyDeviceToHost, context_.stream));
    mailbox.mark();
    // Overlapped. Free memory is without the arrays that are allocated already.
    budget_ = product_memory_budget(context);
    if (context.memory_budget == 0) budget_ += entry_offsets_.bytes() + row_ptr_.bytes();
    require(budget_);
    budget_ -= reserved_;
    products_ = mailbox.wait();
    phase.stop();
  }

  /// \throws Error (out_of_memory) the products of one row do not fit the budget
  /// \throws Error (unavailable) a row has more than max_chunk_products products
  [[nodiscard]] std::optional<Entries> next() {
    if (next_row_ == a_.rows) return std::nullopt;
    const RowChunk chunk = choose_rows();
    Entries result = multiply_rows(chunk);
    next_row_ += chunk.rows;
    nnz_ += result.col_idx.size();
    if (context_.progress)
      context_.progress("products", chunk.first_product + chunk.products, products_);
    return result;
  }

  [[nodiscard]] std::int64_t products() const { return products_; }
  [[nodiscard]] DeviceBuffer<std::int64_t>& row_ptr() { return row_ptr_; }
  [[nodiscard]] std::int64_t rows_done() const { return next_row_; }

  /// The device of the context must be current.
  [[nodiscard]] static WorkSpace work_space(const HostContext& context, const ProductSize& size) {
    const std::uint64_t limit = product_memory_budget(context);
    const std::uint64_t fixed = bytes_beside_products(size.nnz_a, size.rows);
    const std::uint64_t left = limit - std::min(limit, fixed);
    const auto longest = static_cast<std::uint64_t>(size.longest_row_products);
    const std::uint64_t chunk = std::min({static_cast<std::uint64_t>(size.products),
                                          static_cast<std::uint64_t>(max_chunk_products),
                                          std::max(longest, left / kPerProduct)});
    return {.least = fixed + longest * kPerProduct,
            .most = fixed + chunk * kPerProduct,
            .limit = limit};
  }

 private:
  // Sums of the table above.
  static constexpr std::int64_t kPerEntry = sizeof(std::int64_t) + expansion_bytes_per_entry;
  static constexpr std::int64_t kPerRow = 2 * sizeof(std::uint32_t) + sizeof(std::int64_t);
  static constexpr std::int64_t kSorted =
      sizeof(Key) + sizeof(PayloadType<Value>) + (payload_is_index<Value> ? sizeof(Value) : 0);
  static constexpr std::int64_t kSortPhase = kSorted + sizeof(Key) + sizeof(PayloadType<Value>) + 1;
  static constexpr std::int64_t kCompressionPhase = kSorted + sizeof(Column) + sizeof(Value) + 1;
  static constexpr std::int64_t kPerProduct = std::max(kSortPhase, kCompressionPhase);

  static constexpr std::uint64_t bytes_beside_products(std::int64_t nnz_a, std::int64_t rows) {
    return static_cast<std::uint64_t>(kPerEntry * (nnz_a + 1) + kPerRow * (rows + 1));
  }

  RowChunk choose_rows() {
    const std::uint64_t bytes = bytes_left(budget_, next_row_ == 0);
    const std::int64_t max_products =
        std::min(max_chunk_products, static_cast<std::int64_t>(bytes / kPerProduct));
    const std::int64_t max_rows = Sort::max_rows(column_bits_);
    if (next_row_ == 0 && products_ <= max_products && a_.rows <= max_rows)
      return {0, a_.rows, 0, a_.nnz, 0, products_, column_bits_};

    // Products of single rows are copied to the host only if more than one chunk is needed.
    if (row_offsets_.empty()) {
      row_offsets_.resize(a_.rows + 1);
      row_offsets<std::int64_t>(a_.row_ptr, entry_offsets_.data(), {.rows = a_.rows},
                                context_.stream)
          .copy_to(row_offsets_);
      check_cuda(cudaStreamSynchronize(context_.stream));
    }
    RowChunk chunk{.first_row = next_row_,
                   .rows = rows_that_fit(row_offsets_, next_row_, max_products, max_rows),
                   .column_bits = column_bits_};
    const auto first = row_offsets_.begin() + next_row_;
    if (chunk.rows == 0) {
      const std::int64_t products = first[1] - first[0];
      const std::string what = named_products(next_row_, products);
      if (max_products == max_chunk_products)
        throw Error(ErrorKind::unavailable,
                    fmt::format("SpGEMM on CUDA: found {}, expected at most {} in a row", what,
                                max_chunk_products));
      throw out_of_memory_error(what, reserved_ + products * kPerProduct, reserved_ + bytes);
    }
    chunk.first_product = first[0];
    chunk.products = first[chunk.rows] - chunk.first_product;
    chunk.first_entry = element(a_.row_ptr + chunk.first_row);
    chunk.entries = element(a_.row_ptr + chunk.first_row + chunk.rows) - chunk.first_entry;
    return chunk;
  }

  /// Reads a number in device memory. Synchronises the stream.
  [[nodiscard]] std::int64_t element(const std::int64_t* at) const {
    std::int64_t value = 0;
    check_cuda(cudaMemcpyAsync(&value, at, sizeof(value), cudaMemcpyDeviceToHost, context_.stream));
    check_cuda(cudaStreamSynchronize(context_.stream));
    return value;
  }

  Entries multiply_rows(const RowChunk& chunk) {
    const cudaStream_t stream = context_.stream;
    const std::size_t size = chunk.products;
    DevicePhase expansion(context_, "expansion");
    const auto offsets =
        row_offsets<std::uint32_t>(a_.row_ptr, entry_offsets_.data(), chunk, stream);
    DeviceBuffer<Key> keys(size, stream);
    DeviceBuffer<PayloadType<Value>> payloads(size, stream);
    DeviceBuffer<Value> products(payload_is_index<Value> ? size : 0, stream);
    ExpandedProducts<Value, Key> expanded{keys.data(), payloads.data(), products.data()};
    expand(a_, b_, entry_offsets_.data(), chunk, expanded, stream);
    expansion.stop();

    DevicePhase sorting(context_, "sort");
    if (chunk.products != 0) {
      DeviceBuffer<Key> other_keys(size, stream);
      DeviceBuffer<PayloadType<Value>> other_payloads(size, stream);
      DoubleBuffer<Key> key_pair(keys.data(), other_keys.data());
      DoubleBuffer<PayloadType<Value>> payload_pair(payloads.data(), other_payloads.data());
      Sort::sort(key_pair, payload_pair, chunk, offsets.data(), stream);
      if (key_pair.selector != 0) std::swap(keys, other_keys);
      if (payload_pair.selector != 0) std::swap(payloads, other_payloads);
      expanded = {keys.data(), payloads.data(), products.data()};
    }
    sorting.stop();

    DevicePhase compression(context_, "compression");
    const RunHeads heads = find_run_heads(expanded.keys, offsets.data(), chunk, stream);
    write_row_ends(heads, offsets.data(), chunk, nnz_, row_ptr_.data() + chunk.first_row + 1,
                   stream);
    Entries result{DeviceBuffer<Column>(heads.runs, stream),
                   DeviceBuffer<Value>(heads.runs, stream)};
    sum_runs(heads, expanded, chunk, result.col_idx.data(), result.values.data(), stream);
    compression.stop();
    return result;
  }

  const DeviceContext& context_;
  DeviceCsrView<Value, Column> a_;
  DeviceCsrView<Value, Column> b_;
  int column_bits_;             ///< of RowChunk
  std::uint64_t budget_ = 0;    ///< bytes left for arrays proportional to the products of a chunk
  std::uint64_t reserved_ = 0;  ///< bytes of the budget for all other arrays
  DeviceBuffer<std::int64_t> entry_offsets_;
  std::int64_t products_ = 0;
  DeviceBuffer<std::int64_t> row_ptr_;
  std::vector<std::int64_t> row_offsets_;  ///< on the host; only if more than one chunk is needed
  std::int64_t next_row_ = 0;
  std::int64_t nnz_ = 0;
};

}  // namespace sortie::spgemm::cuda
