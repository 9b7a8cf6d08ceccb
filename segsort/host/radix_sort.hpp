// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "primitives/host/radix_pass.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "segsort/host/short/packed_sort.hpp"
#include "segsort/host/short/short_sort.hpp"

/// Radix sort with 8-bit digits, on one thread.

namespace sortie::segsort::detail {

/// Digits of the passes.
inline constexpr int digit_bits = least_digit_bits;
inline constexpr std::size_t digit_values = std::size_t{1} << digit_bits;

/// `start[d]`: begin of the items of digit value d; after scatter(), their end.
using DigitStarts = std::array<std::uint64_t, digit_values>;

/// Least size in bytes from which scatter_far() writes whole lines past the caches: smaller outputs
/// stay in the caches for the next pass.
inline constexpr std::size_t smallest_streamed = std::size_t{4} << 20;

/// scatter(), by whole cache lines if there are many items with values.
template <std::unsigned_integral UKey, class Value>
void scatter_far(Items<UKey, Value> from, std::uint64_t n, std::uint64_t* starts, Digit digit,
                 Items<UKey, Value> to) {
  if constexpr (has_values<Value>) {
    if (n * item_bytes<UKey, Value> >= smallest_streamed) {
      LineScatter<UKey, Value, digit_values, false> by_lines;
      return by_lines(from, n, starts, digit, to);
    }
  }
  scatter(from, n, starts, digit, to);
}

/// One pass by the highest digit; then each bucket is sorted separately, within the cache.
template <std::unsigned_integral UKey, class Value>
void highest_digit_sort(Items<UKey, Value> items, Items<UKey, Value> scratch, std::uint64_t n,
                        UKey differing) {
  const Digit digit = Digit::highest(differing, digit_bits);
  DigitStarts ends;
  radix_pass(items, n, digit, ends.data(), ends.size(), scratch, scatter_far<UKey, Value>);
  const auto below = static_cast<UKey>((UKey{1} << digit.shift) - 1);
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends) {
    // The bucket is in the scratch buffer. Its range of the original buffer serves as scratch and
    // receives the result.
    const std::uint64_t size = end - begin;
    const Items<UKey, Value> bucket = scratch.from(begin);
    const Items<UKey, Value> place = items.from(begin);
    begin = end;
    if constexpr (has_values<Value>) {
      if (size > rank_block_size && size <= longest_packed && has_vector_sort()) {
        packed_sort(bucket.keys, bucket.values, size, below, place.keys, place.values);
        continue;
      }
    }
    sort_segment(bucket.keys, bucket.values, size, place.keys, place.values);
    copy_items(bucket, size, place);
  }
}

/// Number of items up to which the data stays in the second-level cache. Beyond it, each pass over
/// all items waits for memory, so a first pass into buckets that fit the cache pays off. Measured
/// on a Zen 5 core with 1 MiB, random keys, nanoseconds per item with the least and with the
/// highest digit first: u32 + u32 4.5 and 4.6 at 2^19 items, 7.1 and 6.5 at 2^21, 18 and 8.5 at
/// 2^24; u64 + u32 9.3 and 10.2, 18 and 12, 39 and 14.
inline constexpr std::size_t cached_items = std::size_t{1} << 19;

template <std::unsigned_integral UKey, class Value>
void radix_sort(Items<UKey, Value> items, Items<UKey, Value> scratch, std::uint64_t n) {
  const UKey differing = differing_bits(items.keys, n);
  // One pass into buckets for packed_sort() is faster than two further passes.
  const std::size_t most = has_vector_sort() ? longest_packed : cached_items;
  if (n > most && std::popcount(differing) > 2 * digit_bits)
    return highest_digit_sort(items, scratch, n, differing);
  const Items<UKey, Value> sorted = sort_by_least_digits(items, scratch, n, differing);
  if (sorted.keys != items.keys) copy_items(sorted, n, items);
}

}  // namespace sortie::segsort::detail
