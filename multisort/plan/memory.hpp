// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

#include "sortie/error.hpp"

namespace sortie::multisort::plan {

/// Bytes of a block: a system call for less takes longer than its bytes, and a block that was
/// merged should still be in the cache when it is written.
inline constexpr std::uint64_t largest_block_bytes = std::uint64_t{1} << 20;
/// Blocks of a worker while runs are merged: merged items, the records made of them, and records
/// that a second thread reads.
inline constexpr std::uint64_t blocks_per_worker = 3;
/// Another worker is not worth smaller blocks than this.
inline constexpr std::uint64_t smallest_worker_block_bytes = std::uint64_t{64} << 10;
/// Of each run two slots are in memory. If both together are smaller than 256 KiB, reading them
/// takes longer than another merge round.
inline constexpr std::uint64_t smallest_slot_bytes = std::uint64_t{128} << 10;
inline constexpr std::uint64_t smallest_budget_bytes = std::uint64_t{64} << 10;

/// Bounds of the work space of the sort in place (multisort/host/in_place_sort.hpp): bytes for each
/// thread, and items for which a byte is needed. A test compares them with what the sort says.
inline constexpr std::uint64_t in_place_thread_bytes = std::uint64_t{8} << 20;
inline constexpr std::uint64_t in_place_items_per_byte = 16;

/// What the sort of items in memory needs beside them.
enum class SortScratch {
  copy,   ///< as many items
  small,  ///< the bounds above, or a copy where that is less
};

/// What a plan depends on.
struct MemoryRequest {
  std::uint64_t item_bytes = 0;
  std::uint64_t budget = 0;   ///< bytes
  std::uint64_t threads = 1;  ///< at least 1
  SortScratch scratch = SortScratch::copy;
};

/// How to sort more items than memory holds: chunks that fit are sorted and spilled as runs, then
/// runs are merged (Gowanlock and Karsin's heterogeneous sort, with files instead of host memory).
///
/// | memory  | items                   | while chunks are sorted   | while runs are merged        |
/// |---------|-------------------------|---------------------------|------------------------------|
/// | chunks  | 2 chunk_items           | one is sorted; the other  | slots, two for each run, and |
/// |         |                         | is spilled and read       | perhaps the last run         |
/// | scratch | scratch_for()           | of the sort               | none                         |
/// | blocks  | 3 workers * block_items | records of a block        | see blocks_per_worker        |
struct MemoryPlan {
  std::uint64_t workers = 1;       ///< threads that convert, merge and write blocks
  std::uint64_t block_items = 1;   ///< items of a block
  std::uint64_t memory_items = 0;  ///< most items that are sorted without spilling
  std::uint64_t chunk_items = 0;   ///< most items of a chunk; there are two chunks
  std::uint64_t item_memory = 0;   ///< bytes for the items and the scratch of the sort
  std::uint64_t slot_items = 1;    ///< fewest items of a slot

  /// Bytes for the scratch of a sort beside so many items.
  [[nodiscard]] std::uint64_t scratch_for(std::uint64_t items, std::uint64_t item_bytes) const {
    return item_memory - items * item_bytes;
  }
  /// Chunks of so many items.
  [[nodiscard]] std::uint64_t runs(std::uint64_t items) const {
    return items / chunk_items + (items % chunk_items != 0 ? 1 : 0);
  }
  /// Runs that are merged at a time in the memory of `items` items; each has two slots. At least 2.
  [[nodiscard]] std::uint64_t runs_merged(std::uint64_t items) const {
    return std::max<std::uint64_t>(2, items / (2 * slot_items));
  }
};

/// Plans for a memory budget.
///
/// Blocks take at most a quarter of the budget. The rest holds two chunks and the scratch of the
/// sort: three equal parts if that is a copy. Items that are sorted without spilling are in memory
/// once, with their scratch.
/// \throws Error (out_of_memory) a budget below smallest_budget_bytes
[[nodiscard]] inline MemoryPlan plan_memory(const MemoryRequest& request) {
  if (request.budget < smallest_budget_bytes)
    throw out_of_memory_error("sort beyond memory", smallest_budget_bytes, request.budget);
  MemoryPlan plan;
  const std::uint64_t for_blocks = request.budget / 4 / blocks_per_worker;
  plan.workers =
      std::clamp<std::uint64_t>(for_blocks / smallest_worker_block_bytes, 1, request.threads);
  const std::uint64_t block_bytes = std::min(largest_block_bytes, for_blocks / plan.workers);
  plan.block_items = std::max<std::uint64_t>(1, block_bytes / request.item_bytes);

  const std::uint64_t rest = request.budget - blocks_per_worker * plan.workers * block_bytes;
  plan.item_memory = rest;
  plan.memory_items = rest / 2 / request.item_bytes;
  plan.chunk_items = rest / 3 / request.item_bytes;
  const std::uint64_t for_threads = request.threads * in_place_thread_bytes;
  if (request.scratch == SortScratch::small && for_threads < rest) {
    const std::uint64_t group_bytes = request.item_bytes * in_place_items_per_byte + 1;
    const std::uint64_t items = (rest - for_threads) / group_bytes * in_place_items_per_byte;
    plan.memory_items = std::max(plan.memory_items, items);
    plan.chunk_items = std::max(plan.chunk_items, items / 2);
  }
  // With little memory, smaller ones, so that two runs fit.
  const std::uint64_t slot_bytes =
      std::min(smallest_slot_bytes, plan.chunk_items * request.item_bytes / 2);
  plan.slot_items = std::max<std::uint64_t>(1, slot_bytes / request.item_bytes);
  return plan;
}

}  // namespace sortie::multisort::plan
