// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "primitives/host/radix_pass.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "segsort/host/short/short_sort.hpp"

namespace sortie::segsort {

/// Sorts one segment of pairs by ascending unsigned key, on the calling thread.
///
/// Stable. Does not allocate and does not throw, so it may be called inside a parallel loop. The
/// run time depends on the number of bits in which the keys differ, so narrowing the keys
/// beforehand gains nothing.
///
/// \param items    n items, sorted in place
/// \param scratch  n items, overwritten; must not overlap the input
/// \tparam Value  trivially copyable, of any size
///
/// Keys alone take O(n log n) with AVX-512; otherwise long segments take O(n * differing bits / 8).
/// Stack: up to 64 KiB with AVX-512; otherwise 36 KiB, plus 1024 values where these are larger than
/// keys. Methods by length: segsort/README.md.
template <std::unsigned_integral UKey, class Value>
void sort_segment(Items<UKey, Value> items, std::size_t n, Items<UKey, Value> scratch);

/// As above, by raw keys in the order of the codec.
template <std::unsigned_integral UKey, class Value>
void sort_segment(Items<UKey, Value> items, std::size_t n, Items<UKey, Value> scratch,
                  const KeyCodec<UKey>& codec) {
  codec.encode(items.keys, n);
  sort_segment(items, n, scratch);
  codec.decode(items.keys, n);
}

/// Sorts one segment of keys, as above. `scratch` holds n keys.
template <std::unsigned_integral UKey>
void sort_segment(UKey* keys, std::size_t n, UKey* scratch) {
  sort_segment(Items<UKey, NoValue>{keys}, n, Items<UKey, NoValue>{scratch});
}

namespace detail {

/// Longest segment that packed_sort() accepts: its words fill two thirds of a first-level cache.
inline constexpr std::size_t longest_packed = 4096;

/// Sorts runs of items whose words agree above bit `low`, by all bits of their keys. The items are
/// in the order of the words.
template <std::unsigned_integral UKey, class Value>
void sort_ties(const std::uint64_t* words, int low, std::size_t n, Items<UKey, Value> items,
               Items<UKey, Value> scratch) {
  for (std::size_t begin = 0; begin + 1 < n;) {
    std::size_t end = begin + 1;
    while (end < n && words[end] >> low == words[begin] >> low) ++end;
    if (end - begin > 1) sort_segment(items.from(begin), end - begin, scratch.from(begin));
    begin = end;
  }
}

/// Sorts pairs stably on processors with a vector sort of words. A word holds the key above the
/// index of the item, so all words differ. Once the words are sorted, keys and values are fetched
/// by index.
///
/// Leading bits in which the keys agree are dropped. If the remaining bits do not fit beside the
/// index, as with random 64-bit keys, the lowest bits are dropped too, at most 13 of them. Items
/// that agree in all kept bits are rare, unless the keys are adversarial. They are sorted
/// separately; the bits in which they differ fit beside the index.
///
/// Memory: 32 KiB on the stack, 64 KiB if items agree in all kept bits.
///
/// \param from  n items; used as scratch once read
/// \param differing  superset of the bits in which keys differ
/// \param to  n items; must not overlap the input
/// \pre has_fast_word_sort(), n <= longest_packed
template <std::unsigned_integral UKey, class Value>
void packed_sort(Items<UKey, Value> from, std::size_t n, UKey differing, Items<UKey, Value> to) {
  std::array<std::uint64_t, longest_packed> words;
  constexpr bool fits = sizeof(UKey) == 4;
  const int number_bits = fits ? 32 : static_cast<int>(std::bit_width(n));
  const int bits = static_cast<int>(std::bit_width(differing));
  const int dropped = fits ? 0 : std::max(0, bits + number_bits - 64);
  if constexpr (fits) {
    for (std::size_t i = 0; i < n; ++i) words[i] = std::uint64_t{from.keys[i]} << 32 | i;
  } else {
    const std::uint64_t kept = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    for (std::size_t i = 0; i < n; ++i)
      words[i] = (from.keys[i] & kept) >> dropped << number_bits | i;
  }
  sort_words(words.data(), n);
  const std::uint64_t number = (std::uint64_t{1} << number_bits) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t word = words[i];
    if constexpr (fits) {
      to.keys[i] = static_cast<UKey>(word >> 32);
    } else {
      to.keys[i] = from.keys[word & number];
    }
    to.values[i] = from.values[word & number];
  }
  if constexpr (!fits) {
    if ((differing & ((std::uint64_t{1} << dropped) - 1)) != 0)
      sort_ties(words.data(), number_bits, n, to, from);
  }
}

/// Least size in bytes from which scatter_far() writes whole lines past the caches: smaller outputs
/// stay in the caches for the next pass.
inline constexpr std::size_t smallest_streamed = std::size_t{4} << 20;

/// Values of the digits of a radix sort.
inline constexpr std::size_t digit_values = std::size_t{1} << least_digit_bits;

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
  const Digit digit = Digit::highest(differing, least_digit_bits);
  std::array<std::uint64_t, digit_values> ends;
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
      if (size > rank_block_size && size <= longest_packed && has_fast_word_sort()) {
        packed_sort(bucket, size, below, place);
        continue;
      }
    }
    sort_segment(bucket, size, place);
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
  const bool packs = has_values<Value> && has_fast_word_sort();
  const std::size_t most = packs ? longest_packed : cached_items;
  if (n > most && std::popcount(differing) > 2 * least_digit_bits)
    return highest_digit_sort(items, scratch, n, differing);
  const Items<UKey, Value> sorted = sort_by_least_digits(items, scratch, n, differing);
  if (sorted.keys != items.keys) copy_items(sorted, n, items);
}

}  // namespace detail

