// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "segsort/host/line_writer.hpp"
#include "segsort/host/short/packed_sort.hpp"
#include "segsort/host/short/short_sort.hpp"
#include "segsort/host/vector_sort.hpp"

/// Radix sorts with 8-bit digits, on one thread.

namespace sortie::segsort::detail {

inline constexpr unsigned digit_bits = 8;
inline constexpr std::size_t digit_values = std::size_t{1} << digit_bits;

/// Eight neighbouring bits of a key.
struct Digit {
  unsigned shift;

  template <std::unsigned_integral UKey>
  [[nodiscard]] std::size_t operator()(UKey key) const {
    return static_cast<std::size_t>(key >> shift) % digit_values;
  }
};

/// The digit that starts at the lowest bit set in `bits`.
template <std::unsigned_integral UKey>
[[nodiscard]] Digit lowest_digit(UKey bits) {
  return {static_cast<unsigned>(std::countr_zero(bits))};
}

/// The digit that ends at the highest bit set in `bits`.
template <std::unsigned_integral UKey>
[[nodiscard]] Digit highest_digit(UKey bits) {
  const auto width = static_cast<unsigned>(std::bit_width(bits));
  return {width < digit_bits ? 0 : width - digit_bits};
}

/// Bits in which the keys differ.
template <std::unsigned_integral UKey>
[[nodiscard]] UKey differing_bits(const UKey* keys, std::size_t n) {
  UKey differing = 0;
  for (std::size_t i = 0; i < n; ++i) differing |= keys[i] ^ keys[0];
  return differing;
}

/// `start[d]`: begin of the items of digit value d; after scatter(), their end.
using DigitStarts = std::array<std::size_t, digit_values>;

/// Replaces counts by starts, the first of which is `first`; returns the end of the last range.
inline std::size_t counts_to_starts(DigitStarts& counts, std::size_t first = 0) {
  for (std::size_t& count : counts) first += std::exchange(count, first);
  return first;
}

template <std::unsigned_integral UKey>
void count_digits(const UKey* keys, std::size_t n, Digit digit, DigitStarts& counts) {
  for (std::size_t i = 0; i < n; ++i) ++counts[digit(keys[i])];
}

/// Moves each item to the next free slot of its digit value.
template <std::unsigned_integral UKey, class Value>
void scatter(const UKey* keys, const Value* values, std::size_t n, Digit digit, DigitStarts& starts,
             UKey* keys_out, Value* values_out) {
  for (std::size_t i = 0; i < n; ++i) {
    const UKey key = keys[i];
    const std::size_t to = starts[digit(key)]++;
    keys_out[to] = key;
    if constexpr (has_values<Value>) values_out[to] = values[i];
  }
}

/// scatter() through one LineWriter for keys and one for values.
template <std::unsigned_integral UKey, class Value>
void scatter_by_lines(const UKey* keys, const Value* values, std::size_t n, Digit digit,
                      DigitStarts& starts, UKey* keys_out, Value* values_out) {
  const DigitStarts firsts = starts;
  std::array<CacheLine, digit_values> key_lines;
  std::array<CacheLine, digit_values> value_lines;
  LineWriter<UKey> key_writer(key_lines.data(), keys_out);
  LineWriter<Value> value_writer(value_lines.data(), values_out);
  for (std::size_t i = 0; i < n; ++i) {
    const UKey key = keys[i];
    const std::size_t value = digit(key);
    const std::size_t to = starts[value]++;
    put_pair(key_writer, value_writer, value, firsts[value], to, key, values[i]);
  }
  for (std::size_t value = 0; value < digit_values; ++value) {
    key_writer.finish(value, firsts[value], starts[value]);
    value_writer.finish(value, firsts[value], starts[value]);
  }
  LineWriter<UKey>::make_visible();
}

/// Least size in bytes from which scatter_far() writes whole lines past the caches: smaller outputs
/// stay in the caches for the next pass.
inline constexpr std::size_t smallest_streamed = std::size_t{4} << 20;

/// scatter(), by whole cache lines if there are many items with values.
template <std::unsigned_integral UKey, class Value>
void scatter_far(const UKey* keys, const Value* values, std::size_t n, Digit digit,
                 DigitStarts& starts, UKey* keys_out, Value* values_out) {
  if constexpr (has_values<Value> && fills_lines<Value>) {
    if (n * (sizeof(UKey) + sizeof(Value)) >= smallest_streamed &&
        LineWriter<UKey>::fits(keys_out) && LineWriter<Value>::fits(values_out))
      return scatter_by_lines(keys, values, n, digit, starts, keys_out, values_out);
  }
  scatter(keys, values, n, digit, starts, keys_out, values_out);
}

template <std::unsigned_integral UKey, class Value>
void copy_items(const UKey* keys, const Value* values, std::size_t n, UKey* keys_out,
                Value* values_out) {
  std::copy_n(keys, n, keys_out);
  if constexpr (has_values<Value>) std::copy_n(values, n, values_out);
}

/// Radix sort, least significant digit first. Each digit starts at the lowest remaining bit that
/// differs, so constant bits cost nothing wherever they are.
template <std::unsigned_integral UKey, class Value>
void least_digit_sort(UKey* keys, Value* values, std::size_t n, UKey differing, UKey* key_scratch,
                      Value* value_scratch) {
  UKey* const keys_begin = keys;
  while (differing != 0) {
    const Digit digit = lowest_digit(differing);
    differing &= static_cast<UKey>(~(static_cast<UKey>(digit_values - 1) << digit.shift));
    DigitStarts starts{};
    count_digits(keys, n, digit, starts);
    counts_to_starts(starts);
    scatter(keys, values, n, digit, starts, key_scratch, value_scratch);
    std::swap(keys, key_scratch);
    if constexpr (has_values<Value>) std::swap(values, value_scratch);
  }
  if (keys != keys_begin) copy_items(keys, values, n, key_scratch, value_scratch);
}

/// One pass by the highest digit; then each bucket is sorted separately, within the cache.
template <std::unsigned_integral UKey, class Value>
void highest_digit_sort(UKey* keys, Value* values, std::size_t n, UKey differing, UKey* key_scratch,
                        Value* value_scratch) {
  const Digit digit = highest_digit(differing);
  DigitStarts ends{};
  count_digits(keys, n, digit, ends);
  counts_to_starts(ends);
  scatter_far(keys, values, n, digit, ends, key_scratch, value_scratch);
  const auto below = static_cast<UKey>((UKey{1} << digit.shift) - 1);
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    // The bucket is in the scratch buffer. Its range of the original buffer serves as scratch and
    // receives the result.
    const std::size_t size = end - begin;
    UKey* const bucket = key_scratch + begin;
    UKey* const place = keys + begin;
    Value* const bucket_values = value_scratch + (has_values<Value> ? begin : 0);
    Value* const value_place = values + (has_values<Value> ? begin : 0);
    begin = end;
    if constexpr (has_values<Value>) {
      if (size > rank_block_size && size <= longest_packed && has_vector_sort()) {
        packed_sort(bucket, bucket_values, size, below, place, value_place);
        continue;
      }
    }
    sort_segment(bucket, bucket_values, size, place, value_place);
    copy_items(bucket, bucket_values, size, place, value_place);
  }
}

/// Number of items up to which the data stays in the second-level cache. Beyond it, each pass over
/// all items waits for memory, so a first pass into buckets that fit the cache pays off. Measured
/// on a Zen 5 core with 1 MiB, random keys, nanoseconds per item with the least and with the
/// highest digit first: u32 + u32 4.5 and 4.6 at 2^19 items, 7.1 and 6.5 at 2^21, 18 and 8.5 at
/// 2^24; u64 + u32 9.3 and 10.2, 18 and 12, 39 and 14.
inline constexpr std::size_t cached_items = std::size_t{1} << 19;

template <std::unsigned_integral UKey, class Value>
void radix_sort(UKey* keys, Value* values, std::size_t n, UKey* key_scratch, Value* value_scratch) {
  const UKey differing = differing_bits(keys, n);
  // One pass into buckets for packed_sort() is faster than two further passes.
  const std::size_t most = has_vector_sort() ? longest_packed : cached_items;
  if (n > most && std::popcount(differing) > 2 * static_cast<int>(digit_bits)) {
    highest_digit_sort(keys, values, n, differing, key_scratch, value_scratch);
  } else {
    least_digit_sort(keys, values, n, differing, key_scratch, value_scratch);
  }
}

}  // namespace sortie::segsort::detail
