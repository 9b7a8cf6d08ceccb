// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/ranks/index_set.hpp"
#include "apps/spgemm/ranks/row_requests.hpp"
#include "cluster/device_share.hpp"
#include "cluster/traffic_plan.hpp"
#include "core/host_runtime.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {

/// \throws Error (input) A's columns are not as many as B's rows; (usage) the operands are not
///         divided among these ranks
template <class Matrix>
void check_operands(const Ranks& ranks, const DividedMatrix<Matrix>& a,
                    const DividedMatrix<Matrix>& b) {
  spgemm::check_shapes(a.rows(), a.block.cols, b.rows(), b.block.cols);
  const auto own = static_cast<std::size_t>(ranks.rank());
  for (const DividedMatrix<Matrix>* matrix : {&a, &b}) {
    const bool has_blocks = matrix->first_rows.size() == static_cast<std::size_t>(ranks.size()) + 1;
    if (has_blocks && matrix->first_rows[own + 1] - matrix->first_rows[own] == matrix->block.rows)
      continue;
    throw Error(ErrorKind::usage,
                "found a matrix divided among other ranks, expected one of divided()");
  }
}

/// Ranks::together() for work with loops of primitives/host/parallel.hpp. Ranks of one process do it
/// at the same time, each on its part of the threads.
template <class Work>
void together_on_own_threads(Ranks& ranks, const HostContext& context, std::string_view phase,
                             const Work& work) {
  if (!ranks.share_memory()) return ranks.together(phase, work);
  ranks.on_devices(phase, [&] {
    const OwnThreads threads(copy_threads(ranks, context));
    work();
  });
}

/// The rows of B that the block of A asks for, and their lengths.
template <class Matrix>
class NeededRows {
 public:
  using Idx = typename Matrix::index_type;

  /// Collective: finds them and asks for their lengths. Phases "find rows" and those of
  /// row_requests.hpp.
  NeededRows(Ranks& ranks, const HostContext& context, TrafficPlan& plan, RankMemory& memory,
             const DividedMatrix<Matrix>& a, const DividedMatrix<Matrix>& b)
      : places_(0) {
    std::vector<Idx> wanted;
    together_on_own_threads(ranks, context, "find rows", [&] {
      check_operands(ranks, a, b);
      if (!ranks.share_memory()) start_host_runtime(context.threads);
      memory.take("the rows of B that a rank asks for", {static_cast<std::uint64_t>(b.rows()) / 4});
      places_ = IndexSet(b.rows());
      places_.insert(std::span(a.block.col_idx));
      places_.close();
      wanted = places_.template list<Idx>();
      columns_ = places_.places_of(std::span(a.block.col_idx));
    });
    requests_ = request_rows(ranks, plan, memory, std::move(wanted), b.first_rows);
    lengths_ = request_lengths(ranks, plan, requests_, std::span(b.block.row_ptr),
                               b.first_rows[static_cast<std::size_t>(ranks.rank())]);
  }

  [[nodiscard]] const RowRequests<Idx>& requests() const { return requests_; }
  /// Of requests().wanted.
  [[nodiscard]] const std::vector<Idx>& lengths() const { return lengths_; }
  /// The columns of A's block as places in requests().wanted.
  [[nodiscard]] const std::vector<Idx>& columns() const { return columns_; }
  [[nodiscard]] std::vector<Idx> take_columns() { return std::move(columns_); }
  [[nodiscard]] Idx length_of(Idx row) const {
    return lengths_[places_.place_of(static_cast<std::uint64_t>(row))];
  }

  /// Scalar products of each row of the block of A. On all threads.
  [[nodiscard]] std::vector<std::uint64_t> products(const Matrix& a) const {
    std::vector<std::uint64_t> products(static_cast<std::size_t>(a.rows));
    constexpr std::size_t rows_per_task = std::size_t{1} << 13;
    for_each_range(products.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        std::uint64_t sum = 0;
        for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i)
          sum += static_cast<std::uint64_t>(
              lengths_[static_cast<std::size_t>(columns_[static_cast<std::size_t>(i)])]);
        products[row] = sum;
      }
    });
    return products;
  }

 private:
  IndexSet places_;
  RowRequests<Idx> requests_;
  std::vector<Idx> lengths_;
  std::vector<Idx> columns_;
};

}  // namespace sortie::cluster
