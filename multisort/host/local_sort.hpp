// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/host/radix_pass.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "segsort/host/sort_segment.hpp"

namespace sortie::multisort {

/// The radix sort of one logical device, on one thread: items by ascending unsigned key, stable.
///
/// Most significant digit first until the items fit the cache, each pass through LineScatter. Then
/// least significant digit first: over all bits in which keys differ, or, where these are more than
/// so few items need to be told apart, over the upper ones; what still agrees in those is sorted by
/// itself. Bits in which the keys of a part agree are skipped. Where the processor has a vector sort
/// of words, that takes the place of the least significant digits for keys of 32 and 64 bits: a pass
/// by a digit takes as long as ten levels of its partition.
///
/// Holds the buffers of LineScatter. sort() does not allocate and does not throw.
template <std::unsigned_integral Key, class Value>
class LocalSort {
 public:
  using Range = Items<Key, Value>;

  /// Items that are sorted within the second-level cache. Measured on a Zen 5 core with 1 MiB, u32
  /// keys, nanoseconds a key for three passes of 8 bits: 3.3 at 2^18 keys, 3.7 at 2^19, 4.4 at
  /// 2^20.
  static constexpr std::uint64_t cached_items = (std::uint64_t{1} << 20) / item_bytes<Key, Value>;
  /// Parts of up to this many items go to the segment sort, which has networks and merging.
  static constexpr std::uint64_t short_part = 32;
  /// Widest digit of a pass through LineScatter: with 2^10 buckets it takes as long as with 2^8.
  static constexpr int widest_digit = 10;

  /// \param most_cached  items that are sorted within the cache: more where two passes in it take
  ///                     less time than one beyond it; tests make it small
  /// \param vectors  whether to use the vector sort of words, which the processor must have
  explicit LocalSort(std::uint64_t most_cached = cached_items, bool vectors = has_vectors())
      : most_cached_(most_cached), vectors_(vectors && is_wide) {}

  /// Whether a vector sort is faster than the digits. Pairs are sorted as words of 64 bits.
  [[nodiscard]] static bool has_vectors() {
    const bool are_short_words = sizeof(Key) == 4 && !has_values<Value>;
    return are_short_words ? has_vector_sort<Key>() : is_wide && has_fast_word_sort();
  }

  /// Most items that sort() sorts in place with a scratch of short_part items.
  [[nodiscard]] std::uint64_t items_without_scratch() const {
    return has_values<Value> ? 0 : longest_vector_sort();
  }

  /// \param items    sorted in place
  /// \param scratch  as many items
  void sort(Range items, Range scratch, std::uint64_t n) {
    sort(items, scratch, n, key_bits, items);
  }

  /// Sorts n items by their lowest `bits` bits; they differ in no others.
  /// \param items, scratch  either may be changed
  /// \param result          where the items shall be: `items` or `scratch`
  void sort(Range items, Range scratch, std::uint64_t n, int bits, Range result) {
    if (n > short_part && bits > 0 && n <= longest_vector_sort()) {
      sort_by_vectors(items, scratch, n, bits, result);
      return;
    }
    if (n > short_part && bits > 0) {
      const Key differing = differing_bits(items.keys, n, items.keys[0]);
      if (differing != 0) {
        sort_digits(items, scratch, n, differing, result);
        return;
      }
    } else if (n > 1 && bits > 0) {
      sort_short(items, scratch, n);
    }
    if (result.keys != items.keys) copy_items(items, n, result);
  }

 private:
  static constexpr int key_bits = static_cast<int>(8 * sizeof(Key));
  static constexpr bool is_wide = sizeof(Key) >= 4;
  static constexpr int digit_bits = least_digit_bits;
  static constexpr std::size_t line_buckets = std::size_t{1} << widest_digit;
  /// Below this, counters of 256 digit values cost more than they save.
  static constexpr std::uint64_t shortest_least_digit = 512;
  /// Items that a digit value should receive on average where parts are short: a few, so that the
  /// segment sort ranks them.
  static constexpr std::uint64_t items_per_digit = 8;
  /// Items that a digit value should receive on average for a packed sort.
  static constexpr std::uint64_t packed_items = 1024;
  /// Bits beyond the logarithm of the number of items that leave few of them with equal upper bits.
  static constexpr int spare_bits = 3;

  /// Items that a vector sort takes. Keys alone beyond the cache, too: a level of its partition
  /// runs at half of the speed of a copy.
  [[nodiscard]] std::uint64_t longest_vector_sort() const {
    if (!vectors_) return 0;
    return has_values<Value> ? segsort::detail::longest_packed : std::uint64_t{1} << 20;
  }

  /// For n <= longest_vector_sort().
  static void sort_by_vectors(Range items, Range scratch, std::uint64_t n, int bits, Range result) {
    if constexpr (is_wide) {
      if constexpr (!has_values<Value>) {
        sort_words(items.keys, n);
        if (result.keys != items.keys) copy_items(items, n, result);
      } else {
        if (result.keys == items.keys) {
          copy_items(items, n, scratch);
          std::swap(items, scratch);
        }
        const auto differing = static_cast<Key>(~Key{0} >> (key_bits - bits));
        segsort::detail::packed_sort(items, n, differing, result);
      }
    }
  }

