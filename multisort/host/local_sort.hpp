#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sortie/multisort/host/items.hpp"
#include "sortie/multisort/host/scatter.hpp"
#include "sortie/segsort/host/sort_segment.hpp"

namespace sortie::multisort {

/// The radix sort of one logical device, on one thread: items by ascending unsigned key, stable.
///
/// Most significant digit first until the items fit the cache, each pass through LineScatter; then
/// least significant digit first, or, where the keys have more digits than so few items need, on
/// from the top until a segment sort of some items is left. Bits in which the keys of a part agree
/// are jumped over, so there is no need to say how many bits are left to sort.
///
/// Holds the buffers of LineScatter. sort() does not allocate and does not throw.
template <std::unsigned_integral Key, class Value>
class LocalSort {
 public:
  using Range = Items<Key, Value>;

  /// \param items    sorted in place
  /// \param scratch  as many items
  void sort(Range items, Range scratch, std::uint64_t n) {
    sort(items, scratch, n, key_bits, items);
  }

 private:
  static constexpr int key_bits = static_cast<int>(8 * sizeof(Key));
  static constexpr int digit_bits = 8;
  static constexpr std::size_t digit_values = std::size_t{1} << digit_bits;

  /// Items that are sorted within the second-level cache. Measured on a Zen 5 core with 1 MiB, u32
  /// keys, nanoseconds a key for three passes of 8 bits: 3.3 at 2^18 keys, 3.7 at 2^19, 4.4 at
  /// 2^20.
  static constexpr std::uint64_t cached_items = (std::uint64_t{2} << 20) / item_bytes<Key, Value>;
  /// Parts up to this many go to the segment sort, which knows networks and merging.
  static constexpr std::uint64_t short_part = 32;
  /// Items that a digit value should receive on average: a few, so that the segment sort ranks
  /// them.
  static constexpr std::uint64_t items_per_digit = 8;
  /// Below this, counters of 256 digit values cost more than they save.
  static constexpr std::uint64_t shortest_least_digit = 512;

  /// Sorts n items by their lowest `bits` bits; they differ in no others.
  /// \param items, scratch  either may be changed
  /// \param result          where the items shall be: `items` or `scratch`
  void sort(Range items, Range scratch, std::uint64_t n, int bits, Range result) {
    if (n > short_part && bits > 0) {
      const Key differing = differing_bits(items.keys, n);
      if (differing != 0) {
        sort_digits(items, scratch, n, differing, result);
        return;
      }
    } else if (n > 1 && bits > 0) {
      sort_short(items, scratch, n);
    }
    if (result.keys != items.keys) copy_items(items, n, result);
  }

  void sort_digits(Range items, Range scratch, std::uint64_t n, Key differing, Range result) {
    if (n > cached_items) {
      by_highest_digit(items, scratch, n, differing, digit_bits, line_scatter_, result);
      return;
    }
    // Passes that it takes from the top: a digit each until parts are short, and the segment sort,
    // which takes as long as two.
    const int spread = static_cast<int>(std::bit_width(n / items_per_digit));
    const int passes_from_top = (spread + digit_bits - 1) / digit_bits + 2;
    if (n >= shortest_least_digit && least_digits(differing) <= passes_from_top) {
      by_least_digits(items, scratch, n, differing, result);
    } else {
      by_highest_digit(items, scratch, n, differing, std::clamp(spread, 4, digit_bits),
                       scatter_directly<Key, Value, std::uint64_t, DigitOf>, result);
    }
  }

  struct DigitOf {
    int shift;
    Key mask;
    std::size_t operator()(Key key) const { return static_cast<std::size_t>(key >> shift) & mask; }
  };

  template <class Scatter>
  void by_highest_digit(Range items, Range scratch, std::uint64_t n, Key differing, int width,
                        Scatter& scatter, Range result) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(differing)) - width);
    const DigitOf digit{shift, static_cast<Key>((1U << width) - 1)};
    std::array<std::uint64_t, digit_values> ends{};
    count(items.keys, n, digit, ends);
    counts_to_starts(ends);
    scatter(items, n, ends.data(), digit, scratch);
    const bool into_items = result.keys == items.keys;
    std::uint64_t begin = 0;
    for (std::size_t value = 0; value <= digit.mask; ++value) {
      const std::uint64_t end = ends[value];
      const Range part = scratch.from(begin);
      const Range other = items.from(begin);
      sort(part, other, end - begin, shift, into_items ? other : part);
      begin = end;
    }
  }

  void by_least_digits(Range items, Range scratch, std::uint64_t n, Key differing, Range result) {
    while (differing != 0) {
      const DigitOf digit{std::countr_zero(differing), static_cast<Key>(digit_values - 1)};
      differing = without_digit(differing);
      std::array<std::uint64_t, digit_values> starts{};
      count(items.keys, n, digit, starts);
      counts_to_starts(starts);
      scatter_directly(items, n, starts.data(), digit, scratch);
      std::swap(items, scratch);
    }
    if (items.keys != result.keys) copy_items(items, n, result);
  }

  /// Takes the lowest digit, which starts at the lowest bit, out of `differing`.
  static Key without_digit(Key differing) {
    const int shift = std::countr_zero(differing);
    return shift + digit_bits >= key_bits
               ? Key{0}
               : static_cast<Key>(differing >> (shift + digit_bits) << (shift + digit_bits));
  }

  static int least_digits(Key differing) {
    int digits = 0;
    for (; differing != 0; differing = without_digit(differing)) ++digits;
    return digits;
  }

  static Key differing_bits(const Key* keys, std::uint64_t n) {
    Key differing = 0;
    for (std::uint64_t i = 0; i < n; ++i) differing |= keys[i] ^ keys[0];
    return differing;
  }

  static void count(const Key* keys, std::uint64_t n, DigitOf digit,
                    std::array<std::uint64_t, digit_values>& counts) {
    for (std::uint64_t i = 0; i < n; ++i) ++counts[digit(keys[i])];
  }

  static void counts_to_starts(std::array<std::uint64_t, digit_values>& counts) {
    std::uint64_t sum = 0;
    for (std::uint64_t& count : counts) sum += std::exchange(count, sum);
  }

  /// For n <= short_part. The segment sort takes keys of 32 and 64 bits.
  static void sort_short(Range items, Range scratch, std::uint64_t n) {
    if constexpr (sizeof(Key) >= 4) {
      sort_segment_of(items, scratch, n);
    } else {
      std::array<std::uint32_t, short_part> keys;
      std::array<std::uint32_t, short_part> key_scratch;
      std::copy_n(items.keys, n, keys.begin());
      sort_segment_of<std::uint32_t>({keys.data(), items.values},
                                     {key_scratch.data(), scratch.values}, n);
      std::transform(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n), items.keys,
                     [](std::uint32_t key) { return static_cast<Key>(key); });
    }
  }

  template <class Wide>
  static void sort_segment_of(Items<Wide, Value> items, Items<Wide, Value> scratch,
                              std::uint64_t n) {
    if constexpr (has_values<Value>) {
      segsort::sort_segment(items.keys, items.values, n, scratch.keys, scratch.values);
    } else {
      segsort::sort_segment(items.keys, n, scratch.keys);
    }
  }

  LineScatter<Key, Value> line_scatter_{digit_values};
};

}  // namespace sortie::multisort
