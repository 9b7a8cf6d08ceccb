// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "primitives/host/digits.hpp"
#include "primitives/host/items.hpp"

/// The steps of a radix sort: count the items of each bucket, turn the counts into starts, move the
/// items. A bucket is a digit of the key, or another monotonic function of it.

namespace sortie {

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
