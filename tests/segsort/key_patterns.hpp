#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sortie/core/random.hpp"
#include "sortie/segsort/key_types.hpp"
#include "sortie/segsort/reference.hpp"

namespace sortie::test {

enum class KeyPattern {
  random_bits,  ///< for floating-point keys: also NaNs, denormals, infinities
  sorted,
  reverse,
  equal,
  few_distinct,
  all_first,  ///< the key before all others in the order of its type
  all_last,   ///< the key after all others: what a sort may take for padding
  last_or_random,
  special,  ///< infinities, zeros of both signs, NaNs with payloads; extremes of integers
};

inline constexpr KeyPattern key_patterns[] = {
    KeyPattern::random_bits, KeyPattern::sorted,         KeyPattern::reverse,
    KeyPattern::equal,       KeyPattern::few_distinct,   KeyPattern::all_first,
    KeyPattern::all_last,    KeyPattern::last_or_random, KeyPattern::special,
};

template <class Key>
using Bits = std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>;

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
  Random random(seed);
  const std::vector<Key> special = special_keys<Key>();
  const auto draw = [&]() -> Key {
    switch (pattern) {
      case KeyPattern::equal:
        return Key{42};
      case KeyPattern::few_distinct:
        return static_cast<Key>(random.below(5));
      case KeyPattern::all_first:
        return first_key<Key>();
      case KeyPattern::all_last:
        return last_key<Key>();
      case KeyPattern::last_or_random:
        return random.below(2) == 0 ? last_key<Key>() : from_bits<Key>(random());
      case KeyPattern::special:
        return special[random.below(special.size())];
      default:
        return from_bits<Key>(random());
    }
  };
  std::vector<Key> keys(n);
  for (Key& key : keys) key = draw();
  const auto before = [](Key a, Key b) { return segsort::reference::before(a, b, {}); };
  if (pattern == KeyPattern::sorted || pattern == KeyPattern::reverse)
    std::sort(keys.begin(), keys.end(), before);
  if (pattern == KeyPattern::reverse) std::reverse(keys.begin(), keys.end());
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
