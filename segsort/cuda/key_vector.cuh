// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Keys that are loaded and stored 16 bytes at a time.
namespace sortie::segsort {

/// Keys in a 16-byte word of an array.
template <class Word>
union KeyVector {
  uint4 whole;
  Word keys[16 / sizeof(Word)];
};
template <class Word>
inline constexpr unsigned int vector_keys = 16 / sizeof(Word);

/// Keys before the first 16-byte word of an array.
template <class Word>
__device__ std::uint64_t keys_before_vectors(const Word* keys, std::uint64_t n) {
  const auto address = reinterpret_cast<std::uintptr_t>(keys);
  return min((16 - address % 16) % 16 / sizeof(Word), n);
}

}  // namespace sortie::segsort
