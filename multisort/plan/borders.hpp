// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sortie::multisort::plan {

/// The begin of a destination in the order of the buckets.
struct Border {
  std::size_t bucket = 0;    ///< the bucket that holds the border, or begins at it
  std::uint64_t offset = 0;  ///< keys of that bucket before the border; 0 unless it is split
};

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
/// \return nothing if the bucket has to be divided first
template <class HasOneValue>
[[nodiscard]] std::optional<Border> place_border(std::span<const std::uint64_t> begins,
                                                 std::uint64_t ideal,
                                                 const BorderTolerance& tolerance,
                                                 const HasOneValue& has_one_value) {
  const std::size_t bucket = part_at(begins, ideal);
  if (bucket + 1 == begins.size()) return Border{bucket, 0};  // after all keys
  const std::uint64_t back = ideal - begins[bucket];
  const std::uint64_t forth = begins[bucket + 1] - ideal;
  const std::uint64_t nearest = std::min(back, forth);
  const bool one_value = has_one_value(bucket);
  const bool may_move = tolerance.largest_moved == 0 || one_value ||
                        begins[bucket + 1] - begins[bucket] <= tolerance.largest_moved;
  if (nearest == 0 || (nearest <= tolerance.padding && may_move))
    return Border{back <= forth ? bucket : bucket + 1, 0};
  if (one_value) return Border{bucket, back};
  return std::nullopt;
}

}  // namespace sortie::multisort::plan
