// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "multisort/plan/borders.hpp"
#include "multisort/plan/key_tree.hpp"

namespace sortie::multisort::plan {

/// All keys, cut into ranges that are assigned to destinations.
struct Division {
  struct Range {
    KeyRange keys;                      ///< that it may hold
    std::vector<std::uint64_t> counts;  ///< keys of it on each source
    std::uint64_t size = 0;             ///< sum of counts
  };
  std::vector<Range> ranges;                     ///< in ascending order of keys; some may be empty
  std::vector<std::uint64_t> destination_sizes;  ///< keys that each destination gets
};

[[nodiscard]] Division division_of(const RadixPartition& partition);

/// Divides keys by ranges that were chosen from a sample and then counted.
/// \param ranges             adjacent ranges of keys, ascending
/// \param counts             number of keys for each source and range; rows of `row` numbers
/// \param destination_sizes  keys that each destination should get; their sum is that of the counts
/// \return nothing if a border lies too far inside a range of several values
[[nodiscard]] std::optional<Division> divide(std::span<const KeyRange> ranges,
                                             std::span<const std::uint64_t> counts, std::size_t row,
                                             std::span<const std::uint64_t> destination_sizes,
                                             const BorderTolerance& tolerance);

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
[[nodiscard]] std::vector<std::vector<SortTask>> sort_tasks(const RadixPartition& partition,
                                                            std::uint64_t small);

}  // namespace sortie::multisort::plan
