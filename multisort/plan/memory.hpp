// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

#include "sortie/error.hpp"

namespace sortie::multisort::plan {

inline constexpr std::uint64_t largest_transfer_buffer_bytes = std::uint64_t{4} << 20;
inline constexpr std::uint64_t smallest_block_bytes = std::uint64_t{256} << 10;
inline constexpr std::uint64_t smallest_budget_bytes = std::uint64_t{64} << 10;

/// How to sort more items than memory holds: chunks that fit are sorted and spilled as runs, then
/// runs are merged (Gowanlock and Karsin's heterogeneous sort, with files instead of host memory).
struct MemoryPlan {
  std::uint64_t chunk_items = 0;   ///< items sorted at a time
  std::uint64_t runs_merged = 0;   ///< runs merged at a time, at least 2
  std::uint64_t block_items = 0;   ///< items of each run that are in memory while it is merged
  std::uint64_t output_items = 0;  ///< merged items that are in memory

  [[nodiscard]] std::uint64_t runs(std::uint64_t items) const {
    return items / chunk_items + (items % chunk_items != 0 ? 1 : 0);
  }
};

/// Bytes of the transfer buffer for files; with little memory, a quarter of the budget.
[[nodiscard]] inline std::uint64_t transfer_buffer_bytes(std::uint64_t budget) {
  return std::min(largest_transfer_buffer_bytes, budget / 4);
}

/// Plans for a memory budget.
///
/// A transfer buffer for files is reserved first. A chunk takes half of the rest for its items and
/// half for the scratch of the sort; a merge, half for blocks of the runs and half for merged
/// items. A block has at least smallest_block_bytes if two runs fit: smaller reads take longer than
/// another merge round.
/// \throws Error (out_of_memory) a budget that does not hold the buffer and a few items
[[nodiscard]] inline MemoryPlan plan_memory(std::uint64_t item_bytes, std::uint64_t budget) {
  if (budget < smallest_budget_bytes)
    throw out_of_memory_error("sort beyond memory", smallest_budget_bytes, budget);
  const std::uint64_t half = (budget - transfer_buffer_bytes(budget)) / 2;
  const std::uint64_t runs_merged = std::max<std::uint64_t>(2, half / smallest_block_bytes);
  return {half / item_bytes, runs_merged, half / runs_merged / item_bytes, half / item_bytes};
}

}  // namespace sortie::multisort::plan
