// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "multisort/plan/division.hpp"
#include "multisort/plan/exchange.hpp"

namespace sortie::multisort::plan {

/// Neighbouring ranges of keys that are moved, and sorted, together.
struct MoveGroup {
  std::size_t first_bucket = 0;  ///< index of a range
  std::size_t end_bucket = 0;
  std::uint64_t begin = 0;  ///< of its keys in the sorted array
  std::uint64_t size = 0;
  KeyRange keys;  ///< that it may hold
};

/// Destination of the items of a group from one source.
struct MovePlace {
  std::uint64_t size = 0;  ///< items of the group that the source has
  /// False: moved to `destination`. True: staged in a buffer at the source and transferred later.
  bool is_staged = false;
  std::size_t destination = 0;
  std::uint64_t begin = 0;  ///< position among the destination's, or the staged, items
};

/// How each source moves its items straight to their destinations.
///
/// Two kinds of items are staged at their source instead: those for a destination that the source
/// does not reach, and those of a bucket of equal keys that a border splits, because all items of a
/// group from one source go to one place.
struct MovePlan {
  std::vector<std::uint64_t> destination_begins;  ///< in the sorted array; at last its end
  std::vector<MoveGroup> groups;
  std::vector<std::vector<MovePlace>> places;    ///< of each source, for each group
  std::vector<std::uint64_t> staged;             ///< items of each source
  std::vector<std::vector<Transfer>> transfers;  ///< of each source's staged items
};

/// Plans the moves after keys have been divided.
/// \param most_groups     neighbouring ranges are fused into groups if there are more of them;
///                        groups do not reach over a border. \pre at least 4 * destinations
/// \param preferred_size  groups are not made larger than that unless there are too many
/// \param reaches         reaches(source, destination)
[[nodiscard]] MovePlan plan_moves(
    const Division& division, std::size_t most_groups, std::uint64_t preferred_size,
    const std::function<bool(std::size_t source, std::size_t destination)>& reaches);

/// The exchange after a radix partition: each source holds its keys in the order of the buckets,
/// and each destination gets its buckets in order, the keys of a bucket in the order of the
/// sources, so that equal keys keep their order. \pre partition.refinements().empty()
[[nodiscard]] Exchange exchange_of_buckets(const RadixPartition& partition);

}  // namespace sortie::multisort::plan
