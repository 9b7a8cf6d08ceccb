// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sortie::multisort::plan {

/// How far a border may be moved.
struct BorderTolerance {
  std::uint64_t padding = 0;  ///< keys by which it may miss its place (the paper's epsilon)
  /// Most keys of a bucket of several values that a border may be moved out of; 0: no limit.
  std::uint64_t largest_moved = 0;
};

/// The bucket or destination that holds a position of the sorted array: of several that begin
/// there the last one, since the others are empty; their number at the end of the array.
/// \param begins  begin of each part in the sorted array, and the end of the array
[[nodiscard]] inline std::size_t part_at(std::span<const std::uint64_t> begins,
                                         std::uint64_t position) {
  const auto next = std::upper_bound(begins.begin(), begins.end(), position);
  return static_cast<std::size_t>(next - begins.begin()) - 1;
}

/// Places a border whose ideal position is `ideal`: at the nearest end of a bucket if that is near
/// enough; else inside the bucket, if it holds a single value. Placement preserves the order of
/// borders.
/// \param has_one_value  has_one_value(bucket): whether all keys of the bucket are equal
/// \return the border's position; nothing if the bucket has to be divided first
template <class HasOneValue>
[[nodiscard]] std::optional<std::uint64_t> place_border(std::span<const std::uint64_t> begins,
                                                        std::uint64_t ideal,
                                                        const BorderTolerance& tolerance,
                                                        const HasOneValue& has_one_value) {
  if (ideal == begins.back()) return ideal;
  const std::size_t bucket = part_at(begins, ideal);
  const std::uint64_t begin = begins[bucket];
  const std::uint64_t end = begins[bucket + 1];
  const std::uint64_t nearest = ideal - begin <= end - ideal ? begin : end;
  const std::uint64_t distance = std::min(ideal - begin, end - ideal);
  const bool one_value = has_one_value(bucket);
  const bool may_move =
      tolerance.largest_moved == 0 || one_value || end - begin <= tolerance.largest_moved;
  if (distance == 0 || (distance <= tolerance.padding && may_move)) return nearest;
  if (one_value) return ideal;
  return std::nullopt;
}

}  // namespace sortie::multisort::plan
