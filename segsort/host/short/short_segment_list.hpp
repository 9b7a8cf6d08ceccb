// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sortie::segsort {

/// Some segments of at least two items, in ascending order of length.
struct ShortSegments {
  const std::uint64_t* begins;
  const std::uint32_t* lengths;
  std::size_t count;
};

namespace detail {

/// Whether segments of `length` items each follow each other without gaps.
[[nodiscard]] [[gnu::always_inline]] inline bool are_adjacent(const std::uint64_t* begins,
                                                              std::size_t count,
                                                              std::size_t length) {
  std::uint64_t gaps = 0;
  for (std::size_t i = 1; i < count; ++i) gaps |= begins[i] - begins[i - 1] - length;
  return gaps == 0;
}

/// Returns how many leading segments have `length` items.
[[nodiscard]] [[gnu::always_inline]] inline std::size_t count_leading(const ShortSegments& segments,
                                                                      std::size_t length) {
  if (segments.lengths[0] != length) return 0;
  if (segments.lengths[segments.count - 1] == length) return segments.count;
  std::size_t count = 1;
  while (segments.lengths[count] == length) ++count;
  return count;
}

/// The segments from `first` on.
[[nodiscard]] inline ShortSegments drop_first(const ShortSegments& segments, std::size_t first) {
  return {segments.begins + first, segments.lengths + first, segments.count - first};
}

/// Pads a list of fewer segments than a tile has columns with leading empty segments.
template <std::size_t Columns>
struct PaddedSegments {
  explicit PaddedSegments(const ShortSegments& segments) {
    const std::size_t empty = Columns - segments.count;
    begins.fill(segments.begins[0]);
    lengths.fill(0);
    std::copy_n(segments.begins, segments.count, begins.begin() + empty);
    std::copy_n(segments.lengths, segments.count, lengths.begin() + empty);
  }
  std::array<std::uint64_t, Columns> begins;
  std::array<std::uint32_t, Columns> lengths;
};

/// Whether sorting the given segments, fewer than a tile has columns, is faster in a tile than one
/// by one. A tile takes as long as if every column had the length of the longest.
/// \param advantage  time per item one by one, relative to that in a full tile
[[nodiscard]] inline bool fills_a_tile(const ShortSegments& segments, std::size_t columns,
                                       std::size_t advantage) {
  std::size_t items = 0;
  for (std::size_t i = 0; i < segments.count; ++i) items += segments.lengths[i];
  return advantage * items >= columns * segments.lengths[segments.count - 1];
}

}  // namespace detail
}  // namespace sortie::segsort
