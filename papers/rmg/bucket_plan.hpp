// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "multisort/plan/moves.hpp"
#include "primitives/host/parallel.hpp"

/// What follows a radix partition in RMG sort: one exchange of whole buckets, and the sorts of each
/// destination's buckets.
namespace sortie::multisort::plan {

/// The exchange after a radix partition: each source holds its keys in the order of the buckets,
/// and each destination gets its buckets in order, the keys of a bucket in the order of the
/// sources, so that equal keys keep their order. \pre partition.refinements().empty()
[[nodiscard]] inline Exchange exchange_of_buckets(const RadixPartition& partition) {
  // The transfers of moves that reach nothing: all items are staged, bucket by bucket.
  const Division division = division_of(partition);
  MovePlan moves = plan_moves(division, division.ranges.size(), division.ranges.size(),
                              [](std::size_t, std::size_t) { return false; });
  return {std::move(moves.transfers), division.destination_sizes};
}

/// Whether fewer items of an exchange would change their device if the devices held the destinations
/// in descending order: of keys that are nearly in reverse order none would.
[[nodiscard]] inline bool is_mirrored(const Exchange& exchange) {
  const std::size_t last = exchange.destination_sizes.size() - 1;
  std::uint64_t kept = 0;
  std::uint64_t kept_mirrored = 0;
  for (const std::vector<Transfer>& transfers : exchange.by_source) {
    for (const Transfer& transfer : transfers) {
      if (transfer.destination == transfer.source) kept += transfer.size;
      if (transfer.destination == last - transfer.source) kept_mirrored += transfer.size;
    }
  }
  return kept_mirrored > kept;
}

/// A range of a destination that has to be sorted by its lowest `remaining_bits` bits.
struct SortTask {
  std::uint64_t begin = 0;  ///< first key, counted from the begin of the destination
  std::uint64_t size = 0;
  int remaining_bits = 0;  ///< 0: all keys are equal
};

/// The tasks of each destination after the exchange (sections 3.3 and 4.4): its buckets,
/// neighbours fused as long as they hold at most `small` keys together. Fusing extends the bits to
/// be sorted up to the highest one in which the prefixes differ.
/// \pre partition.refinements().empty()
[[nodiscard]] inline std::vector<std::vector<SortTask>> sort_tasks(const RadixPartition& partition,
                                                                   std::uint64_t small) {
  const std::vector<std::uint64_t> begins = begins_of(partition.destination_sizes());
  std::vector<std::vector<SortTask>> all(partition.destination_sizes().size());
  std::vector<std::uint64_t> least(all.size());  // key of the last task of each destination
  std::uint64_t position = 0;
  for (const Division::Range& range : division_of(partition).ranges) {
    for (const std::uint64_t end = position + range.size; position < end;) {
      const std::size_t d = part_at(begins, position);
      const std::uint64_t size = std::min(end, begins[d + 1]) - position;
      if (!all[d].empty() && all[d].back().size + size <= small) {
        all[d].back().size += size;
      } else {
        all[d].push_back({position - begins[d], size});
        least[d] = range.keys.least;
      }
      all[d].back().remaining_bits =
          static_cast<int>(std::bit_width(least[d] ^ range.keys.greatest));
      position += size;
    }
  }
  return all;
}

/// A task in parts of equal bits and nearly equal sizes, of at most `most` keys each: sorted ones have
/// to be merged. A task that is no larger, or whose keys are equal, is not split. \pre most > 0
[[nodiscard]] inline std::vector<SortTask> split_task(const SortTask& task, std::uint64_t most) {
  if (task.size <= most || task.remaining_bits == 0) return {task};
  std::vector<SortTask> parts;
  std::uint64_t begin = task.begin;
  for (const std::uint64_t size : EqualShares{task.size, (task.size - 1) / most + 1}.sizes()) {
    parts.push_back({begin, size, task.remaining_bits});
    begin += size;
  }
  return parts;
}

}  // namespace sortie::multisort::plan
