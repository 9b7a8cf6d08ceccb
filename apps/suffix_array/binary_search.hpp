// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sortie/query.hpp"

/// Binary searches; the same code on the host and in kernels.
namespace sortie::suffix_array {

/// The ends of records.
struct RecordEnds {
  const std::uint32_t* separator_bits;  ///< a bit a position; null without separators
  std::uint64_t size;                   ///< of the text

  /// True for the position of a separator and for the end of the text.
  constexpr bool operator()(std::uint64_t position) const {
    return position == size || (separator_bits != nullptr &&
                                (separator_bits[position / 32] >> (position % 32) & 1U) != 0);
  }
};

/// Searches a suffix array for a pattern.
template <class Pos>
struct PatternSearch {
  const std::uint8_t* symbols;
  const Pos* suffixes;
  RecordEnds is_end;

  [[nodiscard]] constexpr EntryRange operator()(const std::uint8_t* pattern,
                                                std::uint64_t length) const {
    const std::uint64_t begin = first_entry(pattern, length, 0, false);
    return {begin, first_entry(pattern, length, begin, true)};
  }

 private:
  /// The first entry from `low` on whose suffix follows the pattern: it is not less than the
  /// pattern or, with `skip_equal`, neither less nor starting with it. A suffix between two others
  /// agrees with the pattern in at least as many letters as the lesser of these two, so these
  /// letters are not compared again.
  [[nodiscard]] constexpr std::uint64_t first_entry(const std::uint8_t* pattern,
                                                    std::uint64_t length, std::uint64_t low,
                                                    bool skip_equal) const {
    std::uint64_t high = is_end.size;
    std::uint64_t common_low = 0;
    std::uint64_t common_high = 0;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const std::uint64_t position = suffixes[middle];
      std::uint64_t common = common_low < common_high ? common_low : common_high;
      while (common < length && !is_end(position + common) &&
             symbols[position + common] == pattern[common]) {
        ++common;
      }
      const bool is_before = common == length ? skip_equal
                                              : is_end(position + common) ||
                                                    symbols[position + common] < pattern[common];
      if (is_before) {
        low = middle + 1;
        common_low = common;
      } else {
        high = middle;
        common_high = common;
      }
    }
    return low;
  }
};

/// The first i in [begin, end) from which on test(i) is true, or `end`.
template <class Index, class Test>
constexpr Index first_true(Index begin, Index end, const Test& test) {
  while (begin < end) {
    const Index middle = begin + (end - begin) / 2;
    if (test(middle)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

/// The number of the record that contains a position: the last record that begins at or before it.
/// \param begins  ascending, the first not greater than `position`
constexpr std::uint32_t record_at(const std::uint64_t* begins, std::uint64_t records,
                                  std::uint64_t position) {
  const auto begins_after = [=](std::uint64_t i) { return begins[i] > position; };
  return static_cast<std::uint32_t>(first_true(std::uint64_t{1}, records, begins_after) - 1);
}

}  // namespace sortie::suffix_array
