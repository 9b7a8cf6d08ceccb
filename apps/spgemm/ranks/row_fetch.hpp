// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/ranks/matrix_type.hpp"
#include "apps/spgemm/ranks/row_requests.hpp"
#include "cluster/array_exchange.hpp"
#include "cluster/rank_memory.hpp"
#include "cluster/traffic_plan.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/cluster_spgemm.hpp"

namespace sortie::cluster {

/// Copies entries of rows, one row behind the other. On all threads.
/// \param rows     of the block whose offsets are `row_ptr`
/// \param offsets  where each of the rows begins in `to`, and the end
template <class T, matrices::Index Idx>
void copy_rows(std::span<const T> from, std::span<const std::int64_t> row_ptr,
               std::span<const Idx> rows, std::span<const std::int64_t> offsets, T* to) {
  constexpr std::size_t rows_per_task = std::size_t{1} << 12;
  for_each_range(rows.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      std::copy_n(from.data() + row_ptr[static_cast<std::size_t>(rows[i])],
                  offsets[i + 1] - offsets[i], to + offsets[i]);
  });
}

/// Which entries of B move for some requests: between ranks, and within this one.
template <matrices::Index Idx>
struct EntryRoutes {
  std::vector<std::int64_t> asked_offsets;  ///< of the entries of each asked row in what is sent
  std::vector<Idx> own_rows;                ///< wanted rows of this rank, from its first
  std::int64_t own_begin = 0;               ///< the first of them in `wanted`
  PartOffsets sent;                         ///< entries for each rank
  PartOffsets received;                     ///< entries of each rank

  /// \param row_ptr_b  of this rank's block of B
  /// \param wanted     offsets of the wanted rows in what arrives
  EntryRoutes(const RowRequests<Idx>& requests, std::span<const std::int64_t> row_ptr_b,
              std::int64_t first_row, int rank, std::span<const std::int64_t> wanted) {
    asked_offsets.reserve(requests.asked.size() + 1);
    asked_offsets.push_back(0);
    for (const Idx row : requests.asked) {
      const auto at = static_cast<std::size_t>(row);
      asked_offsets.push_back(asked_offsets.back() + row_ptr_b[at + 1] - row_ptr_b[at]);
    }
    for (const std::uint64_t at : requests.asked_by)
      sent.push_back(static_cast<std::uint64_t>(asked_offsets[at]));
    for (const std::uint64_t at : requests.wanted_of)
      received.push_back(static_cast<std::uint64_t>(wanted[at]));
    const auto [begin, end] = requests.own(rank);
    own_begin = static_cast<std::int64_t>(begin);
    for (std::uint64_t i = begin; i < end; ++i)
      own_rows.push_back(static_cast<Idx>(requests.wanted[i] - first_row));
  }

  /// Copies the items of the asked rows to `to_send`, and those of this rank's rows to `arrived`.
  template <class T>
  void pack(const RowRequests<Idx>& requests, std::span<const std::int64_t> row_ptr_b,
            std::span<const std::int64_t> wanted, std::span<const T> items, T* to_send,
            T* arrived) const {
    copy_rows(items, row_ptr_b, std::span<const Idx>(requests.asked),
              std::span<const std::int64_t>(asked_offsets), to_send);
    copy_rows(items, row_ptr_b, std::span<const Idx>(own_rows),
              wanted.subspan(static_cast<std::size_t>(own_begin), own_rows.size() + 1), arrived);
  }
};

/// Collective: the wanted rows of B as a matrix, in ascending order. Phase "pack rows".
/// \param lengths  of the wanted rows
template <class Matrix>
[[nodiscard]] Matrix fetch_rows(Ranks& ranks, TrafficPlan& plan, const RankMemory& memory,
                                const DividedMatrix<Matrix>& b,
                                const RowRequests<typename Matrix::index_type>& requests,
                                std::span<const typename Matrix::index_type> lengths) {
  using Idx = typename Matrix::index_type;
  Matrix fetched;
  std::vector<Idx> columns;
  std::optional<EntryRoutes<Idx>> routes;
  [[maybe_unused]] auto values = [&] {
    if constexpr (has_values<Matrix>) return decltype(Matrix::values){};
    if constexpr (!has_values<Matrix>) return 0;
  }();
  ranks.together("pack rows", [&] {
    fetched.rows = static_cast<std::int64_t>(lengths.size());
    fetched.cols = b.block.cols;
    fetched.row_ptr.assign(1, 0);
    fetched.row_ptr.reserve(lengths.size() + 1);
    for (const Idx length : lengths) fetched.row_ptr.push_back(fetched.row_ptr.back() + length);
    const std::span<const std::int64_t> row_ptr_b(b.block.row_ptr);
    routes.emplace(requests, row_ptr_b, b.first_rows[static_cast<std::size_t>(ranks.rank())],
                   ranks.rank(), fetched.row_ptr);
    const std::int64_t entries = fetched.row_ptr.back();
    const std::int64_t sent = routes->asked_offsets.back();
    const std::uint64_t fetched_bytes = static_cast<std::uint64_t>(entries) * entry_bytes<Matrix>;
    memory.require("rows of B that a rank fetches", {fetched_bytes});
    memory.require_for_others(
        "rows of B that move",
        fetched_bytes + static_cast<std::uint64_t>(sent) * entry_bytes<Matrix>);
    spgemm::host::resize_for_overwrite(fetched.col_idx, entries);
    spgemm::host::resize_for_overwrite(columns, sent);
    routes->pack(requests, row_ptr_b, fetched.row_ptr, std::span(b.block.col_idx), columns.data(),
                 fetched.col_idx.data());
    if constexpr (has_values<Matrix>) {
      spgemm::host::resize_for_overwrite(fetched.values, entries);
      spgemm::host::resize_for_overwrite(values, sent);
      routes->pack(requests, row_ptr_b, fetched.row_ptr, std::span(b.block.values), values.data(),
                   fetched.values.data());
    }
  });
  plan.add(routes->sent.back(), entry_bytes<Matrix>);
  ArrayExchange exchange(ranks, ArrayExchange::Own::left_out);
  exchange.send(std::span<const Idx>(columns), routes->sent);
  exchange.receive(std::span(fetched.col_idx), routes->received);
  if constexpr (has_values<Matrix>) {
    exchange.send(std::span<const typename Matrix::value_type>(values), routes->sent);
    exchange.receive(std::span(fetched.values), routes->received);
  }
  exchange.run();
  return fetched;
}

}  // namespace sortie::cluster
