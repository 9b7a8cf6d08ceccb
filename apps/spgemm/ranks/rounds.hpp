// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "apps/spgemm/ranks/factors.hpp"
#include "apps/spgemm/ranks/matrix_type.hpp"
#include "cluster/rank_memory.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {

/// Divides the block of A into rounds, so that the rows of B for each take at most `limit` bytes.
/// \param first_row  number of the block's first row, for messages
/// \return first row of each round in the block, then the number of rows; at least one round
/// \throws Error (out_of_memory) a single row asks for more
/// Complexity: O(nnz(A)), sequential. Memory: 8 bytes for each row of B that is needed.
template <class Matrix>
[[nodiscard]] std::vector<std::int64_t> divide_into_rounds(const Matrix& a,
                                                           const NeededRows<Matrix>& needed,
                                                           std::uint64_t limit,
                                                           std::int64_t first_row) {
  const auto bytes_of_row = [&](std::uint64_t place) {
    return static_cast<std::uint64_t>(needed.lengths()[place]) * entry_bytes<Matrix> +
           sizeof(std::int64_t);
  };
  std::uint64_t all = 0;
  for (std::uint64_t place = 0; place < needed.lengths().size(); ++place)
    all += bytes_of_row(place);
  std::vector<std::int64_t> cuts{0};
  if (all > limit) {
    // The round, counted from 1, that has each needed row.
    std::vector<std::int64_t> round_of(needed.lengths().size(), 0);
    std::uint64_t bytes = 0;
    for (std::int64_t row = 0; row < a.rows; ++row) {
      const auto add_row = [&](std::int64_t round) {
        std::uint64_t added = 0;
        for (std::int64_t i = a.row_ptr[static_cast<std::size_t>(row)];
             i < a.row_ptr[static_cast<std::size_t>(row) + 1]; ++i) {
          const auto place =
              static_cast<std::size_t>(needed.columns()[static_cast<std::size_t>(i)]);
          if (round_of[place] == round) continue;
          round_of[place] = round;
          added += bytes_of_row(place);
        }
        return added;
      };
      bytes += add_row(static_cast<std::int64_t>(cuts.size()));
      if (bytes <= limit) continue;
      if (row > cuts.back()) {
        cuts.push_back(row);
        bytes = add_row(static_cast<std::int64_t>(cuts.size()));
        if (bytes <= limit) continue;
      }
      throw out_of_memory_error(fmt::format("the rows of B for row {} of A", first_row + row + 1),
                                bytes, limit);
    }
  }
  cuts.push_back(a.rows);
  return cuts;
}

/// The context of a product of this rank: what the fetched rows leave of the memory.
/// \param fetched  their bytes
[[nodiscard]] inline Context product_context(const Ranks& ranks, const Context& context,
                                             const RankMemory& memory, std::uint64_t fetched) {
  Context of_product = context;
  if (context.memory_budget != 0) {
    of_product.memory_budget -= std::min(fetched, context.memory_budget / 2);
  } else if (ranks.ranks_on_machine() > 1) {
    // Half, as without a budget: the other half is for C.
    const std::uint64_t left = memory.left();
    of_product.memory_budget = std::max<std::uint64_t>(1, (left - std::min(left, fetched)) / 2);
  }
  return of_product;
}

}  // namespace sortie::cluster