  void sort_digits(Range items, Range scratch, std::uint64_t n, Key differing, Range result) {
    if (n > most_cached_) {
      const int width =
          std::clamp(static_cast<int>(std::bit_width(n / most_cached_)), digit_bits, widest_digit);
      const Digit digit = Digit::highest(differing, width);
      by_highest_digit(items, scratch, n, digit, result,
                       [&](auto... arguments) { line_scatter_(arguments..., digit.values()); });
    } else if (const bool packs = has_values<Value> && vectors_;
               !packs && n >= shortest_least_digit) {
      by_least_digits(items, scratch, n, differing, result);
    } else {
      const auto values = std::bit_width(n / (packs ? packed_items : items_per_digit));
      const int width = std::clamp(static_cast<int>(values), 4, digit_bits);
      by_highest_digit(items, scratch, n, Digit::highest(differing, width), result,
                       DirectScatter{});
    }
  }

  /// One pass by the highest digit, then each part for itself.
  template <class Move>
  void by_highest_digit(Range items, Range scratch, std::uint64_t n, Digit digit, Range result,
                        const Move& move) {
    std::array<std::uint64_t, line_buckets> ends;
    radix_pass(items, n, digit, ends.data(), digit.values(), scratch, move);
    const bool into_items = result.keys == items.keys;
    std::uint64_t begin = 0;
    for (std::size_t value = 0; value <= digit.mask; ++value) {
      const std::uint64_t end = ends[value];
      const Range part = scratch.from(begin);
      const Range other = items.from(begin);
      sort(part, other, end - begin, digit.shift, into_items ? other : part);
      begin = end;
    }
  }

  /// Passes from the lowest digit on; where the upper bits tell most items apart, from the lowest
  /// of those, and the few that agree in them are sorted by the bits below.
  void by_least_digits(Range items, Range scratch, std::uint64_t n, Key differing, Range result) {
    const int enough =
        (static_cast<int>(std::bit_width(n)) + spare_bits + digit_bits - 1) / digit_bits;
    int low = 0;  // bits that the passes leave out
    // A pass less is about what looking for equal upper bits takes.
    if (least_digits(differing) > enough + 1) {
      low = std::max(0, static_cast<int>(std::bit_width(differing)) - enough * digit_bits);
    }
    const bool leaves_some = (differing & ((Key{1} << low) - 1)) != 0;
    const Range sorted =
        sort_by_least_digits(items, scratch, n, static_cast<Key>(differing >> low << low));
    if (sorted.keys != items.keys) std::swap(items, scratch);
    if (leaves_some) sort_where_equal(items, scratch, n, low);
    if (items.keys != result.keys) copy_items(items, n, result);
  }

  /// Sorts, by the bits below `low`, the items that agree in those above, by which they are in order.
  void sort_where_equal(Range items, Range scratch, std::uint64_t n, int low) {
    const auto upper = [&](std::uint64_t i) { return items.keys[i] >> low; };
    for (std::uint64_t begin = 0; begin + 1 < n;) {
      if (upper(begin) != upper(begin + 1)) {
        ++begin;
        continue;
      }
      std::uint64_t end = begin + 2;
      while (end < n && upper(end) == upper(begin)) ++end;
      sort(items.from(begin), scratch.from(begin), end - begin, low, items.from(begin));
      begin = end;
    }
  }

  static int least_digits(Key differing) {
    int digits = 0;
    for (; differing != 0; ++digits)
      differing = Digit::lowest(differing, digit_bits).removed_from(differing);
    return digits;
  }

  /// For n <= short_part. The segment sort takes keys of 32 and 64 bits.
  static void sort_short(Range items, Range scratch, std::uint64_t n) {
    if constexpr (sizeof(Key) >= 4) {
      segsort::sort_segment(items, n, scratch);
    } else {
      std::array<std::uint32_t, short_part> keys{};
      std::array<std::uint32_t, short_part> key_scratch;
      std::copy_n(items.keys, n, keys.begin());
      segsort::sort_segment(Items<std::uint32_t, Value>{keys.data(), items.values}, n,
                            {key_scratch.data(), scratch.values});
      std::transform(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n), items.keys,
                     [](std::uint32_t key) { return static_cast<Key>(key); });
    }
  }

  LineScatter<Key, Value, line_buckets, true> line_scatter_;
  std::uint64_t most_cached_;
  bool vectors_;
};

/// The bits in which keys differ, found by all devices.
template <class Key>
[[nodiscard]] Key differing_bits_by_devices(const Key* keys, std::uint64_t n, std::size_t devices) {
  std::atomic<Key> all{0};
  for_each_share({n, devices}, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    all |= differing_bits(keys + begin, end - begin, keys[0]);
  });
  return all;
}

/// Encodes keys in place, and calls after(keys, n) for some at a time, while these are in the
/// first-level cache. \return the bits in which encoded keys differ from `first`
template <class Key, class After>
Key encode_and_compare(Key* keys, std::uint64_t n, const KeyCodec<Key>& codec, Key first,
                       const After& after) {
  constexpr std::uint64_t encoded_keys = 4096 / sizeof(Key);
  Key differing = 0;
  for (std::uint64_t begin = 0; begin < n; begin += encoded_keys) {
    const std::uint64_t count = std::min(encoded_keys, n - begin);
    codec.encode(keys + begin, count);
    differing |= differing_bits(keys + begin, count, first);
    after(keys + begin, count);
  }
  return differing;
}

}  // namespace sortie::multisort
