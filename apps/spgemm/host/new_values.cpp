// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/host/new_values.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "core/host_runtime.hpp"

namespace sortie::spgemm::host {
namespace {

// As in structure.cpp.
constexpr std::int64_t products_in_block = 1 << 16;
constexpr std::int64_t rows_in_block = 1 << 14;

/// The sums of one thread.
template <Scalar Value, Index Idx>
class ValueRow {
 public:
  explicit ValueRow(std::int64_t cols) {
    reserve_large_pages(sums_, cols);
    sums_.resize(static_cast<std::size_t>(cols), additive_identity<Value>());
  }

  /// \param columns  of row `row` of C, `entries` of them
  void fill(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b, std::int64_t row,
            const Idx* columns, std::int64_t entries, Value* to) {
    if (a.row_ptr[row + 1] - a.row_ptr[row] <= 1) {
      Value* next = to;
      for_each_product(a, b, row, [&](Idx, Value product) { *next++ = product; });
    } else if (row == filled_row_ + 1 && is_as_before(a, row)) {
      // Consecutive rows are often equal, as in row_wise.hpp.
      std::copy_n(to - entries, entries, to);
    } else {
      Value* const sums = sums_.data();
      for_each_product(a, b, row, [&](Idx column, Value product) { sums[column] += product; });
      for (std::int64_t i = 0; i < entries; ++i)
        to[i] = std::exchange(sums[columns[i]], additive_identity<Value>());
    }
    filled_row_ = row;
  }

 private:
  static bool is_as_before(const Csr<Value, Idx>& a, std::int64_t row) {
    const std::int64_t* const begins = a.row_ptr.data() + row;
    const std::int64_t length = begins[1] - begins[0];
    if (begins[0] - begins[-1] != length) return false;
    const Idx* const columns = a.col_idx.data();
    const Value* const values = a.values.data();
    return std::memcmp(columns + begins[-1], columns + begins[0],
                       static_cast<std::size_t>(length) * sizeof(Idx)) == 0 &&
           std::memcmp(values + begins[-1], values + begins[0],
                       static_cast<std::size_t>(length) * sizeof(Value)) == 0;
  }

  std::vector<Value> sums_;
  std::int64_t filled_row_ = -2;  ///< matches no row
};

}  // namespace

template <Scalar Value, Index Idx>
void compute_values(const HostContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                    const std::int64_t* row_ptr, const Idx* col_idx, Value* values) {
  const std::uint64_t bytes =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(b.cols) * sizeof(Value));
  const std::uint64_t budget = work_space_budget(context);
  const auto workers = static_cast<int>(
      std::min<std::uint64_t>(budget / bytes, static_cast<std::uint64_t>(host_threads())));
  if (workers == 0) throw out_of_memory_error("the sums of a row of C", bytes, budget);
  std::vector<ValueRow<Value, Idx>> rows;
  for (int worker = 0; worker < workers; ++worker) rows.emplace_back(b.cols);
  const std::vector<std::int64_t> cuts =
      cut_rows(product_offsets(a, b), products_in_block, rows_in_block);
  for_each_row(context, "multiply", workers, cuts, [&](int worker, std::int64_t row) {
    rows[static_cast<std::size_t>(worker)].fill(
        a, b, row, col_idx + row_ptr[row], row_ptr[row + 1] - row_ptr[row], values + row_ptr[row]);
  });
}

#define INSTANTIATE(Value, Idx)                                                                    \
  template void compute_values(const HostContext&, const Csr<Value, Idx>&, const Csr<Value, Idx>&, \
                               const std::int64_t*, const Idx*, Value*);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::host
