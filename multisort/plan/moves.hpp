#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sortie/multisort/plan/division.hpp"
#include "sortie/multisort/plan/exchange.hpp"

namespace sortie::multisort::plan {

/// Neighbouring stretches of keys that are moved, and sorted, together.
struct MoveGroup {
  std::size_t first_bucket = 0;  ///< number of a stretch
  std::size_t end_bucket = 0;
  std::uint64_t begin = 0;  ///< of its keys in the sorted array
  std::uint64_t size = 0;
  KeyRange keys;  ///< that it may hold
};

/// Where the items of a group that come from one source go.
struct MovePlace {
  bool is_empty = true;  ///< the source has no items of the group
  /// False: to `destination`. True: to room of the source's own, from where transfers bring them
  /// on.
  bool is_parked = false;
  std::size_t destination = 0;
  std::uint64_t begin = 0;  ///< counted from the begin of the destination's, or of the parked items
};

/// How each source moves its items straight to their destinations.
///
/// Two kinds of items are parked with their source instead: those of a destination that it does not
/// reach, and those of a bucket of equal keys that a border splits, for within a group all items of
/// a source go to one place.
struct MovePlan {
  std::vector<std::uint64_t> destination_begins;  ///< in the sorted array; at last its end
  std::vector<MoveGroup> groups;
  std::vector<std::vector<MovePlace>> places;    ///< of each source, for each group
  std::vector<std::uint64_t> parked;             ///< items of each source
  std::vector<std::vector<Transfer>> transfers;  ///< of each source's parked items
};

/// Plans the moves after keys have been divided.
/// \param most_groups     neighbouring stretches become one group where there are more of them;
///                        groups do not reach over a border. \pre at least 4 * destinations
/// \param preferred_size  groups are not made larger than that unless there are too many
/// \param reaches         reaches(source, destination)
[[nodiscard]] MovePlan plan_moves(
    const Division& division, std::size_t most_groups, std::uint64_t preferred_size,
    const std::function<bool(std::size_t source, std::size_t destination)>& reaches);

}  // namespace sortie::multisort::plan
