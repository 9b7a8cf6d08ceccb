#pragma once

#include <cstdint>

namespace sortie::multisort::plan {

/// How to sort more items than memory holds: chunks that fit are sorted and put aside as runs, then
/// runs are merged (Gowanlock and Karsin's heterogeneous sort, with files for host memory).
struct MemoryPlan {
  std::uint64_t chunk_items = 0;   ///< items sorted at a time
  std::uint64_t runs_merged = 0;   ///< runs merged at a time, 2 at least
  std::uint64_t block_items = 0;   ///< items of each run that are in memory while it is merged
  std::uint64_t output_items = 0;  ///< merged items that are in memory

  /// Runs that `items` items give.
  [[nodiscard]] std::uint64_t runs(std::uint64_t items) const;
  /// How often all items are merged until one run is left.
  [[nodiscard]] std::uint64_t merge_rounds(std::uint64_t runs) const;
};

/// Plans for a memory budget.
///
/// A buffer to read and write through is put aside. A chunk takes half of the rest for its items
/// and half for the scratch of the sort; a merge, half for blocks of the runs and half for what was
/// merged. A block is not made smaller than smallest_block_bytes as long as that leaves two runs:
/// reading smaller pieces takes longer than merging in one more round.
///
/// \param item_bytes  bytes of a key and its value
/// \param budget      bytes that may be taken
/// \throws Error (out_of_memory) a budget that does not hold the buffer and a few items
[[nodiscard]] MemoryPlan plan_memory(std::uint64_t item_bytes, std::uint64_t budget);

/// Bytes that a file is read and written by, beside the items; with little memory, a quarter of it.
[[nodiscard]] std::uint64_t transfer_buffer_bytes(std::uint64_t budget);

inline constexpr std::uint64_t largest_transfer_buffer_bytes = std::uint64_t{4} << 20;
inline constexpr std::uint64_t smallest_block_bytes = std::uint64_t{256} << 10;
inline constexpr std::uint64_t smallest_budget_bytes = std::uint64_t{64} << 10;

}  // namespace sortie::multisort::plan
