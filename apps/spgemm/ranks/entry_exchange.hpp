// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/ranks/row_division.hpp"
#include "apps/spgemm/ranks/text_entries.hpp"
#include "cluster/array_exchange.hpp"
#include "cluster/rank_memory.hpp"
#include "cluster/traffic_plan.hpp"
#include "core/host_runtime.hpp"
#include "matrices/row_assembly.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/cluster_spgemm.hpp"

/// From entries in any order to rows: each entry goes to the rank of its row.
namespace sortie::cluster {

/// What an entry and a row weigh in the division of a matrix that is read: their bytes, in words.
inline constexpr std::uint64_t entry_weight = 3;
inline constexpr std::uint64_t row_weight = 2;

/// Groups of 2^shift rows, and the rank of each.
struct RowOwners {
  int shift = 0;
  std::vector<std::uint32_t> rank_of;  ///< of each group

  [[nodiscard]] std::size_t group_of(std::int64_t row) const {
    return static_cast<std::size_t>(row >> shift);
  }
  [[nodiscard]] std::size_t rank(std::int64_t row) const { return rank_of[group_of(row)]; }
};

/// Calls visit(row, column, slot, is_mirrored) for every entry and its mirror image, in file order.
template <class Value, class Idx, class Visit>
void for_each_entry(const TextEntries<Value, Idx>& entries, bool mirrored, bool transposed,
                    const Visit& visit) {
  const Idx* const rows = transposed ? entries.store.cols.get() : entries.store.rows.get();
  const Idx* const cols = transposed ? entries.store.rows.get() : entries.store.cols.get();
  for (const matrices::detail::EntryRange& range : entries.ranges) {
    for (std::int64_t slot = range.begin; slot < range.end; ++slot) {
      const Idx row = rows[slot];
      const Idx col = cols[slot];
      visit(row, col, slot, false);
      if (mirrored && row != col) visit(col, row, slot, true);
    }
  }
}

/// Collective: divides the rows so that the bytes of the blocks are about equal.
template <class Value, class Idx>
[[nodiscard]] RowOwners divide_by_entries(Ranks& ranks, const TextEntries<Value, Idx>& entries,
                                          std::int64_t rows, bool mirrored, bool transposed,
                                          std::vector<std::int64_t>& first_rows) {
  RowOwners owners;
  const std::uint64_t most = groups_per_rank * static_cast<std::uint64_t>(ranks.size());
  while ((static_cast<std::uint64_t>(rows) >> owners.shift) >= most) ++owners.shift;
  const std::int64_t length = std::int64_t{1} << owners.shift;
  const auto count = static_cast<std::size_t>((rows + length - 1) / length);
  std::vector<std::uint64_t> in_group;
  ranks.together("count entries", [&] {
    in_group.resize(count);
    for_each_entry(entries, mirrored, transposed,
                   [&](Idx row, Idx, std::int64_t, bool) { ++in_group[owners.group_of(row)]; });
  });
  ranks.reduce_all(in_group, Reduction::sum);
  std::vector<RowGroup> groups;
  for (std::size_t group = 0; group < count; ++group) {
    const std::int64_t first = static_cast<std::int64_t>(group) << owners.shift;
    groups.push_back(
        {first, in_group[group] * entry_weight +
                    static_cast<std::uint64_t>(std::min(length, rows - first)) * row_weight});
  }
  first_rows = divide_rows(groups, rows, ranks.size());
  std::uint32_t rank = 0;
  for (const RowGroup& group : groups) {
    while (group.first_row >= first_rows[rank + 1]) ++rank;
    owners.rank_of.push_back(rank);
  }
  return owners;
}

/// Entries as three arrays, in parts for each rank.
template <class Value, class Idx>
struct EntryArrays {
  std::vector<Idx> rows;
  std::vector<Idx> cols;
  std::vector<Value> values;  ///< empty for a pattern
  PartOffsets offsets;

