// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/memory_budget.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/result_arrays.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "apps/spgemm/host/sorted_row.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/run_report.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::spgemm::host {

namespace {

// Products per chunk if the budget allows more. Buffers are reused, so larger chunks only cause
// more page faults: email-Enron squared takes longer with one chunk of 51 million products.
constexpr std::int64_t preferred_chunk_products = 1 << 22;

// As in row_wise.cpp. A chunk has enough blocks for all threads of a large machine.
constexpr std::int64_t products_per_block = 1 << 14;
constexpr std::int64_t rows_per_block = 1 << 14;

/// Expands, sorts and compresses the products of consecutive rows of C.
///
/// Work space, reused by the next chunk:
///   offsets_   rows + 1  int64    first product of each row
///   keys_      products  Key      columns of the products
///   payload_   products  Payload  the products; for 16-byte values, which segmented sort does not
///                                 move, their indices in products_
///   products_  products  Value    only for 16-byte values
template <Scalar Value, Index Idx>
class Chunk {
 public:
  using Key = std::make_unsigned_t<Idx>;
  static constexpr bool sorts_indices = !SortValue<Value>;
  using Payload = std::conditional_t<sorts_indices, std::uint64_t, Value>;

  // While the longest row is sorted, a second copy of its keys and payload exists.
  static constexpr std::uint64_t bytes_per_product =
      2 * (sizeof(Key) + sizeof(Payload)) + (sorts_indices ? sizeof(Value) : 0);
  // An offset and an element of row_ptr.
  static constexpr std::uint64_t bytes_per_row = 16;

  /// Columns and values of the rows of a chunk.
  struct Entries {
    std::vector<Idx> col_idx;
    std::vector<Value> values;
  };

  Chunk(const HostContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
        std::span<const std::int64_t> product_offsets)
      : context_(context), sort_context_{context}, a_(a), b_(b), product_offsets_(product_offsets) {
    // Chunk reports phases and progress; those of the sort would be counted twice.
    context_.progress = nullptr;
    sort_context_.backend = Backend::host;
    sort_context_.progress = nullptr;
    sort_context_.report = nullptr;
  }

