// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "primitives/simd/vector_sort.hpp"
#include "segsort/host/short/short_sort.hpp"

namespace sortie::segsort {

template <std::unsigned_integral UKey, class Value>
void sort_segment(UKey* keys, Value* values, std::size_t n, UKey* key_scratch,
                  Value* value_scratch);

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
    if (end - begin > 1)
      sort_segment(items.keys + begin, items.values + begin, end - begin, scratch.keys + begin,
                   scratch.values + begin);
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
/// Memory: 32 KiB on the stack, 64 KiB if items agree in all kept bits. Does not throw.
///
/// \param keys, values  n items each; used as scratch once read
/// \param keys_out, values_out  n items each; must not overlap the input
/// \param differing  superset of the bits in which keys differ
/// \pre has_vector_sort(), n <= longest_packed
template <std::unsigned_integral UKey, class Value>
void packed_sort(UKey* keys, Value* values, std::size_t n, UKey differing, UKey* keys_out,
                 Value* values_out) {
  std::array<std::uint64_t, longest_packed> words;
  constexpr bool fits = sizeof(UKey) == 4;
  const int number_bits = fits ? 32 : static_cast<int>(std::bit_width(n));
  const int bits = static_cast<int>(std::bit_width(differing));
  const int dropped = fits ? 0 : std::max(0, bits + number_bits - 64);
  if constexpr (fits) {
    for (std::size_t i = 0; i < n; ++i) words[i] = std::uint64_t{keys[i]} << 32 | i;
  } else {
    const std::uint64_t kept = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    for (std::size_t i = 0; i < n; ++i) words[i] = (keys[i] & kept) >> dropped << number_bits | i;
  }
  sort_words(words.data(), n);
  const std::uint64_t number = (std::uint64_t{1} << number_bits) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t word = words[i];
    if constexpr (fits) {
      keys_out[i] = static_cast<UKey>(word >> 32);
    } else {
      keys_out[i] = keys[word & number];
    }
    values_out[i] = values[word & number];
  }
  if constexpr (!fits) {
    if ((differing & ((std::uint64_t{1} << dropped) - 1)) != 0)
      sort_ties<UKey, Value>(words.data(), number_bits, n, {keys_out, values_out}, {keys, values});
  }
}

}  // namespace detail
}  // namespace sortie::segsort
