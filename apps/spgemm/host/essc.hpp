// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "apps/spgemm/host/sorted_row.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::spgemm::host {

/// C = A * B by expansion of chunks of rows, segmented sort and compression. Models Product.
///
/// Work space:
///   product_offsets_  rows + 1  int64    first product of each row of A
///   offsets_          rows + 1  int64    of the chunk: first product of each row
///   keys_             products  Key      of the chunk: columns of the products
///   payload_          products  Payload  the products; for 16-byte values, which segmented sort
///                                        does not move, their indices in products_
///   products_         products  Value    only for 16-byte values
/// Source: Hou et al. (ICS 2017), section 5.2.
template <Scalar Value, Index Idx>
class EsscProduct {
 public:
  using Entries = RowEntries<std::vector<Idx>, std::vector<Value>>;
  static constexpr const char* last_phase = "compression";

  /// Counts the products. The arguments must outlive this object.
  /// \throws Error (out_of_memory) a single row does not fit the budget
  EsscProduct(const HostContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b)
      : context_(context), a_(a), b_(b), row_ptr_(a.rows + 1, 0) {
    start_host_runtime(context.threads);
    const PhaseTimer analysis(context, "analysis");
    product_offsets_ = product_offsets(a, b);
    const std::uint64_t budget = work_space_budget(context);
    const LongestRow longest = longest_row(product_offsets_);
    if (const std::uint64_t bytes = longest.products * bytes_per_product; bytes > budget)
      throw out_of_memory_error(named_products(longest.row, longest.products), bytes, budget);
    const auto most = static_cast<std::int64_t>(max_chunk_products(budget));
    cuts_ = cut_rows(product_offsets_, most, std::max<std::int64_t>(1, most));
  }

  [[nodiscard]] std::optional<Entries> next() {
    if (chunks_done_ + 1 == cuts_.size()) {
      // Before several chunks are joined, which takes a second copy of a part of C.
      products_ = {};
      payload_ = {};
      keys_ = {};
      return std::nullopt;
    }
    const std::int64_t first = cuts_[chunks_done_];
    const std::int64_t last = cuts_[chunks_done_ + 1];
    expand(first, last);
    sort();
    Entries entries = compress(std::span(row_ptr_).subspan(first, last - first + 1));
    ++chunks_done_;
    if (context_.progress)
      context_.progress("essc", product_offsets_[last], product_offsets_.back());
    return entries;
  }
  [[nodiscard]] std::vector<std::int64_t>& row_ptr() { return row_ptr_; }
  [[nodiscard]] std::int64_t rows_done() const { return cuts_[chunks_done_]; }

  [[nodiscard]] static WorkSpace work_space(const HostContext& context, const ProductSize& size) {
    const std::uint64_t limit = work_space_budget(context);
    const auto longest = static_cast<std::uint64_t>(size.longest_row_products);
    const std::uint64_t chunk =
        std::min<std::uint64_t>(size.products, std::max(longest, max_chunk_products(limit)));
    // Product offsets of all rows, and row offsets of a chunk.
    const std::uint64_t offsets = 2 * sizeof(std::int64_t) * (size.rows + 1);
    return {.least = longest * bytes_per_product,
            .most = offsets + chunk * bytes_per_product,
            .limit = limit};
  }

 private:
  using Key = std::make_unsigned_t<Idx>;
  static constexpr bool sorts_indices = !SortValue<Value>;
  using Payload = std::conditional_t<sorts_indices, std::uint64_t, Value>;

  // While the longest row is sorted, a second copy of its keys and payload exists.
  static constexpr std::uint64_t bytes_per_product =
      2 * (sizeof(Key) + sizeof(Payload)) + (sorts_indices ? sizeof(Value) : 0);

  // Products per chunk if the budget allows more. Buffers are reused, so larger chunks only cause
  // more page faults: email-Enron squared takes longer with one chunk of 51 million products.
  static constexpr std::uint64_t preferred_chunk_products = 1 << 22;

