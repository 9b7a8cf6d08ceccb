#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sortie/segsort/host/short_sort.hpp"

namespace sortie::segsort {

/// Neighbouring segments that one thread sorts, binned by length.
///
/// Lengths of short segments vary from one to the next, and each change costs a mispredicted
/// branch, as long as sorting ten items. So the segments of one length are sorted one after
/// another, by the code for that length. The short segments of a batch have 16 K items at most,
/// which stay in the second-level cache in whatever order they are visited; longer ones keep their
/// order.
class SegmentBatch {
 public:
  /// Segments that a batch can hold.
  static constexpr std::size_t capacity = 1024;

  [[nodiscard]] bool empty() const { return size_ == 0; }

  /// Adds the segment of `length` > 1 items at `begin`. There must be room for it.
  void add(std::uint64_t begin, std::uint64_t length) {
    begins_[size_] = begin;
    lengths_[size_] = length;
    ++size_;
    ++counts_[bin_of(length)];
  }

  /// Calls sort(begin, length) for every segment and empties the batch, which must hold one.
  /// `length` is a std::integral_constant for segments of up to rank_block_size items, so that
  /// `sort` can be compiled for each such length; for longer ones it is a std::uint64_t.
  template <class Sort>
  void drain(Sort sort) {
    const std::size_t only = bin_of(lengths_[0]);
    if (only < longer && counts_[only] == size_) {
      detail::with_size(only, [&](auto size) {
        for (std::size_t i = 0; i < size_; ++i) sort(begins_[i], size);
      });
      return clear();
    }
    bin();
    std::size_t i = 0;
    for (std::size_t length = 2; length < longer; ++length) {
      const std::size_t end = i + counts_[length];
      if (i == end) continue;
      detail::with_size(length, [&](auto size) {
        for (; i < end; ++i) sort(begins_[order_[i]], size);
      });
    }
    for (; i < size_; ++i) sort(begins_[order_[i]], lengths_[order_[i]]);
    clear();
  }

 private:
  /// The bin of all segments that are not sorted by the code for their length.
  static constexpr std::size_t longer = detail::rank_block_size + 1;

  [[nodiscard]] static std::size_t bin_of(std::uint64_t length) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(length, longer));
  }

  void clear() {
    size_ = 0;
    counts_.fill(0);
  }

  /// Lists the segments by bin, those of a bin in order.
  void bin() {
    std::array<std::uint32_t, longer + 1> next{};
    for (std::size_t b = 1; b <= longer; ++b) next[b] = next[b - 1] + counts_[b - 1];
    for (std::size_t i = 0; i < size_; ++i)
      order_[next[bin_of(lengths_[i])]++] = static_cast<std::uint32_t>(i);
  }

  std::size_t size_ = 0;
  std::array<std::uint32_t, longer + 1> counts_{};
  std::array<std::uint64_t, capacity> begins_;
  std::array<std::uint64_t, capacity> lengths_;
  std::array<std::uint32_t, capacity> order_;
};

}  // namespace sortie::segsort
