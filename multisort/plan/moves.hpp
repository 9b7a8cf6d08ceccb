// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "multisort/plan/radix_partition.hpp"

namespace sortie::multisort::plan {

/// A contiguous range of items on a source, and its place on a destination.
struct Transfer {
  std::size_t source = 0;
  std::size_t destination = 0;
  std::uint64_t source_begin = 0;       ///< relative to the source's first item
  std::uint64_t destination_begin = 0;  ///< relative to the destination's first item
  std::uint64_t size = 0;
};

/// Every item is in exactly one transfer, and the transfers to a destination tile it.
struct Exchange {
  std::vector<std::vector<Transfer>> by_source;  ///< rotated
  std::vector<std::uint64_t> destination_sizes;
};

/// After a split of sorted sequences: each destination gets one run of each source, in their order.
/// \param splits  result of split_for_destinations()
[[nodiscard]] Exchange exchange_of_runs(std::span<const std::vector<std::uint64_t>> splits);

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
/// \param ranges             adjacent, ascending
/// \param counts             number of keys for each source and range; rows of `row` numbers
/// \param destination_sizes  keys that each destination should get; their sum is that of the counts
/// \return nothing if a border lies too far inside a range of several values
[[nodiscard]] std::optional<Division> divide(std::span<const KeyRange> ranges,
                                             std::span<const std::uint64_t> counts, std::size_t row,
                                             std::span<const std::uint64_t> destination_sizes,
                                             const BorderTolerance& tolerance);

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

/// \param most_groups     neighbouring ranges are fused into groups if there are more of them;
///                        groups do not reach over a border. \pre at least 4 * destinations
/// \param preferred_size  groups are not made larger than that unless there are too many
/// \param reaches         reaches(source, destination)
[[nodiscard]] MovePlan plan_moves(
    const Division& division, std::size_t most_groups, std::uint64_t preferred_size,
    const std::function<bool(std::size_t source, std::size_t destination)>& reaches);

}  // namespace sortie::multisort::plan
