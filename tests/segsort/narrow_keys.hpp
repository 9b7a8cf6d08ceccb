// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "tests/segsort/key_patterns.hpp"

/// Keys of 1 and 2 bytes for selections.
namespace sortie::test {

enum class NarrowPattern {
  random_bits,  ///< for floating-point keys: also NaNs, subnormal numbers, infinities
  few,          ///< three values
  equal,        ///< the key with all bits set
  ascending,    ///< as unsigned numbers
  special,      ///< zeros of both signs, infinities, NaNs with payloads; extremes of integers
};
inline constexpr NarrowPattern narrow_patterns[] = {NarrowPattern::random_bits, NarrowPattern::few,
                                                    NarrowPattern::equal, NarrowPattern::ascending,
                                                    NarrowPattern::special};

template <class Key>
[[nodiscard]] std::vector<Key> narrow_keys(NarrowPattern pattern, std::uint64_t n) {
  static_assert(sizeof(Key) < 4);
  // Of a Float16 and a BFloat16; cut to a byte, the extremes of integers are among them.
  constexpr std::uint16_t special[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x7c00, 0xfc00, 0x7c01,
                                       0xfc01, 0x7e00, 0xfe00, 0x7f80, 0xff80, 0x7fc1, 0xffc1,
                                       0x7fff, 0xffff, 0x7f7f, 0x0080, 0x007f, 0x3c00, 0xbc00};
  Random random(n);
  std::vector<Bits<Key>> bits(n);
  for (auto& word : bits) {
    switch (pattern) {
      case NarrowPattern::random_bits:
      case NarrowPattern::ascending:
        word = static_cast<Bits<Key>>(random());
        break;
      case NarrowPattern::few:
        word = static_cast<Bits<Key>>(random.below(3) * 0x55);
        break;
      case NarrowPattern::equal:
        word = static_cast<Bits<Key>>(~std::uint64_t{0});
        break;
      case NarrowPattern::special:
        word = static_cast<Bits<Key>>(special[random.below(std::size(special))]);
        break;
    }
  }
  if (pattern == NarrowPattern::ascending) std::sort(bits.begin(), bits.end());
  std::vector<Key> keys(n);
  std::transform(bits.begin(), bits.end(), keys.begin(),
                 [](Bits<Key> word) { return std::bit_cast<Key>(word); });
  return keys;
}

}  // namespace sortie::test
