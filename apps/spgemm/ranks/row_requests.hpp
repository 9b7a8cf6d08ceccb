// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cluster/array_exchange.hpp"
#include "cluster/rank_memory.hpp"
#include "cluster/traffic_plan.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/cluster.hpp"
#include "sortie/csr.hpp"

namespace sortie::cluster {

/// Rows of a divided matrix that this rank needs, and those of its own that others need.
template <matrices::Index Idx>
struct RowRequests {
  std::vector<Idx> wanted;  ///< row numbers, ascending, those of this rank included
  PartOffsets wanted_of;    ///< of the parts of `wanted` that each rank has
  std::vector<Idx>
      asked;  ///< rows of this rank, from its first, that others want; ascending for each
  PartOffsets asked_by;  ///< of the parts of `asked` that each rank wants; empty for this rank

  /// Rows that other ranks send.
  [[nodiscard]] std::uint64_t rows_from_others(int rank) const {
    const auto own = static_cast<std::size_t>(rank);
    return wanted.size() - (wanted_of[own + 1] - wanted_of[own]);
  }
  /// Where the rows of this rank are in `wanted`: first and end.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> own(int rank) const {
    return {wanted_of[static_cast<std::size_t>(rank)],
            wanted_of[static_cast<std::size_t>(rank) + 1]};
  }
};

/// Collective: sends row requests to the owners of the rows. Phase "ask for rows".
/// \param first_rows  of the matrix, as in DividedMatrix
template <matrices::Index Idx>
[[nodiscard]] RowRequests<Idx> request_rows(Ranks& ranks, TrafficPlan& plan,
                                            const RankMemory& memory, std::vector<Idx> wanted,
                                            std::span<const std::int64_t> first_rows) {
  RowRequests<Idx> requests;
  requests.wanted = std::move(wanted);
  const std::vector<Idx>& rows = requests.wanted;
  std::vector<std::uint64_t> counts;
  for (const std::int64_t border : first_rows) {
    const auto at = std::lower_bound(rows.begin(), rows.end(), border,
                                     [](Idx row, std::int64_t end) { return row < end; });
    requests.wanted_of.push_back(static_cast<std::uint64_t>(at - rows.begin()));
  }
  for (std::size_t rank = 0; rank + 1 < first_rows.size(); ++rank) {
    const bool is_own = rank == static_cast<std::size_t>(ranks.rank());
    counts.push_back(is_own ? 0 : requests.wanted_of[rank + 1] - requests.wanted_of[rank]);
  }
  plan.add_counts();
  requests.asked_by = begins_of(ranks.exchange_counts(counts));
  ranks.on_devices("ask for rows", [&] {
    memory.require_for_others("row numbers that ranks ask for",
                              requests.asked_by.back() * sizeof(Idx));
    requests.asked.resize(requests.asked_by.back());
  });
  plan.add(requests.rows_from_others(ranks.rank()), sizeof(Idx));
  ArrayExchange exchange(ranks, ArrayExchange::Own::left_out);
  exchange.send(std::span<const Idx>(rows), requests.wanted_of);
  exchange.receive(std::span(requests.asked), requests.asked_by);
  exchange.run();
  const auto first = static_cast<Idx>(first_rows[static_cast<std::size_t>(ranks.rank())]);
  for (Idx& row : requests.asked) row -= first;
  return requests;
}

/// Collective: the lengths of the wanted rows. Phase "look up lengths".
/// \param row_ptr  of this rank's block
template <matrices::Index Idx>
[[nodiscard]] std::vector<Idx> request_lengths(Ranks& ranks, TrafficPlan& plan,
                                               const RowRequests<Idx>& requests,
                                               std::span<const std::int64_t> row_ptr,
                                               std::int64_t first_row) {
  std::vector<Idx> answers;
  std::vector<Idx> lengths;
  // A row has at most as many entries as columns, so its length is an Idx.
  const auto length_of = [&](std::int64_t row) {
    const auto at = static_cast<std::size_t>(row);
    return static_cast<Idx>(row_ptr[at + 1] - row_ptr[at]);
  };
  ranks.on_devices("look up lengths", [&] {
    answers.reserve(requests.asked.size());
    for (const Idx row : requests.asked) answers.push_back(length_of(row));
    lengths.resize(requests.wanted.size());
    const auto [begin, end] = requests.own(ranks.rank());
    for (std::uint64_t i = begin; i < end; ++i)
      lengths[i] = length_of(requests.wanted[i] - first_row);
  });
  plan.add(answers.size(), sizeof(Idx));
  ArrayExchange exchange(ranks, ArrayExchange::Own::left_out);
  exchange.send(std::span<const Idx>(answers), requests.asked_by);
  exchange.receive(std::span(lengths), requests.wanted_of);
  exchange.run();
  return lengths;
}

}  // namespace sortie::cluster
