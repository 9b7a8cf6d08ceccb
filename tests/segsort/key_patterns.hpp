// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "sortie/key_types.hpp"
#include "tests/reference/segmented_sort.hpp"

namespace sortie::test {

enum class KeyPattern {
  random_bits,  ///< for floating-point keys: also NaNs, denormals, infinities
  sorted,
  reverse,
  one_disturbed,  ///< sorted but for two keys that changed places
  organ_pipe,     ///< ascending, then descending
  index,          ///< key i has the bits of i
  reversed_index,
  equal,
  two_values,
  few_distinct,
  hundred_distinct,  ///< a hundred values that differ in all their bits
  zipf,              ///< the k-th most frequent value about 1/k as often as the first
  every_magnitude,   ///< as many keys between 2^i and 2^(i + 1) for each i
  all_first,         ///< the key before all others in the order of its type
  all_last,          ///< the key after all others: what a sort may take for padding
  last_or_random,
  special,          ///< infinities, zeros of both signs, NaNs with payloads; extremes of integers
  equal_high_24,    ///< agree in their highest 24 bits
  equal_high_half,  ///< agree in the upper half of their bits
  equal_low_24,     ///< agree in their lowest 24 bits
};

struct NamedKeyPattern {
  KeyPattern pattern;
  const char* name;
};

inline constexpr NamedKeyPattern key_patterns[] = {
    {KeyPattern::random_bits, "random bits"},
    {KeyPattern::sorted, "sorted"},
    {KeyPattern::reverse, "reverse"},
    {KeyPattern::one_disturbed, "sorted but for one exchange"},
    {KeyPattern::organ_pipe, "organ pipe"},
    {KeyPattern::index, "index"},
    {KeyPattern::reversed_index, "reversed index"},
    {KeyPattern::equal, "equal"},
    {KeyPattern::two_values, "two values"},
    {KeyPattern::few_distinct, "few distinct"},
    {KeyPattern::hundred_distinct, "a hundred distinct"},
    {KeyPattern::zipf, "Zipf"},
    {KeyPattern::every_magnitude, "every magnitude"},
    {KeyPattern::all_first, "all first"},
    {KeyPattern::all_last, "all last"},
    {KeyPattern::last_or_random, "last or random"},
    {KeyPattern::special, "special"},
    {KeyPattern::equal_high_24, "equal in the highest 24 bits"},
    {KeyPattern::equal_high_half, "equal in the upper half"},
    {KeyPattern::equal_low_24, "equal in the lowest 24 bits"},
};

template <class Key>
using Bits = std::conditional_t<
    sizeof(Key) == 1, std::uint8_t,
    std::conditional_t<sizeof(Key) == 2, std::uint16_t,
                       std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>>>;

template <class Key>
[[nodiscard]] Key from_bits(std::uint64_t bits) {
  return std::bit_cast<Key>(static_cast<Bits<Key>>(bits));
}

/// The key that stands after all others: the largest integer, or +NaN with all payload bits.
template <class Key>
[[nodiscard]] Key last_key() {
  if constexpr (std::is_floating_point_v<Key>) {
    return from_bits<Key>(static_cast<Bits<Key>>(~Bits<Key>{0}) >> 1);
  } else {
    return std::numeric_limits<Key>::max();
  }
}

/// The key that stands before all others: the smallest integer, or -NaN with all payload bits.
template <class Key>
[[nodiscard]] Key first_key() {
  if constexpr (std::is_floating_point_v<Key>) {
    return from_bits<Key>(~std::uint64_t{0});
  } else {
    return std::numeric_limits<Key>::lowest();
  }
}

template <class Key>
[[nodiscard]] std::vector<Key> special_keys() {
  using Limits = std::numeric_limits<Key>;
  std::vector<Key> keys{Key{0},           Key{1},           Limits::max(),
                        Limits::lowest(), first_key<Key>(), last_key<Key>()};
  if constexpr (std::is_floating_point_v<Key>) {
    const auto quiet = std::bit_cast<Bits<Key>>(Limits::quiet_NaN());
    const Bits<Key> sign = std::bit_cast<Bits<Key>>(Key{-0.0});
    for (const Key key : {Key{-0.0}, Limits::infinity(), -Limits::infinity(), Limits::min(),
                          Limits::denorm_min(), -Limits::denorm_min(), Key{-1}})
      keys.push_back(key);
    for (const Bits<Key> payload : {0, 1, 77}) {
      keys.push_back(from_bits<Key>(quiet | payload));
      keys.push_back(from_bits<Key>(sign | quiet | payload));
    }
  } else {
    keys.push_back(static_cast<Key>(-1));
    keys.push_back(static_cast<Key>(Limits::max() - 1));
  }
  return keys;
}

template <class Key>
[[nodiscard]] std::vector<Key> make_keys(KeyPattern pattern, std::uint64_t n,
                                         std::uint64_t seed = 1) {
  constexpr int bits = static_cast<int>(8 * sizeof(Key));
  constexpr std::uint64_t constant = 0x3c5a96e17b20d4f8;  // what keys agree in that agree in bits
  Random random(seed);
  const std::vector<Key> special = special_keys<Key>();
  // Value number i of a set that is the same for every seed.
  const auto value = [](std::uint64_t i) { return from_bits<Key>(Random(7, i).next()); };
  const auto draw = [&](std::uint64_t i) -> Key {
    switch (pattern) {
      case KeyPattern::index:
        return from_bits<Key>(i);
      case KeyPattern::reversed_index:
        return from_bits<Key>(n - 1 - i);
      case KeyPattern::equal:
        return Key{42};
      case KeyPattern::two_values:
        return value(random.below(2));
      case KeyPattern::few_distinct:
        return static_cast<Key>(random.below(5));
      case KeyPattern::hundred_distinct:
        return value(random.below(100));
      case KeyPattern::zipf:
        return value(
            static_cast<std::uint64_t>(std::pow(static_cast<double>(n), random.uniform())));
      case KeyPattern::every_magnitude:
        return from_bits<Key>((random() | 1ULL << 63) >>
                              (64 - bits + random.below(static_cast<std::uint64_t>(bits))));
      case KeyPattern::all_first:
        return first_key<Key>();
      case KeyPattern::all_last:
        return last_key<Key>();
      case KeyPattern::last_or_random:
        return random.below(2) == 0 ? last_key<Key>() : from_bits<Key>(random());
      case KeyPattern::special:
        return special[random.below(special.size())];
      case KeyPattern::equal_high_24:
        return from_bits<Key>(constant << (bits - 24) |
                              (random() & (~std::uint64_t{0} >> (88 - bits))));
      case KeyPattern::equal_high_half:
        return from_bits<Key>(constant << (bits / 2) |
                              (random() & (~std::uint64_t{0} >> (64 - bits / 2))));
      case KeyPattern::equal_low_24:
        return from_bits<Key>(random() << 24 | (constant & 0xffffff));
      default:
        return from_bits<Key>(random());
    }
  };
  std::vector<Key> keys(n);
  for (std::uint64_t i = 0; i < n; ++i) keys[i] = draw(i);
  const auto before = [](Key a, Key b) { return segsort::reference::before(a, b, {}); };
  if (pattern == KeyPattern::sorted || pattern == KeyPattern::reverse ||
      pattern == KeyPattern::one_disturbed || pattern == KeyPattern::organ_pipe)
    std::sort(keys.begin(), keys.end(), before);
  if (pattern == KeyPattern::reverse) std::reverse(keys.begin(), keys.end());
  if (pattern == KeyPattern::organ_pipe)
    std::reverse(keys.begin() + static_cast<std::ptrdiff_t>(n / 2), keys.end());
  if (pattern == KeyPattern::one_disturbed && n > 0)
    std::swap(keys[random.below(n)], keys[random.below(n)]);
  return keys;
}

/// Which bits of the keys a pattern is laid into.
enum class KeyPlacement {
  whole,
  high_half,  ///< the lower half of the bits is zero
  low_half,   ///< the upper half of the bits is zero
};

/// The keys with what stands in either half of their bits laid into one of them.
template <class Key>
[[nodiscard]] std::vector<Key> placed(std::vector<Key> keys, KeyPlacement placement) {
  constexpr int half = static_cast<int>(4 * sizeof(Key));
  constexpr std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  if (placement == KeyPlacement::whole) return keys;
  for (Key& key : keys) {
    const std::uint64_t bits = std::bit_cast<Bits<Key>>(key);
    const std::uint64_t folded = (bits >> half | bits) & mask;
    key = from_bits<Key>(placement == KeyPlacement::high_half ? folded << half : folded);
  }
  return keys;
}

/// Bitwise image: NaNs with equal payload are equal, zeros of different sign are not.
template <class Key>
[[nodiscard]] std::vector<Bits<Key>> bits_of(const std::vector<Key>& keys) {
  std::vector<Bits<Key>> bits(keys.size());
  std::transform(keys.begin(), keys.end(), bits.begin(),
                 [](Key key) { return std::bit_cast<Bits<Key>>(key); });
  return bits;
}

}  // namespace sortie::test
