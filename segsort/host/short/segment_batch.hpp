// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace sortie::segsort {

/// Some segments of at least two items, in ascending order of length.
struct ShortSegments {
  const std::uint64_t* begins;
  const std::uint32_t* lengths;
  std::size_t count;

  [[nodiscard]] ShortSegments from(std::size_t first) const {
    return {begins + first, lengths + first, count - first};
  }
  [[nodiscard]] ShortSegments leading(std::size_t segments) const {
    return {begins, lengths, segments};
  }
  /// Number of leading segments of `length` items.
  [[nodiscard]] [[gnu::always_inline]] std::size_t count_leading(std::size_t length) const {
    if (lengths[0] != length) return 0;
    if (lengths[count - 1] == length) return count;
    return static_cast<std::size_t>(std::upper_bound(lengths, lengths + count, length) - lengths);
  }
  /// Whether the segments, if they have `length` items each, follow each other without gaps.
  [[nodiscard]] [[gnu::always_inline]] bool are_adjacent(std::size_t length) const {
    std::uint64_t gaps = 0;
    for (std::size_t i = 1; i < count; ++i) gaps |= begins[i] - begins[i - 1] - length;
    return gaps == 0;
  }
  /// Whether sorting the segments, fewer than a tile has columns, is faster in a tile than one by
  /// one. A tile takes as long as if every column had the length of the longest.
  /// \param advantage  time per item one by one, relative to that in a full tile
  [[nodiscard]] bool fill_tile(std::size_t columns, std::size_t advantage) const {
    const auto items = std::accumulate(lengths, lengths + count, std::size_t{0});
    return advantage * items >= columns * lengths[count - 1];
  }
};

/// A list of fewer segments than a tile has columns, padded with leading empty segments.
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

/// Neighbouring segments that one thread sorts, the short ones binned by length.
///
/// Each change of length from one segment to the next would cost a mispredicted branch, as much
/// time as sorting ten items. Moreover, segments of equal length can be sorted together. Longer
/// segments keep their order. No branch in this class depends on a length. Memory: 24 KiB.
class SegmentBatch {
 public:
  /// Capacity in segments. Where most segments are short they average a few dozen items, so the
  /// items of a batch stay in the second-level cache whatever the order of access.
  static constexpr std::size_t capacity = 1024;

  /// Longest segment that can be binned.
  static constexpr std::size_t longest_binned = 256;

  /// \param longest_short  longest segment that counts as short, at most longest_binned
  explicit SegmentBatch(std::size_t longest_short) : longest_short_(longest_short) {}

  /// Replaces the contents by `count` segments.
  /// \param wanted  wanted(begin, length): false for a segment to be skipped
  template <class Offset, class Wanted>
  void assign(const Offset* begins, const Offset* ends, std::size_t count, Wanted wanted) {
    const std::uint64_t long_bin = longest_short_ + 1;
    for (std::size_t i = 0; i < count; ++i) {
      begins_[i] = begins[i];
      const std::uint64_t length = std::uint64_t{ends[i]} - begins[i];
      lengths_[i] = length;
      const auto bin = static_cast<std::uint16_t>(std::min(length, long_bin));
      bins_[i] = wanted(begins_[i], length) ? bin : 0;
    }
    bin(count);
  }

  /// Replaces the contents by `count` segments of equal length.
  template <class Offset>
  void assign_equal(const Offset* begins, std::size_t count, std::uint64_t length) {
    if (length <= longest_short_) {
      std::copy_n(begins, count, short_begins_.begin());
      std::fill_n(short_lengths_.begin(), count, static_cast<std::uint32_t>(length));
      num_short_ = count;
      num_long_ = 0;
      return;
    }
    std::copy_n(begins, count, begins_.begin());
    std::fill_n(lengths_.begin(), count, length);
    std::iota(order_.begin(), order_.begin() + count, std::uint16_t{0});
    first_long_ = 0;
    num_short_ = 0;
    num_long_ = count;
  }

  /// Sorts all segments.
  /// \param sort_short  called at most once, with the ShortSegments
  /// \param sort_long   called with (begin, length) of each longer segment
  template <class SortShort, class SortLong>
  void sort(SortShort sort_short, SortLong sort_long) const {
    if (num_short_ > 0)
      sort_short(ShortSegments{short_begins_.data(), short_lengths_.data(), num_short_});
    for (std::size_t i = first_long_; i < first_long_ + num_long_; ++i)
      sort_long(begins_[order_[i]], lengths_[order_[i]]);
  }

 private:
  /// Separates the segments into short ones, by length, and long ones.
  void bin(std::size_t count) {
    std::uint16_t last = 0;
    for (std::size_t i = 0; i < count; ++i) last = std::max(last, bins_[i]);
    // Two counters per bin, used alternately: reading a counter right after writing it stalls on
    // store forwarding.
    std::array<std::array<std::uint16_t, 2>, longest_binned + 2> next;
    std::fill_n(next.begin(), last + 1, std::array<std::uint16_t, 2>{0, 0});
    for (std::size_t i = 0; i < count; ++i) ++next[bins_[i]][i % 2];
    std::uint16_t sum = 0;
    std::size_t first_short = 0;
    first_long_ = count;
    for (std::size_t b = 0; b <= last; ++b) {
      if (b == 2) first_short = sum;
      if (b == longest_short_ + 1) first_long_ = sum;
      for (std::uint16_t& size : next[b])
        sum = static_cast<std::uint16_t>(sum + std::exchange(size, sum));
    }
    for (std::size_t i = 0; i < count; ++i)
      order_[next[bins_[i]][i % 2]++] = static_cast<std::uint16_t>(i);
    if (last < 2) first_short = first_long_;
    num_short_ = first_long_ - first_short;
    num_long_ = count - first_long_;
    for (std::size_t i = 0; i < num_short_; ++i) {
      short_begins_[i] = begins_[order_[first_short + i]];
      short_lengths_[i] = bins_[order_[first_short + i]];
    }
  }

  std::size_t longest_short_;
  std::size_t num_short_ = 0;
  std::size_t num_long_ = 0;
  std::size_t first_long_ = 0;  ///< in order_
  std::array<std::uint64_t, capacity> begins_;
  std::array<std::uint64_t, capacity> lengths_;
  /// Bin of each segment: its length if short, longest_short_ + 1 if long, 0 if skipped.
  std::array<std::uint16_t, capacity> bins_;
  std::array<std::uint16_t, capacity> order_;  ///< indices of segments, by bin
  std::array<std::uint64_t, capacity> short_begins_;
  std::array<std::uint32_t, capacity> short_lengths_;
};

}  // namespace sortie::segsort
