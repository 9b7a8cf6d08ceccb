// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/host/row_products.hpp"

#include <algorithm>

#include "core/host_memory.hpp"

namespace sortie::spgemm::host {

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

}  // namespace sortie::spgemm::host
