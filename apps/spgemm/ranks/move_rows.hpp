// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/ranks/matrix_type.hpp"
#include "cluster/array_exchange.hpp"
#include "cluster/rank_memory.hpp"
#include "cluster/traffic_plan.hpp"
#include "sortie/cluster_spgemm.hpp"

namespace sortie::cluster {

/// Rows of block `from` of this rank that are in the blocks `to` of each rank, as offsets in `from`.
[[nodiscard]] inline PartOffsets shared_rows(std::span<const std::int64_t> from, int rank,
                                             std::span<const std::int64_t> to) {
  const auto at = static_cast<std::size_t>(rank);
  PartOffsets offsets;
  for (const std::int64_t border : to)
    offsets.push_back(
        static_cast<std::uint64_t>(std::clamp(border, from[at], from[at + 1]) - from[at]));
  return offsets;
}

/// Collective: redistributes the rows. Phases "count rows" and "receive rows".
/// \param first_rows  of the new blocks, the same on all ranks
/// Memory: a copy of the block. Rows are sent from where they are.
template <class Matrix>
[[nodiscard]] DividedMatrix<Matrix> move_rows(Ranks& ranks, TrafficPlan& plan, RankMemory& memory,
                                              DividedMatrix<Matrix> from,
                                              std::vector<std::int64_t> first_rows) {
  using Idx = typename Matrix::index_type;
  if (from.first_rows == first_rows) return from;
  const Matrix& block = from.block;
  const int rank = ranks.rank();
  const PartOffsets rows_out = shared_rows(from.first_rows, rank, first_rows);
  const PartOffsets rows_in = shared_rows(first_rows, rank, from.first_rows);
  DividedMatrix<Matrix> to{std::move(first_rows), {}};
  to.block.cols = block.cols;
  to.block.rows = static_cast<std::int64_t>(rows_in.back());
  std::vector<Idx> lengths;
  std::vector<Idx> new_lengths;
  PartOffsets entries_out;
  PartOffsets entries_in;
  ranks.on_devices("count rows", [&] {
    lengths.resize(static_cast<std::size_t>(block.rows));
    for (std::size_t row = 0; row < lengths.size(); ++row)
      lengths[row] = static_cast<Idx>(block.row_ptr[row + 1] - block.row_ptr[row]);
    new_lengths.resize(rows_in.back());
    for (const std::uint64_t row : rows_out)
      entries_out.push_back(static_cast<std::uint64_t>(block.row_ptr[row]));
  });
  const auto own = static_cast<std::size_t>(rank);
  plan.add(rows_out.back() - (rows_out[own + 1] - rows_out[own]), sizeof(Idx));
  plan.add(entries_out.back() - (entries_out[own + 1] - entries_out[own]), entry_bytes<Matrix>);
  ArrayExchange of_lengths(ranks);
  of_lengths.send(std::span<const Idx>(lengths), rows_out);
  of_lengths.receive(std::span(new_lengths), rows_in);
  of_lengths.run();
  const std::uint64_t all = ranks.sum(entries_out.back());
  ranks.on_devices("receive rows", [&] {
    to.block.row_ptr.assign(1, 0);
    to.block.row_ptr.reserve(new_lengths.size() + 1);
    for (const Idx length : new_lengths)
      to.block.row_ptr.push_back(to.block.row_ptr.back() + length);
    for (const std::uint64_t row : rows_in)
      entries_in.push_back(static_cast<std::uint64_t>(to.block.row_ptr[row]));
    memory.take("the rows of a rank",
                {entries_in.back() * entry_bytes<Matrix>, all * entry_bytes<Matrix>});
    spgemm::host::resize_for_overwrite(to.block.col_idx, to.block.row_ptr.back());
    if constexpr (has_values<Matrix>)
      spgemm::host::resize_for_overwrite(to.block.values, to.block.row_ptr.back());
  });
  ArrayExchange of_entries(ranks);
  of_entries.send(std::span(block.col_idx), entries_out);
  of_entries.receive(std::span(to.block.col_idx), entries_in);
  if constexpr (has_values<Matrix>) {
    of_entries.send(std::span(block.values), entries_out);
    of_entries.receive(std::span(to.block.values), entries_in);
  }
  of_entries.run();
  return to;
}

}  // namespace sortie::cluster