  // As in row_wise.hpp. A chunk has enough blocks for all threads of a large machine.
  static constexpr std::int64_t products_per_block = 1 << 14;
  static constexpr std::int64_t rows_per_block = 1 << 14;

  static std::uint64_t max_chunk_products(std::uint64_t budget) {
    return std::min(preferred_chunk_products, budget / bytes_per_product);
  }

  void expand(std::int64_t first, std::int64_t last) {
    const PhaseTimer timer(context_, "expansion");
    const auto bounds = std::span(product_offsets_).subspan(first, last - first + 1);
    offsets_.resize(bounds.size());
    std::transform(bounds.begin(), bounds.end(), offsets_.begin(),
                   [&](std::int64_t offset) { return offset - bounds.front(); });
    blocks_ = cut_rows(offsets_, products_per_block, rows_per_block);
    keys_.resize(offsets_.back());
    payload_.resize(offsets_.back());
    if constexpr (sorts_indices) products_.resize(offsets_.back());
    for_each_chunk_row([&](std::int64_t row) {
      std::int64_t at = offsets_[row];
      for_each_product(a_, b_, first + row, [&](Idx column, Value product) {
        keys_[at] = static_cast<Key>(column);
        if constexpr (sorts_indices) {
          products_[at] = product;
          payload_[at] = static_cast<std::uint64_t>(at);
        } else {
          payload_[at] = product;
        }
        ++at;
      });
    });
  }

  /// Sorts the products of each row by column. Products of one column stay in the order of
  /// expansion, which determines the order of summation.
  void sort() {
    const PhaseTimer timer(context_, "sort");
    // Phases and progress are those of the product; those of the sort would be counted twice.
    Context context{context_};
    context.backend = Backend::host;
    context.progress = nullptr;
    context.report = nullptr;
    const std::span<const std::int64_t> bounds(offsets_);
    segmented_sort(context, std::span(keys_), std::span(payload_), bounds.first(bounds.size() - 1),
                   bounds.subspan(1), SegmentedSortOptions{.stable = true});
  }

  /// Sums the products of equal columns.
  /// \param row_ptr  of the rows of the chunk; the first element is given, the others are written
  Entries compress(std::span<std::int64_t> row_ptr) {
    const PhaseTimer timer(context_, "compression");
    for_each_chunk_row([&](std::int64_t row) {
      row_ptr[row + 1] =
          count_distinct(keys_.data() + offsets_[row], offsets_[row + 1] - offsets_[row]);
    });
    std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
    Entries entries;
    resize_for_overwrite(entries.col_idx, row_ptr.back() - row_ptr.front());
    resize_for_overwrite(entries.values, row_ptr.back() - row_ptr.front());
    for_each_chunk_row([&](std::int64_t row) {
      const std::int64_t to = row_ptr[row] - row_ptr.front();
      const auto product = [&, first = offsets_[row]](std::int64_t i) {
        if constexpr (sorts_indices) {
          return products_[payload_[first + i]];
        } else {
          return payload_[first + i];
        }
      };
      compress_run(keys_.data() + offsets_[row], offsets_[row + 1] - offsets_[row], product,
                   entries.col_idx.data() + to, entries.values.data() + to);
    });
    return entries;
  }

  template <class Body>
  void for_each_chunk_row(const Body& body) const {
    for_each_row(HostContext{}, "", host_threads(), blocks_,
                 [&](int, std::int64_t row) { body(row); });
  }

  const HostContext& context_;
  const Csr<Value, Idx>& a_;
  const Csr<Value, Idx>& b_;
  std::vector<std::int64_t> row_ptr_;
  std::vector<std::int64_t> product_offsets_;
  std::vector<std::int64_t> cuts_;  ///< first rows of the chunks
  std::size_t chunks_done_ = 0;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> blocks_;  ///< first rows of the blocks of parallel loops
  std::vector<Key> keys_;
  std::vector<Payload> payload_;
  std::vector<Value> products_;
};

}  // namespace sortie::spgemm::host
