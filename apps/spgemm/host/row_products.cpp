// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/host/row_products.hpp"

#include <algorithm>
#include <numeric>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/result_arrays.hpp"
#include "core/host_runtime.hpp"

namespace sortie::spgemm::host {

namespace {

// Counting a row takes about 10 ns, so a block takes about 0.1 ms.
constexpr std::int64_t rows_per_block = 1 << 13;

}  // namespace

template <class Matrix>
std::vector<std::int64_t> product_offsets(const Matrix& a, const Matrix& b) {
  std::vector<std::int64_t> offsets;
  resize_for_overwrite(offsets, a.rows + 1);
  offsets[0] = 0;
  const std::int64_t blocks = (a.rows + rows_per_block - 1) / rows_per_block;
  for_each_block(host_threads(), 0, blocks, [&](int, std::int64_t block) {
    const std::int64_t end = std::min(a.rows, (block + 1) * rows_per_block);
    for (std::int64_t row = block * rows_per_block; row < end; ++row) {
      std::int64_t products = 0;
      for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
        const std::int64_t k = a.col_idx[i];
        products += b.row_ptr[k + 1] - b.row_ptr[k];
      }
      offsets[row + 1] = products;
    }
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

std::int64_t longest_row(std::span<const std::int64_t> product_offsets) {
  std::int64_t longest = -1;
  std::int64_t most = -1;
  for (std::size_t row = 0; row + 1 < product_offsets.size(); ++row) {
    const std::int64_t products = product_offsets[row + 1] - product_offsets[row];
    if (products > most) {
      most = products;
      longest = static_cast<std::int64_t>(row);
    }
  }
  return longest;
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
