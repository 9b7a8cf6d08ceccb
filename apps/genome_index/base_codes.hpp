// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

/// Arrays of codes of letters, a byte each: A, C, G and T have 0 to 3. Eight are taken at a time, as
/// a number of 64 bits.
namespace sortie::genomes {

/// In a Burrows-Wheeler transform, the place of the suffix at 0, which no letter precedes.
inline constexpr std::uint8_t end_code = 4;

using LetterCounts = std::array<std::uint64_t, 4>;

namespace detail {

/// A 1 in each byte.
inline constexpr std::uint64_t ones = 0x0101010101010101;

[[nodiscard]] inline std::uint64_t load_eight(const std::uint8_t* codes) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, codes, sizeof eight);
  return eight;
}
[[nodiscard]] constexpr std::uint64_t sum_of_bytes(std::uint64_t eight) {
  constexpr std::uint64_t even = 0x00ff00ff00ff00ff;
  return ((eight & even) + (eight >> 8 & even)) * 0x0001000100010001 >> 48;
}

}  // namespace detail

/// Adds the numbers of the codes 0 to 3 to `counts`. Each code is at most end_code, which is not
/// counted.
inline void count_codes(const std::uint8_t* codes, std::uint64_t n, LetterCounts& counts) {
  std::uint64_t begin = 0;
  std::array<std::uint64_t, 4> all{};  // codes with the lowest bit, the second, both, the third
  while (n - begin >= 8) {
    constexpr std::uint64_t most_of_a_byte = 255;
    const std::uint64_t end = begin + std::min((n - begin) / 8, most_of_a_byte) * 8;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t both = 0;
    std::uint64_t third = 0;
    for (; begin < end; begin += 8) {
      const std::uint64_t eight = detail::load_eight(codes + begin);
      const std::uint64_t low_bits = eight & detail::ones;
      const std::uint64_t high_bits = eight >> 1 & detail::ones;
      low += low_bits;
      high += high_bits;
      both += low_bits & high_bits;
      third += eight >> 2 & detail::ones;
    }
    all[0] += detail::sum_of_bytes(low);
    all[1] += detail::sum_of_bytes(high);
    all[2] += detail::sum_of_bytes(both);
    all[3] += detail::sum_of_bytes(third);
  }
  counts[0] += begin - all[0] - all[1] + all[2] - all[3];
  counts[1] += all[0] - all[2];
  counts[2] += all[1] - all[2];
  counts[3] += all[2];
  for (; begin < n; ++begin)
    if (codes[begin] != end_code) ++counts[codes[begin]];
}

/// Eight codes below 4 in 2 bits each, the first in the highest.
[[nodiscard]] inline std::uint16_t pack_eight(const std::uint8_t* codes) {
  std::uint64_t eight = detail::load_eight(codes);
  if constexpr (std::endian::native == std::endian::little) eight = __builtin_bswap64(eight);
  eight = (eight | eight >> 6) & 0x000f000f000f000f;
  eight = (eight | eight >> 12) & 0x000000ff000000ff;
  return static_cast<std::uint16_t>(eight | eight >> 24);
}

/// Writes the reverse complement of n codes: that of codes[n - 1] first.
inline void write_reverse_complement(const std::uint8_t* codes, std::uint64_t n, std::uint8_t* to) {
  std::uint64_t left = n;
  for (; left >= 8; left -= 8, to += 8) {
    const std::uint64_t eight =
        3 * detail::ones - __builtin_bswap64(detail::load_eight(codes + left - 8));
    std::memcpy(to, &eight, sizeof eight);
  }
  while (left > 0) *to++ = static_cast<std::uint8_t>(3 - codes[--left]);
}

}  // namespace sortie::genomes
