#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "sortie/segsort/host/short_sort.hpp"
#include "sortie/segsort/host/vector_sort.hpp"

namespace sortie::segsort {

template <std::unsigned_integral UKey, class Value>
void sort_segment(UKey* keys, Value* values, std::size_t n, UKey* key_scratch,
                  Value* value_scratch);

namespace detail {

/// Longest segment that packed_sort() takes: its words fill two thirds of a first-level cache.
inline constexpr std::size_t longest_packed = 4096;

/// Sorts, by all their bits, items that stand in the order of words with equal bits above `low`.
template <std::unsigned_integral UKey, class Value>
void sort_ties(const std::uint64_t* words, int low, std::size_t n, UKey* keys, Value* values,
               UKey* key_scratch, Value* value_scratch) {
  for (std::size_t begin = 0; begin + 1 < n;) {
    std::size_t end = begin + 1;
    while (end < n && words[end] >> low == words[begin] >> low) ++end;
    if (end - begin > 1)
      sort_segment(keys + begin, values + begin, end - begin, key_scratch + begin,
                   value_scratch + begin);
    begin = end;
  }
}

/// Sorts pairs stably on processors with a vector sort of words: a word holds a key above the
/// number of the item, so that no two are equal, and once words are in order, keys and values are
/// fetched by that number.
///
/// Bits above those in which keys differ are left out. Where the others do not fit beside the
/// number, as of random keys of 64 bits, the lowest are left out, too. Items that agree in the rest
/// are rare, unless somebody has made the keys so; they differ in 12 bits at most, which fit, and
/// are sorted by themselves.
///
/// Memory: 32 KiB on the stack, 64 KiB where items agree in what fits. Does not throw.
///
/// \param keys, values          n items each; used as scratch after they have been read
/// \param keys_out, values_out  room for them, which does not overlap
/// \param differing  keys differ in no other bits, or in bits below these
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
      sort_ties(words.data(), number_bits, n, keys_out, values_out, keys, values);
  }
}

}  // namespace detail
}  // namespace sortie::segsort
