// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "sortie/key_types.hpp"
#include "tests/reference/sort.hpp"

namespace sortie::test {

template <class Key>
using BitsOf = std::conditional_t<
    sizeof(Key) == 1, std::uint8_t,
    std::conditional_t<sizeof(Key) == 2, std::uint16_t,
                       std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>>>;

template <class Key>
[[nodiscard]] Key key_of_bits(std::uint64_t bits) {
  return std::bit_cast<Key>(static_cast<BitsOf<Key>>(bits));
}

/// How the bits of keys are drawn, before they are taken for a key of some type.
struct Distribution {
  enum class Kind {
    uniform,
    zipf,     ///< value v with a probability proportional to v^-parameter
    entropy,  ///< `parameter` low bits uniform, the others 0
    equal,
    sorted,
    reverse,
    nearly_sorted,
    shared_digit,  ///< 0x00AA.... and 0x01AA...., spanning buckets of the same second digit
    extremes,      ///< 0, all ones, and what lies beside them
    blocks,        ///< every 1/8 of the array one value, so that shares hold one value each
  };
  std::string name;
  Kind kind;
  double parameter = 0;
};

[[nodiscard]] inline std::vector<Distribution> distributions() {
  using Kind = Distribution::Kind;
  std::vector<Distribution> all{{"uniform", Kind::uniform},
                                {"zipf 0.5", Kind::zipf, 0.5},
                                {"zipf 1", Kind::zipf, 1},
                                {"zipf 2", Kind::zipf, 2},
                                {"equal", Kind::equal},
                                {"sorted", Kind::sorted},
                                {"reverse", Kind::reverse},
                                {"nearly sorted", Kind::nearly_sorted},
                                {"0x00AA and 0x01AA", Kind::shared_digit},
                                {"extremes", Kind::extremes},
                                {"blocks", Kind::blocks}};
  for (const int bits : {0, 1, 2, 7, 8, 9, 12, 17, 25, 26, 31, 32})
    all.push_back({"entropy " + std::to_string(bits), Kind::entropy, double(bits)});
  return all;
}

/// Bits of `n` keys of `key_bits` bits.
[[nodiscard]] inline std::vector<std::uint64_t> draw_bits(const Distribution& distribution,
                                                          int key_bits, std::uint64_t n,
                                                          std::uint64_t seed = 1) {
  using Kind = Distribution::Kind;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - key_bits);
  Random random(seed);
  // The inverse of the continuous law v^-s on [1, 2^20].
  const auto zipf = [&](double s) {
    const double most = 0x1p20;
    const double u = random.uniform();
    if (s == 1) return std::pow(most, u);
    return std::pow(1 + u * (std::pow(most, 1 - s) - 1), 1 / (1 - s));
  };
  const auto draw = [&](std::uint64_t i) -> std::uint64_t {
    switch (distribution.kind) {
      case Kind::zipf:
        return static_cast<std::uint64_t>(zipf(distribution.parameter));
      case Kind::entropy:
        return random() & ((std::uint64_t{1} << static_cast<int>(distribution.parameter)) - 1);
      case Kind::equal:
        return 0x1234567890abcdef;
      case Kind::shared_digit:
        return (random.below(2) << 8 | 0xaa) << std::max(0, key_bits - 16) |
               (key_bits > 16 ? random() & (mask >> 16) : 0);
      case Kind::extremes:
        return random.below(2) == 0 ? random.below(2) : mask - random.below(2);
      case Kind::blocks:
        return (0x9e3779b97f4a7c15 * (8 * i / n + 1)) >> (64 - key_bits);
      default:
        return random();
    }
  };
  std::vector<std::uint64_t> bits(n);
  for (std::uint64_t i = 0; i < n; ++i) bits[i] = draw(i) & mask;
  if (distribution.kind == Kind::sorted || distribution.kind == Kind::reverse ||
      distribution.kind == Kind::nearly_sorted)
    std::sort(bits.begin(), bits.end());
  if (distribution.kind == Kind::reverse) std::reverse(bits.begin(), bits.end());
  if (distribution.kind == Kind::nearly_sorted) {
    for (std::uint64_t i = 0; i < n / 50; ++i)
      std::swap(bits[random.below(n)], bits[random.below(n)]);
  }
  return bits;
}

template <class Key>
[[nodiscard]] std::vector<Key> draw_keys(const Distribution& distribution, std::uint64_t n,
                                         std::uint64_t seed = 1) {
  std::vector<Key> keys;
  for (const std::uint64_t bits : draw_bits(distribution, 8 * sizeof(Key), n, seed))
    keys.push_back(key_of_bits<Key>(bits));
  return keys;
}

/// Bitwise image: NaNs of equal payload are equal, zeros of different sign are not.
template <class Key>
[[nodiscard]] std::vector<BitsOf<Key>> images_of(const std::vector<Key>& keys) {
  std::vector<BitsOf<Key>> images;
  for (const Key key : keys) images.push_back(std::bit_cast<BitsOf<Key>>(key));
  return images;
}

}  // namespace sortie::test
