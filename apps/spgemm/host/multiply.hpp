// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/essc.hpp"
#include "apps/spgemm/host/row_wise.hpp"
#include "core/phase_timer.hpp"

/// Compiled once for each type of values: CMakeLists.txt lists the instances of functions().
namespace sortie::spgemm::host {

/// Returns finish(product) for the Product of an algorithm, where finish() calls product.next()
/// until all rows are done.
/// \param max_entries  of the rows that row_wise computes at a time
template <Scalar Value, Index Idx, class Finish>
auto with_product(const HostContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                  Algorithm algorithm, std::int64_t max_entries, const Finish& finish) {
  if (algorithm == Algorithm::essc) return finish(EsscProduct<Value, Idx>(context, a, b));
  return finish(RowWiseProduct<Value, Idx>(context, a, b, max_entries));
}

/// Concatenates the entries of the parts. Each part is freed as soon as it is copied, to keep peak
/// memory close to the size of the result.
template <class Entries, Scalar Value, Index Idx>
void join(std::vector<Entries>& parts, std::int64_t entries, Csr<Value, Idx>& c) {
  reserve_large_pages(c.col_idx, entries);
  reserve_large_pages(c.values, entries);
  for (Entries& part : parts) {
    const Entries rows = std::move(part);
    c.col_idx.insert(c.col_idx.end(), rows.col_idx.begin(), rows.col_idx.end());
    c.values.insert(c.values.end(), rows.values.begin(), rows.values.end());
  }
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                         Algorithm algorithm) {
  constexpr std::int64_t all_at_once = std::numeric_limits<std::int64_t>::max();
  return with_product(context, a, b, algorithm, all_at_once, [&](auto&& product) {
    Csr<Value, Idx> c{a.rows, b.cols, {}, {}, {}};
    take_all_rows(product, c, [&](auto& parts, std::int64_t entries, Csr<Value, Idx>& all) {
      const PhaseTimer timer(context, product.last_phase);
      join(parts, entries, all);
    });
    return c;
  });
}

template <Scalar Value, Index Idx>
void multiply_in_chunks(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                        const ProductSink<Value, Idx>& sink, Algorithm algorithm) {
  // Large enough to occupy all threads and to make the cost of a call negligible.
  constexpr std::uint64_t preferred_chunk_bytes = std::uint64_t{256} << 20;
  const std::uint64_t chunk_bytes =
      context.memory_budget != 0 ? context.memory_budget : preferred_chunk_bytes;
  const auto max_entries = static_cast<std::int64_t>(chunk_bytes / (sizeof(Idx) + sizeof(Value)));
  with_product(context, a, b, algorithm, max_entries, [&](auto&& product) {
    pass_rows(
        product, b.cols, sink, [&](auto& entries, std::int64_t first_row, Csr<Value, Idx>& rows) {
          std::copy_n(product.row_ptr().begin() + first_row, rows.rows + 1, rows.row_ptr.begin());
          rows.col_idx = std::move(entries.col_idx);
          rows.values = std::move(entries.values);
        });
  });
}

template <Scalar Value, Index Idx>
WorkSpace work_space(const Context& context, const ProductSize& size, Algorithm algorithm) {
  return algorithm == Algorithm::essc ? EsscProduct<Value, Idx>::work_space(context, size)
                                      : RowWiseProduct<Value, Idx>::work_space(context, size);
}

template <Scalar Value, Index Idx>
BackendFunctions<Value, Idx> functions() {
  return {multiply<Value, Idx>, multiply_in_chunks<Value, Idx>, work_space<Value, Idx>};
}

}  // namespace sortie::spgemm::host