  void resize(PartOffsets parts, bool numbers) {
    offsets = std::move(parts);
    const auto count = static_cast<std::int64_t>(offsets.back());
    spgemm::host::resize_for_overwrite(rows, count);
    spgemm::host::resize_for_overwrite(cols, count);
    if (numbers) spgemm::host::resize_for_overwrite(values, count);
  }
};

/// Collective: the rows of this rank, as one machine builds them: duplicates summed in file order.
template <class Value, class Idx>
[[nodiscard]] DividedMatrix<matrices::Csr<Value, Idx>> build_rows(
    Ranks& ranks, const HostContext& context, TrafficPlan& plan, RankMemory& memory,
    TextEntries<Value, Idx> entries, const matrices::MatrixMarketHeader& header, bool transposed) {
  using matrices::detail::assemble_rows;
  const bool mirrored = header.symmetry != matrices::Symmetry::general;
  const bool numbers = header.field != matrices::Field::pattern;
  const std::int64_t rows = transposed ? header.cols : header.rows;
  const std::int64_t cols = transposed ? header.rows : header.cols;
  const auto own = static_cast<std::size_t>(ranks.rank());
  DividedMatrix<matrices::Csr<Value, Idx>> matrix;
  const RowOwners owners =
      divide_by_entries(ranks, entries, rows, mirrored, transposed, matrix.first_rows);
  EntryArrays<Value, Idx> out;
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(ranks.size()));
  constexpr std::uint64_t entry = 2 * sizeof(Idx) + sizeof(Value);
  const std::uint64_t parsed = entries.bytes;
  const std::uint64_t all =
      static_cast<std::uint64_t>(header.entries) * (mirrored ? 2 : 1) * entry;  // at most
  ranks.together("divide entries", [&] {
    for_each_entry(entries, mirrored, transposed,
                   [&](Idx row, Idx, std::int64_t, bool) { ++counts[owners.rank(row)]; });
    PartOffsets parts = begins_of(counts);
    memory.take("the entries that a rank sends", {parts.back() * entry, all});
    PartOffsets next = parts;
    out.resize(std::move(parts), numbers);
    for_each_entry(
        entries, mirrored, transposed, [&](Idx row, Idx col, std::int64_t slot, bool is_mirrored) {
          const std::uint64_t to = next[owners.rank(row)]++;
          out.rows[to] = row;
          out.cols[to] = col;
          if (!numbers) return;
          const Value value = entries.store.values[slot];
          out.values[to] = is_mirrored ? matrices::detail::mirrored(value, header.symmetry) : value;
        });
    entries = {};
  });
  memory.release(parsed);
  plan.add_counts();
  const std::vector<std::uint64_t> arriving = ranks.exchange_counts(counts);
  EntryArrays<Value, Idx> in;
  ranks.together("receive entries", [&] {
    PartOffsets parts = begins_of(arriving);
    memory.take("the entries that a rank receives", {parts.back() * entry, all});
    in.resize(std::move(parts), numbers);
  });
  plan.add(out.offsets.back() - counts[own], 2 * sizeof(Idx) + (numbers ? sizeof(Value) : 0));
  ArrayExchange exchange(ranks);
  exchange.send(std::span<const Idx>(out.rows), out.offsets);
  exchange.receive(std::span(in.rows), in.offsets);
  exchange.send(std::span<const Idx>(out.cols), out.offsets);
  exchange.receive(std::span(in.cols), in.offsets);
  if (numbers) {
    exchange.send(std::span<const Value>(out.values), out.offsets);
    exchange.receive(std::span(in.values), in.offsets);
  }
  exchange.run();
  memory.release(out.offsets.back() * entry);
  out = {};
  ranks.together("build rows", [&] {
    const std::int64_t first = matrix.first_rows[own];
    for (Idx& row : in.rows) row -= static_cast<Idx>(first);
    const int parts = threads_of(context);
    const auto ranges =
        matrices::detail::even_ranges(static_cast<std::int64_t>(in.rows.size()), parts);
    const matrices::detail::EntryList<Value, Idx> list{
        in.rows.data(), in.cols.data(), numbers ? in.values.data() : nullptr, ranges};
    matrix.block = assemble_rows(matrix.first_rows[own + 1] - first, cols, list,
                                 matrices::Symmetry::general, parts);
  });
  return matrix;
}

}  // namespace sortie::cluster
