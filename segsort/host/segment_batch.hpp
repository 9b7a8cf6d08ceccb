#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sortie/segsort/host/short_segments.hpp"

namespace sortie::segsort {

/// Neighbouring segments that one thread sorts, the short ones binned by length.
///
/// Lengths of short segments vary from one to the next, and each change costs a mispredicted
/// branch, as long as sorting ten items; and segments of one length can be sorted together. Longer
/// ones keep their order.
///
/// Memory: 28 KiB.
class SegmentBatch {
 public:
  /// Segments that a batch can hold. In the mean they have a few dozen items where most are short,
  /// so that the items of a batch stay in the second-level cache, in whatever order they are
  /// visited.
  static constexpr std::size_t capacity = 1024;

  /// Longest segment that can be binned.
  static constexpr std::size_t longest_binned = 256;

  [[nodiscard]] bool empty() const { return size_ == 0; }

  /// Adds the segment at `begin` where `wanted`, by arithmetic: whether a segment is empty or a
  /// single item is as hard to predict as its length. There must be room for it.
  void add_if(bool wanted, std::uint64_t begin, std::uint64_t length) {
    begins_[size_] = begin;
    lengths_[size_] = length;
    size_ += static_cast<std::size_t>(wanted);
  }

  /// Sorts all segments, of two items or more, and empties the batch, which must hold one.
  /// \param longest_short  at most longest_binned
  /// \param sort_short  called once at most, with the ShortSegments of up to that length
  /// \param sort_long   called with (begin, length) of each other segment
  template <class SortShort, class SortLong>
  void drain(std::size_t longest_short, SortShort sort_short, SortLong sort_long) {
    bin(longest_short);
    const std::size_t num_short = num_short_;
    if (num_short > 0) sort_short(ShortSegments{begins(), short_lengths_.data(), num_short});
    for (std::size_t i = 0; i < num_long_; ++i) sort_long(begins_[long_[i]], lengths_[long_[i]]);
    size_ = 0;
  }

 private:
  /// Where the begins of the short segments stand: as they were added where all are of one length.
  [[nodiscard]] const std::uint64_t* begins() const {
    return of_one_length_ ? begins_.data() : short_begins_.data();
  }

  /// Divides the segments into short_begins_ and short_lengths_, by length, and long_.
  void bin(std::size_t longest_short) {
    std::uint64_t shortest = lengths_[0];
    std::uint64_t longest = lengths_[0];
    for (std::size_t i = 1; i < size_; ++i) {
      shortest = std::min(shortest, lengths_[i]);
      longest = std::max(longest, lengths_[i]);
    }
    num_short_ = 0;
    num_long_ = 0;
    of_one_length_ = shortest == longest && longest <= longest_short;
    if (of_one_length_) {
      num_short_ = size_;
      std::fill_n(short_lengths_.begin(), size_, static_cast<std::uint32_t>(longest));
    } else if (shortest > longest_short) {
      num_long_ = size_;
      for (std::size_t i = 0; i < size_; ++i) long_[i] = static_cast<std::uint16_t>(i);
    } else {
      bin_by_length(longest_short, std::min<std::uint64_t>(longest, longest_short + 1));
    }
  }

  /// \param last_bin  of the longest segment; longest_short + 1 is the bin of the long ones
  void bin_by_length(std::size_t longest_short, std::size_t last_bin) {
    const auto bin_of = [&](std::size_t i) {
      return static_cast<std::size_t>(std::min<std::uint64_t>(lengths_[i], longest_short + 1));
    };
    // Two counts a bin, used by turns: one that has just been written cannot be read at once.
    std::array<std::array<std::uint16_t, 2>, longest_binned + 2> next;
    for (std::size_t b = 0; b <= last_bin; ++b) next[b] = {0, 0};
    for (std::size_t i = 0; i < size_; ++i) ++next[bin_of(i)][i % 2];
    std::uint16_t sum = 0;
    for (std::size_t b = 0; b <= last_bin; ++b) {
      if (b == longest_short + 1) {
        num_long_ = size_ - sum;
        break;
      }
      for (std::uint16_t& count : next[b]) {
        const auto start = sum;
        sum = static_cast<std::uint16_t>(sum + count);
        count = start;
      }
    }
    num_short_ = size_ - num_long_;
    std::size_t num_long = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const std::size_t b = bin_of(i);
      if (b > longest_short) {
        long_[num_long++] = static_cast<std::uint16_t>(i);
        continue;
      }
      const std::size_t to = next[b][i % 2]++;
      short_begins_[to] = begins_[i];
      short_lengths_[to] = static_cast<std::uint32_t>(lengths_[i]);
    }
  }

  std::size_t size_ = 0;
  std::size_t num_short_ = 0;
  std::size_t num_long_ = 0;
  bool of_one_length_ = false;
  std::array<std::uint64_t, capacity + 1> begins_;  ///< one more for a segment not wanted
  std::array<std::uint64_t, capacity + 1> lengths_;
  std::array<std::uint64_t, capacity> short_begins_;
  std::array<std::uint32_t, capacity> short_lengths_;
  std::array<std::uint16_t, capacity> long_;  ///< numbers of the long ones, in order
};

}  // namespace sortie::segsort
