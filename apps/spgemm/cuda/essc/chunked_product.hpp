// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/essc/analysis.hpp"
#include "apps/spgemm/cuda/essc/compression.hpp"
#include "apps/spgemm/cuda/essc/expansion.hpp"
#include "apps/spgemm/cuda/essc/row_chunks.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "core/cuda/device_scope.hpp"
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

  static KeyLayout layout(std::int64_t /*cols*/) { return {}; }
  static std::int64_t max_rows(KeyLayout /*layout*/) {
    return std::numeric_limits<std::int64_t>::max();
  }

  template <class Payload>
  static void sort(DoubleBuffer<Key>& keys, DoubleBuffer<Payload>& payloads, const RowChunk& chunk,
                   const std::uint32_t* row_offsets, KeyLayout /*layout*/, cudaStream_t stream) {
    // An unstable sort suffices: it is deterministic, so the order of equal columns, and with it
    // the order of summation, is reproducible.
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return DeviceSegmentedSort::SortPairs(scratch, bytes, keys, payloads, chunk.products,
                                            chunk.rows, row_offsets, row_offsets + 1, stream);
    });
  }
};

/// C = A * B by expansion, sorting and compression. Models Product. C is computed in chunks of rows, so that the
/// work space fits the memory budget of the context. Usage:
///
///     ChunkedProduct<Value, Column, Sort> product(context, a, b);
///     while (auto entries = product.next()) { take entries->col_idx and entries->values }
///     product.row_ptr()  // of C, complete
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
  /// \throws Error (out_of_memory, device)
  ChunkedProduct(const DeviceContext& context, const DeviceCsrView<Value, Column>& a,
                 const DeviceCsrView<Value, Column>& b)
      : context_(context), a_(a), b_(b), layout_(Sort::layout(b.cols)) {
    DevicePhase phase(context, "analysis");
    budget_ = product_memory_budget(context);
    reserved_ = bytes_beside_products(a.nnz, a.rows);
    if (reserved_ > budget_) throw out_of_memory_error("the analysis of A * B", reserved_, budget_);
    budget_ -= reserved_;
    counts_ = count_entry_products(a, b, stream());
    row_ptr_ = DeviceBuffer<std::int64_t>(static_cast<std::size_t>(a.rows + 1), stream());
    check_cuda(cudaMemsetAsync(row_ptr_.data(), 0, sizeof(std::int64_t), stream()));
    phase.stop();
  }

  /// Computes the next rows of C. Returns no value when all rows are done.
  /// \throws Error (out_of_memory) the products of one row do not fit the budget
  /// \throws Error (unavailable) a row has more than max_chunk_products products
  [[nodiscard]] std::optional<Entries> next() {
    if (next_row_ == a_.rows) return std::nullopt;
    const RowChunk chunk = choose_rows();
    Entries result = multiply_rows(chunk);
    next_row_ += chunk.rows;
    nnz_ += static_cast<std::int64_t>(result.col_idx.size());
    if (context_.progress) {
      context_.progress("products",
                        static_cast<std::uint64_t>(chunk.first_product + chunk.products),
                        static_cast<std::uint64_t>(counts_.total));
    }
    return result;
  }

  /// Offsets of C, rows + 1 elements; complete after the last chunk.
  [[nodiscard]] DeviceBuffer<std::int64_t>& row_ptr() { return row_ptr_; }
  /// Rows of C that next() has returned.
  [[nodiscard]] std::int64_t rows_done() const { return next_row_; }

  /// Predicts the memory by the table above. The device of the context must be current.
  [[nodiscard]] static WorkSpace work_space(const HostContext& context, const ProductSize& size) {
    WorkSpace space;
    space.limit = product_memory_budget(context);
    const std::uint64_t fixed = bytes_beside_products(size.nnz_a, size.rows);
    const std::uint64_t left = space.limit - std::min(space.limit, fixed);
    const auto longest = static_cast<std::uint64_t>(size.longest_row_products);
    const std::uint64_t chunk = std::min({static_cast<std::uint64_t>(size.products),
                                          static_cast<std::uint64_t>(max_chunk_products),
                                          std::max(longest, left / kPerProduct)});
    space.least = fixed + longest * kPerProduct;
    space.most = fixed + chunk * kPerProduct;
    return space;
  }

 private:
  // Sums of the table above.
  static constexpr std::int64_t kPerEntry = sizeof(std::int64_t) + expansion_bytes_per_entry;
  static constexpr std::int64_t kPerRow = 2 * sizeof(std::uint32_t) + sizeof(std::int64_t);
  static constexpr std::int64_t kSorted =
      sizeof(Key) + sizeof(PayloadType<Value>) + (Payload<Value>::is_index ? sizeof(Value) : 0);
  static constexpr std::int64_t kSortPhase = kSorted + sizeof(Key) + sizeof(PayloadType<Value>) + 1;
  static constexpr std::int64_t kCompressionPhase = kSorted + sizeof(Column) + sizeof(Value) + 1;
  static constexpr std::int64_t kPerProduct = std::max(kSortPhase, kCompressionPhase);

  static constexpr std::uint64_t bytes_beside_products(std::int64_t nnz_a, std::int64_t rows) {
    return static_cast<std::uint64_t>(kPerEntry * (nnz_a + 1) + kPerRow * (rows + 1));
  }

  [[nodiscard]] cudaStream_t stream() const { return context_.stream; }

  /// Bytes available for the arrays of a chunk's products.
  [[nodiscard]] std::uint64_t bytes_for_products() const {
    if (next_row_ == 0) return budget_;
    // Earlier chunks of C may still be on the device.
    return std::min(budget_, usable_part(device_memory_free()));
  }

  RowChunk choose_rows() {
    const std::int64_t max_products =
        std::min(max_chunk_products, static_cast<std::int64_t>(bytes_for_products() / kPerProduct));
    const std::int64_t max_rows = Sort::max_rows(layout_);
    if (next_row_ == 0 && counts_.total <= max_products && a_.rows <= max_rows)
      return {0, a_.rows, 0, a_.nnz, 0, counts_.total};

    // Products of single rows are copied to the host only if more than one chunk is needed.
    if (row_offsets_.empty())
      row_offsets_ = row_offsets_on_host(a_.row_ptr, a_.rows, counts_, stream());
    RowChunk chunk;
    chunk.first_row = next_row_;
    chunk.rows = rows_that_fit(row_offsets_, next_row_, max_products, max_rows);
    if (chunk.rows == 0) throw row_too_long(max_products);
    chunk.first_product = row_offsets_[static_cast<std::size_t>(next_row_)];
    chunk.products =
        row_offsets_[static_cast<std::size_t>(next_row_ + chunk.rows)] - chunk.first_product;
    chunk.first_entry = a_row_ptr(chunk.first_row);
    chunk.entries = a_row_ptr(chunk.first_row + chunk.rows) - chunk.first_entry;
    return chunk;
  }

  [[nodiscard]] std::int64_t a_row_ptr(std::int64_t row) const {
    std::int64_t value = 0;
    check_cuda(
        cudaMemcpyAsync(&value, a_.row_ptr + row, sizeof(value), cudaMemcpyDeviceToHost, stream()));
    check_cuda(cudaStreamSynchronize(stream()));
    return value;
  }

  [[nodiscard]] Error row_too_long(std::int64_t max_products) const {
    const auto row = static_cast<std::size_t>(next_row_);
    const std::int64_t products = row_offsets_[row + 1] - row_offsets_[row];
    const std::string what = "the " + std::to_string(products) + " products of row " +
                             std::to_string(next_row_ + 1) + " of C";
    if (max_products == max_chunk_products) {
      return {ErrorKind::unavailable, "SpGEMM on CUDA: found " + what + ", expected at most " +
                                          std::to_string(max_chunk_products) + " in a row"};
    }
    return out_of_memory_error(what, reserved_ + static_cast<std::uint64_t>(products) * kPerProduct,
                               reserved_ + bytes_for_products());
  }

  /// Keys and payloads of a chunk, and the alternate buffers of the sort.
  struct Arrays {
    DeviceBuffer<Key> keys;
    DeviceBuffer<Key> other_keys;
    DeviceBuffer<PayloadType<Value>> payloads;
    DeviceBuffer<PayloadType<Value>> other_payloads;
    DeviceBuffer<Value> products;
  };

  Entries multiply_rows(const RowChunk& chunk) {
    const auto size = static_cast<std::size_t>(chunk.products);
    DevicePhase expansion(context_, "expansion");
    const DeviceBuffer<std::uint32_t> row_offsets = chunk_row_offsets(
        a_.row_ptr, counts_, chunk.first_row, chunk.rows, chunk.first_product, stream());
    Arrays space;
    space.keys = DeviceBuffer<Key>(size, stream());
    space.payloads = DeviceBuffer<PayloadType<Value>>(size, stream());
    if (Payload<Value>::is_index) space.products = DeviceBuffer<Value>(size, stream());
    expand(a_, b_, counts_, chunk, layout_,
           ExpandedProducts<Value, Key>{space.keys.data(), space.payloads.data(),
                                        space.products.data()},
           stream());
    expansion.stop();

    DevicePhase sorting(context_, "sort");
    sort(space, row_offsets, chunk);
    sorting.stop();

    DevicePhase compression(context_, "compression");
    Entries result = compress(space, row_offsets, chunk);
    compression.stop();
    return result;
  }

  void sort(Arrays& space, const DeviceBuffer<std::uint32_t>& row_offsets, const RowChunk& chunk) {
    if (chunk.products == 0) return;
    space.other_keys = DeviceBuffer<Key>(space.keys.size(), stream());
    space.other_payloads = DeviceBuffer<PayloadType<Value>>(space.payloads.size(), stream());
    DoubleBuffer<Key> keys(space.keys.data(), space.other_keys.data());
    DoubleBuffer<PayloadType<Value>> payloads(space.payloads.data(), space.other_payloads.data());
    Sort::sort(keys, payloads, chunk, row_offsets.data(), layout_, stream());
    if (keys.selector != 0) std::swap(space.keys, space.other_keys);
    if (payloads.selector != 0) std::swap(space.payloads, space.other_payloads);
    space.other_keys.reset();
    space.other_payloads.reset();
  }

  Entries compress(const Arrays& space, const DeviceBuffer<std::uint32_t>& row_offsets,
                   const RowChunk& chunk) {
    const RunHeads heads = find_run_heads(space.keys.data(), chunk.products, row_offsets.data(),
                                          chunk.rows, layout_, stream());
    write_row_ends(heads, row_offsets.data(), chunk.rows, nnz_,
                   row_ptr_.data() + chunk.first_row + 1, stream());
    const auto runs = static_cast<std::size_t>(heads.runs);
    Entries result{DeviceBuffer<Column>(runs, stream()), DeviceBuffer<Value>(runs, stream())};
    sum_runs(heads, space.keys.data(), layout_, space.payloads.data(), space.products.data(),
             result.col_idx.data(), result.values.data(), stream());
    return result;
  }

  const DeviceContext& context_;
  DeviceCsrView<Value, Column> a_;
  DeviceCsrView<Value, Column> b_;
  KeyLayout layout_;
  std::uint64_t budget_ = 0;    ///< bytes left for arrays proportional to the products of a chunk
  std::uint64_t reserved_ = 0;  ///< bytes of the budget for all other arrays
  ProductCounts counts_;
  DeviceBuffer<std::int64_t> row_ptr_;
  std::vector<std::int64_t> row_offsets_;  ///< on the host; only if more than one chunk is needed
  std::int64_t next_row_ = 0;
  std::int64_t nnz_ = 0;
};

}  // namespace sortie::spgemm::cuda
