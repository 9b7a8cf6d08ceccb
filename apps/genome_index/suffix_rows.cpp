// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/suffix_rows.hpp"

#include <algorithm>
#include <vector>

#include "apps/suffix_array/host/build/range_build.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"

namespace sortie::genomes {
namespace {

/// Rows of a block: enough for all threads, and few beside the text.
constexpr std::uint64_t block_rows = std::uint64_t{1} << 20;

}  // namespace

template <suffix_array::Position Pos>
void for_each_rows(const Context& context, const suffix_array::TextView& text, RowOrder order,
                   const VisitRows<Pos>& visit) {
  const auto visit_blocks = [&](std::uint64_t first, std::span<const Pos> rows) {
    const std::uint64_t blocks = (rows.size() + block_rows - 1) / block_rows;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const std::uint64_t at = (order == RowOrder::ascending ? i : blocks - 1 - i) * block_rows;
      visit(first + at, rows.subspan(at, std::min<std::uint64_t>(block_rows, rows.size() - at)));
    }
  };
  const bool in_ranges = resolve_backend(context) == Backend::host &&
                         host_memory_limit(context) < memory_of_rows(text.size());
  if (in_ranges) {
    start_host_runtime(context.threads);
    suffix_array::host::build_in_ranges<Pos>(context, text, order == RowOrder::descending,
                                             visit_blocks);
    return;
  }
  const std::vector<Pos> suffixes = suffix_array::build<Pos>(context, text);
  visit_blocks(0, suffixes);
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