  /// Writes the products of rows first .. last - 1.
  void expand(std::int64_t first, std::int64_t last) {
    const PhaseTimer timer(context_, "expansion");
    const auto bounds = product_offsets_.subspan(first, last - first + 1);
    first_row_ = first;
    offsets_.resize(bounds.size());
    std::transform(bounds.begin(), bounds.end(), offsets_.begin(),
                   [&](std::int64_t offset) { return offset - bounds.front(); });
    blocks_ = cut_rows(offsets_, products_per_block, rows_per_block);
    keys_.resize(offsets_.back());
    payload_.resize(offsets_.back());
    if constexpr (sorts_indices) products_.resize(offsets_.back());
    for_each_chunk_row([&](std::int64_t row) {
      std::int64_t at = offsets_[row];
      for_each_product(a_, b_, first_row_ + row, [&](Idx column, Value product) {
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
    const std::span<const std::int64_t> bounds(offsets_);
    SegmentedSortOptions options;
    options.stable = true;
    segmented_sort(sort_context_, std::span(keys_), std::span(payload_),
                   bounds.first(bounds.size() - 1), bounds.subspan(1), options);
  }

  /// Sums the products of equal columns.
  /// \param row_ptr  rows + 1 elements of row_ptr of C; the first is given, the others are written
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
      compress_run(
          keys_.data() + offsets_[row], offsets_[row + 1] - offsets_[row],
          [&](std::int64_t i) { return product(offsets_[row] + i); }, entries.col_idx.data() + to,
          entries.values.data() + to);
    });
    return entries;
  }

 private:
  Value product(std::int64_t i) const {
    if constexpr (sorts_indices) {
      return products_[payload_[i]];
    } else {
      return payload_[i];
    }
  }

  template <class Body>
  void for_each_chunk_row(const Body& body) const {
    for_each_row(context_, "", host_threads(), blocks_, [&](int, std::int64_t row) { body(row); });
  }

  HostContext context_;
  Context sort_context_;
  const Csr<Value, Idx>& a_;
  const Csr<Value, Idx>& b_;
  std::span<const std::int64_t> product_offsets_;
  std::int64_t first_row_ = 0;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> blocks_;
  std::vector<Key> keys_;
  std::vector<Payload> payload_;
  std::vector<Value> products_;
};

/// Products per chunk. \throws Error (out_of_memory) a single row does not fit the budget
template <Scalar Value, Index Idx>
std::int64_t chunk_products(const HostContext& context, std::span<const std::int64_t> offsets) {
  const std::uint64_t budget = work_space_budget(context);
  constexpr std::uint64_t bytes_per_product = Chunk<Value, Idx>::bytes_per_product;
  const std::int64_t longest = longest_row(offsets);
  if (longest >= 0) {
    const std::int64_t most = offsets[longest + 1] - offsets[longest];
    if (const std::uint64_t bytes = most * bytes_per_product; bytes > budget) {
      throw row_out_of_memory(longest, most, bytes, budget);
    }
  }
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(preferred_chunk_products, budget / bytes_per_product));
}

/// Concatenates the entries of the chunks. Each chunk is freed as soon as it is copied, to keep
/// peak memory close to the size of the result.
template <class Entries, Scalar Value, Index Idx>
void join(std::vector<Entries>& chunks, Csr<Value, Idx>& c) {
  if (chunks.size() == 1) {
    c.col_idx = std::move(chunks.front().col_idx);
    c.values = std::move(chunks.front().values);
    return;
  }
  reserve_large_pages(c.col_idx, c.row_ptr.back());
  reserve_large_pages(c.values, c.row_ptr.back());
  for (Entries& chunk : chunks) {
    const Entries entries = std::move(chunk);
    c.col_idx.insert(c.col_idx.end(), entries.col_idx.begin(), entries.col_idx.end());
    c.values.insert(c.values.end(), entries.values.begin(), entries.values.end());
  }
}

/// Expands and sorts all rows, chunk after chunk.
/// \param compress  called as compress(chunk, first row, last row) to compute the entries of rows
///                  first .. last - 1
template <Scalar Value, Index Idx, class Compress>
void for_each_chunk(const HostContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                    const Compress& compress) {
  start_host_runtime(context.threads);
  PhaseTimer analysis(context, "analysis");
  const std::vector<std::int64_t> offsets = product_offsets(a, b);
  const std::int64_t most = chunk_products<Value, Idx>(context, offsets);
  const std::vector<std::int64_t> cuts = cut_rows(offsets, most, std::max<std::int64_t>(1, most));
  analysis.stop();
  Chunk<Value, Idx> chunk(context, a, b, offsets);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    chunk.expand(cuts[i], cuts[i + 1]);
    chunk.sort();
    compress(chunk, cuts[i], cuts[i + 1]);
    if (context.progress) {
      context.progress("essc", static_cast<std::uint64_t>(offsets[cuts[i + 1]]),
                       static_cast<std::uint64_t>(offsets.back()));
    }
  }
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_essc(const HostContext& context, const Csr<Value, Idx>& a,
                              const Csr<Value, Idx>& b) {
  Csr<Value, Idx> c;
  c.rows = a.rows;
  c.cols = b.cols;
  c.row_ptr.assign(a.rows + 1, 0);
  std::vector<typename Chunk<Value, Idx>::Entries> entries;
  for_each_chunk(
      context, a, b, [&](Chunk<Value, Idx>& chunk, std::int64_t first, std::int64_t last) {
        entries.push_back(chunk.compress(std::span(c.row_ptr).subspan(first, last - first + 1)));
      });
  const PhaseTimer compression(context, "compression");
  join(entries, c);
  return c;
}

template <Scalar Value, Index Idx>
void multiply_essc_in_chunks(const HostContext& context, const Csr<Value, Idx>& a,
                             const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink) {
  for_each_chunk(context, a, b,
                 [&](Chunk<Value, Idx>& chunk, std::int64_t first, std::int64_t last) {
                   Csr<Value, Idx> rows;
                   rows.rows = last - first;
                   rows.cols = b.cols;
                   rows.row_ptr.assign(rows.rows + 1, 0);
                   auto entries = chunk.compress(rows.row_ptr);
                   rows.col_idx = std::move(entries.col_idx);
                   rows.values = std::move(entries.values);
                   sink(rows);
                 });
}

template <Scalar Value, Index Idx>
WorkSpace essc_work_space(const HostContext& context, const ProductSize& size) {
  const std::uint64_t limit = work_space_budget(context);
  constexpr std::uint64_t bytes_per_product = Chunk<Value, Idx>::bytes_per_product;
  const std::uint64_t preferred =
      std::min<std::uint64_t>(preferred_chunk_products, limit / bytes_per_product);
  const auto longest = static_cast<std::uint64_t>(size.longest_row_products);
  const std::uint64_t chunk = std::min<std::uint64_t>(size.products, std::max(longest, preferred));
  // Product offsets of all rows, and row offsets of a chunk.
  const std::uint64_t offsets = 2 * sizeof(std::int64_t) * (size.rows + 1);
  return {.least = longest * bytes_per_product,
          .most = offsets + chunk * bytes_per_product,
          .limit = limit};
}

#define INSTANTIATE(Value, Idx)                                                                  \
  template Csr<Value, Idx> multiply_essc(const HostContext&, const Csr<Value, Idx>&,             \
                                         const Csr<Value, Idx>&);                                \
  template void multiply_essc_in_chunks(const HostContext&, const Csr<Value, Idx>&,              \
                                        const Csr<Value, Idx>&, const ProductSink<Value, Idx>&); \
  template WorkSpace essc_work_space<Value, Idx>(const HostContext&, const ProductSize&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::host
