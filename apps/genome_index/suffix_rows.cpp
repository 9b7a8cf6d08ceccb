// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/suffix_rows.hpp"

#include <algorithm>
#include <vector>

#include "apps/suffix_array/backends.hpp"

namespace sortie::genomes {
namespace {

/// Rows of a block: enough for all threads, and few beside the text.
constexpr std::uint64_t block_rows = std::uint64_t{1} << 22;

}  // namespace

template <suffix_array::Position Pos>
void for_each_rows(const Context& context, const suffix_array::TextView& text, RowOrder order,
                   const VisitRows<Pos>& visit) {
  const std::vector<Pos> suffixes = suffix_array::build<Pos>(context, text);
  const std::span<const Pos> rows(suffixes);
  const std::uint64_t blocks = (rows.size() + block_rows - 1) / block_rows;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t first = (order == RowOrder::ascending ? i : blocks - 1 - i) * block_rows;
    visit(first, rows.subspan(first, std::min(block_rows, rows.size() - first)));
  }
}

std::uint64_t memory_of_rows(std::uint64_t symbols) {
  std::uint64_t position = sizeof(std::uint64_t);
  with_position_type(symbols, [&](auto type) { position = sizeof(type); });
  return symbols * position * 25 / 8;
}

template void for_each_rows(const Context&, const suffix_array::TextView&, RowOrder,
                            const VisitRows<std::uint32_t>&);
template void for_each_rows(const Context&, const suffix_array::TextView&, RowOrder,
                            const VisitRows<std::uint64_t>&);

}  // namespace sortie::genomes
