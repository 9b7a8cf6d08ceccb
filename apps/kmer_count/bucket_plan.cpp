// SPDX-License-Identifier: Apache-2.0
#include "apps/kmer_count/bucket_plan.hpp"

#include <algorithm>

namespace sortie::kmers {
namespace {

/// Cells of a bucket whose counts are known.
constexpr std::size_t most_counted_cells = std::size_t{1} << 14;
/// Of a pass, so that 15 bits hold their numbers.
constexpr std::size_t most_buckets = 0x7000;

std::size_t size_of_table(int bits) {
  return std::size_t{1} << std::min(bits, CellTree::most_bits);
}

}  // namespace

CellTree::CellTree(int k) {
  const std::size_t size = size_of_table(2 * k);
  tables_.push_back({.first = 0, .shift = std::max(0, 2 * k - most_bits)});
  tables_[0].counts.resize(size);
}

std::vector<Cell> CellTree::cells() const {
  std::vector<Cell> cells;
  append_cells(tables_[0], cells);
  return cells;
}

void CellTree::append_cells(const Table& table, std::vector<Cell>& cells) const {
  for (std::size_t i = 0; i < table.counts.size(); ++i) {
    if (!table.below.empty() && table.below[i] != 0) {
      append_cells(tables_[table.below[i]], cells);
    } else if (table.counts[i] != 0) {
      cells.push_back({table.first | DoubleWord{i} << table.shift, table.shift, table.counts[i]});
    }
  }
}

std::size_t CellTree::divide(std::uint64_t most_items, std::size_t tables) {
  const std::size_t first = tables_.size();
  const std::size_t end = std::min(first + tables, most_tables);
  for (std::size_t t = 0; t < first; ++t) {
    const int shift = tables_[t].shift;
    if (shift == 0) continue;
    for (std::size_t i = 0; i < tables_[t].counts.size() && tables_.size() < end; ++i) {
      const bool is_divided = !tables_[t].below.empty() && tables_[t].below[i] != 0;
      if (is_divided || tables_[t].counts[i] <= most_items) continue;
      tables_[t].below.resize(tables_[t].counts.size());
      tables_[t].below[i] = static_cast<std::uint16_t>(tables_.size());
      Table below{.first = tables_[t].first | DoubleWord{i} << shift,
                  .shift = std::max(0, shift - most_bits)};
      below.counts.resize(size_of_table(shift));
      tables_.push_back(std::move(below));
    }
  }
  return first;
}

KmerRouter CellTree::empty_router() const {
  KmerRouter router;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    KmerRouter::Table table{tables_[t].shift, tables_[t].counts.size() - 1, {}};
    table.numbers.assign(tables_[t].counts.size(), KmerRouter::none);
    for (std::size_t i = 0; i < tables_[t].below.size(); ++i) {
      if (tables_[t].below[i] != 0)
        table.numbers[i] = static_cast<std::uint16_t>(KmerRouter::deep + tables_[t].below[i]);
    }
    router.tables_.push_back(std::move(table));
  }
  return router;
}

KmerRouter CellTree::router(std::span<const std::pair<Cell, std::uint16_t>> numbers) const {
  KmerRouter router = empty_router();
  for (const auto& [cell, number] : numbers) {
    std::size_t t = 0;
    while (true) {
      const std::size_t i = tables_[t].index(cell.first);
      if (tables_[t].below.empty() || tables_[t].below[i] == 0) {
        router.tables_[t].numbers[i] = number;
        break;
      }
      t = tables_[t].below[i];
    }
  }
  router.root_ = router.tables_[0];
  return router;
}

KmerRouter CellTree::router_to_tables(std::size_t first) const {
  KmerRouter router = empty_router();
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    for (std::size_t i = 0; i < tables_[t].below.size(); ++i) {
      if (tables_[t].below[i] >= first)
        router.tables_[t].numbers[i] = static_cast<std::uint16_t>(tables_[t].below[i] - first);
    }
  }
  router.root_ = router.tables_[0];
  return router;
}

std::vector<std::vector<Bucket>> plan_passes(std::span<const Cell> cells,
                                             const BucketLimits& limits) {
  std::vector<std::vector<Bucket>> passes;
  const auto aligned = [&](std::uint64_t items) {
    return (items + limits.alignment - 1) / limits.alignment * limits.alignment;
  };
  for (std::size_t begin = 0; begin < cells.size();) {
    // The cells of the pass: each may begin a bucket, which is aligned.
    std::uint64_t taken = 0;
    std::uint64_t items = 0;
    std::size_t end = begin;
    for (; end < cells.size(); ++end) {
      if (cells[end].shift == 0) continue;
      const std::uint64_t more = aligned(cells[end].items);
      if (taken + more > limits.pass_items && items != 0) break;
      taken += more;
      items += cells[end].items;
    }
    const std::uint64_t most =
        std::clamp(items / std::max<std::uint64_t>(limits.buckets, 1), std::uint64_t{1} << 12,
                   std::max(limits.bucket_items, std::uint64_t{1} << 12));
    std::vector<Bucket>& pass = passes.emplace_back();
    std::uint64_t place = 0;
    for (; begin < end; ++begin) {
      const Cell& cell = cells[begin];
      const bool is_counted = cell.shift == 0;
      const auto continues = [&] {
        if (pass.empty() || pass.back().is_counted != is_counted) return false;
        const Bucket& last = pass.back();
        if (is_counted) return last.end_cell - last.first_cell < most_counted_cells;
        const DoubleWord range =
            cell.first + (DoubleWord{1} << cell.shift) - cells[last.first_cell].first;
        return last.items + cell.items <= most &&
               width_of<DoubleWord>(range - 1) <= limits.range_bits;
      };
      if (!continues()) {
        if (pass.size() == most_buckets) break;
        place = aligned(place);
        pass.push_back({begin, begin, place, 0, is_counted});
      }
      pass.back().end_cell = begin + 1;
      pass.back().items += cell.items;
      if (!is_counted) place += cell.items;
    }
  }
  return passes;
}

}  // namespace sortie::kmers
