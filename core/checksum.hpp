// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sortie {

/// Initial value of a checksum that is computed in several steps by extend_checksum().
inline constexpr std::uint64_t checksum_seed = 0xcbf29ce484222325ULL;

/// Extends a 64-bit FNV-1a hash by further bytes.
[[nodiscard]] inline std::uint64_t extend_checksum(std::uint64_t seed, const void* data,
                                                   std::size_t bytes) {
  constexpr std::uint64_t prime = 0x100000001b3ULL;
  const auto* const first = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) seed = (seed ^ first[i]) * prime;
  return seed;
}

/// A checksum in reports and descriptions: 16 hexadecimal digits.
[[nodiscard]] inline std::string checksum_text(std::uint64_t checksum) {
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, checksum >>= 4)
    *digit = "0123456789abcdef"[checksum & 15];
  return digits;
}

/// The checksum of results in reports: of the elements of several arrays, one after the other.
template <class... Arrays>
[[nodiscard]] std::string checksum_of(const Arrays&... arrays) {
  std::uint64_t sum = checksum_seed;
  ((sum = extend_checksum(sum, arrays.data(), arrays.size() * sizeof(arrays[0]))), ...);
  return checksum_text(sum);
}

}  // namespace sortie
