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

/// 64-bit FNV-1a over bytes, as 16 hexadecimal digits: the checksum of results in reports.
[[nodiscard]] inline std::string checksum(const void* data, std::size_t bytes) {
  std::uint64_t hash = extend_checksum(checksum_seed, data, bytes);
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, hash >>= 4)
    *digit = "0123456789abcdef"[hash & 15];
  return digits;
}

}  // namespace sortie
