// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "primitives/host/items.hpp"

/// The digits of keys, and the steps of a radix sort: count the items of each bucket, turn the counts into starts, move the
/// items. A bucket is a digit of the key, or another monotonic function of it.

namespace sortie {

__extension__ typedef unsigned __int128 DoubleWord;

/// std::bit_width(), also of two words.
template <class Key>
[[nodiscard]] constexpr int width_of(Key key) {
  if constexpr (sizeof(Key) > sizeof(std::uint64_t)) {
    const auto high = static_cast<std::uint64_t>(key >> 64);
    return high != 0 ? 64 + width_of(high) : width_of(static_cast<std::uint64_t>(key));
  } else {
    return static_cast<int>(std::bit_width(key));
  }
}

/// A digit of an unsigned key: some neighbouring bits.
struct Digit {
  int shift = 0;
  std::size_t mask = 0;

  /// The digit of `width` bits that starts at the lowest bit set in `differing`.
  template <std::unsigned_integral Key>
  [[nodiscard]] static Digit lowest(Key differing, int width) {
    return {std::countr_zero(differing), (std::size_t{1} << width) - 1};
  }
  /// The digit of up to `width` bits that ends at the highest bit set in `differing`.
  /// \param low  bits that it leaves out; fewer than `differing` has
  template <class Key>
  [[nodiscard]] static Digit highest(Key differing, int width, int low = 0) {
    const int bits = width_of(differing);
    const int shift = std::max(low, bits - width);
    return {shift, (std::size_t{1} << (bits - shift)) - 1};
  }

  [[nodiscard]] std::size_t values() const { return mask + 1; }

  template <class Key>
  [[nodiscard]] [[gnu::always_inline]] std::size_t operator()(Key key) const {
    return static_cast<std::size_t>(key >> shift) & mask;
  }
  /// `bits` without those of the digit.
  template <class Key>
  [[nodiscard]] Key removed_from(Key bits) const {
    return static_cast<Key>(bits & ~(static_cast<Key>(mask) << shift));
  }
  bool operator==(const Digit&) const = default;
};

/// The bits in which any of n keys differs from `sample`.
template <class Key>
[[nodiscard]] Key differing_bits(const Key* keys, std::uint64_t n, Key sample) {
  Key differing = 0;
  for (std::uint64_t i = 0; i < n; ++i) differing |= static_cast<Key>(keys[i] ^ sample);
  return differing;
}

/// The bits in which n keys differ.
template <class Key>
[[nodiscard]] Key differing_bits(const Key* keys, std::uint64_t n) {
  return n == 0 ? Key{0} : differing_bits(keys, n, keys[0]);
}

/// Histogram of a digit over any number of ranges of keys.
/// \tparam Values  most values of the digit
template <std::size_t Values>
class DigitCounts {
 public:
  template <std::unsigned_integral Key>
  void add(const Key* keys, std::uint64_t n, Digit digit) {
    std::uint64_t i = 0;
    for (; i + tables <= n; i += tables)
      for (std::size_t t = 0; t < tables; ++t) ++table_[t][digit(keys[i + t])];
    for (; i < n; ++i) ++table_[0][digit(keys[i])];
  }

  /// Writes the counts of the lowest `values` values.
  void store(std::uint64_t* counts, std::size_t values) const {
    for (std::size_t value = 0; value < values; ++value) {
      counts[value] = 0;
      for (const auto& part : table_) counts[value] += part[value];
    }
  }

 private:
  // Two tables: increments of one counter by neighbours with equal digits would be serialised.
  static constexpr std::size_t tables = 2;
  std::array<std::array<std::uint64_t, Values>, tables> table_{};
};

template <class Key, class BucketOf, class Count>
void count_keys(const Key* keys, std::uint64_t n, BucketOf bucket_of, Count* counts) {
  for (std::uint64_t i = 0; i < n; ++i) ++counts[bucket_of(keys[i])];
}

/// Replaces counts by starts; returns their sum.
/// \param counts  counts[part * buckets + bucket], for each part of the items. Parts follow each
///                other within a bucket, so the scatter of the parts, one by one or at the same
///                time, is stable.
template <class Count>
Count counts_to_starts(Count* counts, std::size_t buckets, std::size_t parts = 1) {
  Count sum = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket)
    for (std::size_t part = 0; part < parts; ++part)
      sum += std::exchange(counts[part * buckets + bucket], sum);
  return sum;
}

/// Moves each item to the next place of its bucket. Stable.
/// \param starts  for each bucket its next place in `to`; on return the places behind its items
template <class Key, class Value, class Start, class BucketOf>
void scatter(Items<Key, Value> from, std::uint64_t n, Start* starts, BucketOf bucket_of,
             Items<Key, Value> to) {
  for (std::uint64_t i = 0; i < n; ++i) {
    const Key key = from.keys[i];
    const Start place = starts[bucket_of(key)]++;
    to.keys[place] = key;
    if constexpr (has_values<Value>) to.values[place] = from.values[i];
  }
}

/// scatter() as a function object.
struct DirectScatter {
  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    scatter(arguments...);
  }
};

/// One pass of a radix sort: moves the items to `to`, by ascending bucket. Stable.
/// \param ends  receives the end of each of `buckets` buckets
/// \param move  has the form of scatter(), as LineScatter does
template <class Key, class Value, class End, class BucketOf, class Move = DirectScatter>
void radix_pass(Items<Key, Value> from, std::uint64_t n, BucketOf bucket_of, End* ends,
                std::size_t buckets, Items<Key, Value> to, const Move& move = {}) {
  std::fill_n(ends, buckets, End{0});
  count_keys(from.keys, n, bucket_of, ends);
  counts_to_starts(ends, buckets);
  move(from, n, ends, bucket_of, to);
}

/// Bits of a digit of sort_by_least_digits().
inline constexpr int least_digit_bits = 8;

/// Sorts items by the bits of `differing`, least significant digit first. Stable. Each digit starts
/// at the lowest remaining bit, so constant bits cost nothing wherever they are.
/// \return where the items are: `items` or `scratch`
template <class Key, class Value>
[[nodiscard]] Items<Key, Value> sort_by_least_digits(Items<Key, Value> items,
                                                     Items<Key, Value> scratch, std::uint64_t n,
                                                     Key differing) {
  while (differing != 0) {
    const Digit digit = Digit::lowest(differing, least_digit_bits);
    differing = digit.removed_from(differing);
    std::array<std::uint64_t, std::size_t{1} << least_digit_bits> ends;
    radix_pass(items, n, digit, ends.data(), ends.size(), scratch);
    std::swap(items, scratch);
  }
  return items;
}

}  // namespace sortie
