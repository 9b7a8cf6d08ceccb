// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/host/essc.hpp"

#include <algorithm>
#include <numeric>

#include "apps/spgemm/host/memory_budget.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/result_arrays.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "apps/spgemm/host/sorted_row.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/run_report.hpp"

namespace sortie::spgemm::host {

namespace {

// Products per chunk if the budget allows more. Buffers are reused, so larger chunks only cause
// more page faults: email-Enron squared takes longer with one chunk of 51 million products.
constexpr std::int64_t preferred_chunk_products = 1 << 22;

// As in row_wise.cpp. A chunk has enough blocks for all threads of a large machine.
constexpr std::int64_t products_per_block = 1 << 14;
constexpr std::int64_t rows_per_block = 1 << 14;

}  // namespace

template <Scalar Value, Index Idx>
EsscProduct<Value, Idx>::EsscProduct(const HostContext& context, const Csr<Value, Idx>& a,
                                     const Csr<Value, Idx>& b)
    : context_(context), a_(a), b_(b), row_ptr_(a.rows + 1, 0) {
  start_host_runtime(context.threads);
  const PhaseTimer analysis(context, "analysis");
  product_offsets_ = product_offsets(a, b);
  const std::int64_t most = max_chunk_products();
  cuts_ = cut_rows(product_offsets_, most, std::max<std::int64_t>(1, most));
}

/// Products per chunk. \throws Error (out_of_memory) a single row does not fit the budget
template <Scalar Value, Index Idx>
std::int64_t EsscProduct<Value, Idx>::max_chunk_products() const {
  const std::uint64_t budget = work_space_budget(context_);
  const std::int64_t longest = longest_row(product_offsets_);
  if (longest >= 0) {
    const std::int64_t most = product_offsets_[longest + 1] - product_offsets_[longest];
    if (const std::uint64_t bytes = most * bytes_per_product; bytes > budget)
      throw row_out_of_memory(longest, most, bytes, budget);
  }
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(preferred_chunk_products, budget / bytes_per_product));
}

template <Scalar Value, Index Idx>
std::optional<typename EsscProduct<Value, Idx>::Entries> EsscProduct<Value, Idx>::next() {
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
  if (context_.progress) {
    context_.progress("essc", static_cast<std::uint64_t>(product_offsets_[last]),
                      static_cast<std::uint64_t>(product_offsets_.back()));
  }
  return entries;
}

/// Writes the products of rows first .. last - 1.
template <Scalar Value, Index Idx>
void EsscProduct<Value, Idx>::expand(std::int64_t first, std::int64_t last) {
  const PhaseTimer timer(context_, "expansion");
  const auto bounds = std::span(product_offsets_).subspan(first, last - first + 1);
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
template <Scalar Value, Index Idx>
void EsscProduct<Value, Idx>::sort() {
  const PhaseTimer timer(context_, "sort");
  // Phases and progress are those of the product; those of the sort would be counted twice.
  Context context{context_};
  context.backend = Backend::host;
  context.progress = nullptr;
  context.report = nullptr;
  const std::span<const std::int64_t> bounds(offsets_);
  SegmentedSortOptions options;
  options.stable = true;
  segmented_sort(context, std::span(keys_), std::span(payload_), bounds.first(bounds.size() - 1),
                 bounds.subspan(1), options);
}

/// Sums the products of equal columns.
/// \param row_ptr  of the rows of the chunk; the first element is given, the others are written
template <Scalar Value, Index Idx>
typename EsscProduct<Value, Idx>::Entries EsscProduct<Value, Idx>::compress(
    std::span<std::int64_t> row_ptr) {
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

template <Scalar Value, Index Idx>
Value EsscProduct<Value, Idx>::product(std::int64_t i) const {
  if constexpr (sorts_indices) {
    return products_[payload_[i]];
  } else {
    return payload_[i];
  }
}

template <Scalar Value, Index Idx>
template <class Body>
void EsscProduct<Value, Idx>::for_each_chunk_row(const Body& body) const {
  for_each_row(HostContext{}, "", host_threads(), blocks_,
               [&](int, std::int64_t row) { body(row); });
}

template <Scalar Value, Index Idx>
WorkSpace EsscProduct<Value, Idx>::work_space(const HostContext& context, const ProductSize& size) {
  const std::uint64_t limit = work_space_budget(context);
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

#define INSTANTIATE(Value, Idx) template class EsscProduct<Value, Idx>;
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::host
