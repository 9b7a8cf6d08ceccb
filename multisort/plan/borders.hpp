#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sortie::multisort::plan {

/// Where a destination begins in the order of the buckets.
struct Border {
  std::size_t bucket = 0;  ///< the bucket that it lies in or in front of
  std::uint64_t offset =
      0;  ///< keys of that bucket before the border; 0 unless the bucket is split
};

/// How far a border may be moved.
struct BorderTolerance {
  std::uint64_t padding = 0;  ///< keys by which it may miss its place (the paper's epsilon)
  /// Keys of a bucket of several values that it may be moved out of, at most; 0: any number.
  std::uint64_t largest_moved = 0;
};

/// The bucket that position `ideal` of the sorted array lies in; their number where it is the end.
/// \param begins  of the buckets in the sorted array, and at last its end
[[nodiscard]] inline std::size_t bucket_at(std::span<const std::uint64_t> begins,
                                           std::uint64_t ideal) {
  const auto next = std::upper_bound(begins.begin(), begins.end(), ideal);
  return static_cast<std::size_t>(next - begins.begin()) - 1;
}

/// Places a border that should lie at `ideal`: at the nearest end of a bucket where that is near
/// enough; else inside the bucket, if it holds a single value. A border further on never lands on
/// a place further back: both go to the nearest end of a bucket, or stay where they are between two
/// of them.
/// \param has_one_value  has_one_value(bucket)
/// \return nothing where the bucket has to be divided first
template <class HasOneValue>
[[nodiscard]] std::optional<Border> place_border(std::span<const std::uint64_t> begins,
                                                 std::uint64_t ideal,
                                                 const BorderTolerance& tolerance,
                                                 const HasOneValue& has_one_value) {
  const std::size_t bucket = bucket_at(begins, ideal);
  if (bucket + 1 == begins.size()) return Border{bucket, 0};  // behind all keys
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
