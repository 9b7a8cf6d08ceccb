// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/host/row_products.hpp"

#include <algorithm>
#include <numeric>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/result_arrays.hpp"
#include "core/host_memory.hpp"

namespace sortie::spgemm::host {

template <class Matrix>
std::vector<std::int64_t> product_offsets(const Matrix& a, const Matrix& b) {
  std::vector<std::int64_t> offsets;
  resize_for_overwrite(offsets, a.rows + 1);
  offsets[0] = 0;
  // Counting a row takes about 10 ns, so a block takes about 0.1 ms.
  constexpr std::int64_t rows_per_block = 1 << 13;
  for_each_block_of(a.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) offsets[row + 1] = products_of_row(a, b, row);
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

std::vector<std::int64_t> cut_rows(std::span<const std::int64_t> product_offsets,
                                   std::int64_t max_products, std::int64_t max_rows) {
  const auto rows = static_cast<std::int64_t>(product_offsets.size()) - 1;
  std::vector<std::int64_t> cuts{0};
  while (cuts.back() < rows) {
    const std::int64_t first = cuts.back();
    const auto begin = product_offsets.begin() + first + 1;
    const auto end = product_offsets.begin() + std::min(rows, first + max_rows) + 1;
    const auto fitting = std::upper_bound(begin, end, product_offsets[first] + max_products);
    cuts.push_back(first + std::max<std::int64_t>(1, fitting - begin));
  }
  return cuts;
}

LongestRow longest_row(std::span<const std::int64_t> product_offsets) {
  LongestRow longest;
  for (std::size_t row = 0; row + 1 < product_offsets.size(); ++row) {
    const std::int64_t products = product_offsets[row + 1] - product_offsets[row];
    if (row == 0 || products > longest.products)
      longest = {static_cast<std::int64_t>(row), products};
  }
  return longest;
}

std::uint64_t work_space_budget(const HostContext& context) {
  return context.memory_budget != 0 ? context.memory_budget : host_memory_available() / 2;
}

template std::vector<std::int64_t> product_offsets(const Pattern<std::int32_t>&,
                                                   const Pattern<std::int32_t>&);
template std::vector<std::int64_t> product_offsets(const Pattern<std::int64_t>&,
                                                   const Pattern<std::int64_t>&);

#define INSTANTIATE(Value, Idx)                                              \
  template std::vector<std::int64_t> product_offsets(const Csr<Value, Idx>&, \
                                                     const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::host