template <std::unsigned_integral UKey, class Value>
void sort_segment(Items<UKey, Value> items, std::size_t n, Items<UKey, Value> scratch) {
  if (n <= detail::rank_block_size)
    return detail::with_size<detail::rank_block_size>(
        n, [&](auto size) { detail::rank_sort<size()>(items.keys, items.values); });
  if constexpr (!has_values<Value>) {
    if (has_vector_sort<UKey>()) return sort_words(items.keys, n);
  } else {
    if (n <= detail::longest_packed && has_fast_word_sort()) {
      const UKey differing = differing_bits(items.keys, n);
      if (differing == 0) return;
      copy_items(items, n, scratch);
      return detail::packed_sort(scratch, n, differing, items);
    }
  }
  if (n <= detail::longest_merged<UKey>) {
    detail::merge_sort_segment(items, n);
  } else {
    detail::radix_sort(items, scratch, n);
  }
}

// Compiled once, since several sources sort by these types: CMakeLists.txt lists the instances.
extern template void sort_segment(Items<std::uint32_t, NoValue>, std::size_t,
                                  Items<std::uint32_t, NoValue>);
extern template void sort_segment(Items<std::uint32_t, Opaque<std::uint32_t>>, std::size_t,
                                  Items<std::uint32_t, Opaque<std::uint32_t>>);
extern template void sort_segment(Items<std::uint32_t, Opaque<std::uint64_t>>, std::size_t,
                                  Items<std::uint32_t, Opaque<std::uint64_t>>);
extern template void sort_segment(Items<std::uint32_t, std::uint32_t>, std::size_t,
                                  Items<std::uint32_t, std::uint32_t>);
extern template void sort_segment(Items<std::uint64_t, NoValue>, std::size_t,
                                  Items<std::uint64_t, NoValue>);
extern template void sort_segment(Items<std::uint64_t, Opaque<std::uint32_t>>, std::size_t,
                                  Items<std::uint64_t, Opaque<std::uint32_t>>);
extern template void sort_segment(Items<std::uint64_t, Opaque<std::uint64_t>>, std::size_t,
                                  Items<std::uint64_t, Opaque<std::uint64_t>>);

}  // namespace sortie::segsort
