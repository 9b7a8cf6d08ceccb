// SPDX-License-Identifier: Apache-2.0
#include "multisort/plan/memory.hpp"

#include <algorithm>

#include "sortie/error.hpp"

namespace sortie::multisort::plan {

std::uint64_t MemoryPlan::runs(std::uint64_t items) const {
  return items / chunk_items + (items % chunk_items != 0 ? 1 : 0);
}

std::uint64_t MemoryPlan::merge_rounds(std::uint64_t runs) const {
  std::uint64_t rounds = 0;
  for (; runs > 1; runs = runs / runs_merged + (runs % runs_merged != 0 ? 1 : 0)) ++rounds;
  return rounds;
}

std::uint64_t transfer_buffer_bytes(std::uint64_t budget) {
  return std::min(largest_transfer_buffer_bytes, budget / 4);
}

MemoryPlan plan_memory(std::uint64_t item_bytes, std::uint64_t budget) {
  if (budget < smallest_budget_bytes)
    throw out_of_memory_error("sort beyond memory", smallest_budget_bytes, budget);
  MemoryPlan plan;
  const std::uint64_t half = (budget - transfer_buffer_bytes(budget)) / 2;
  plan.chunk_items = half / item_bytes;
  plan.runs_merged = std::max<std::uint64_t>(2, half / smallest_block_bytes);
  plan.block_items = half / plan.runs_merged / item_bytes;
  plan.output_items = half / item_bytes;
  return plan;
}

}  // namespace sortie::multisort::plan
