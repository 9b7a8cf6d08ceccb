// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sortie::segsort {

/// Array of numbers of `Bits` bits, several per register. Indices must be compile-time constants.
/// Numbers must be set in ascending order of index.
template <int Count, int Bits>
class ShortNumbers {
 public:
  __device__ __forceinline__ void set(int i, std::uint32_t number) {
    const int shift = i % in_word * Bits;
    std::uint32_t& word = words_[i / in_word];
    word = shift == 0 ? number : word | number << shift;
    // Force the packing here: otherwise the compiler keeps the operands in registers until the
    // numbers are read.
    asm volatile("" : "+r"(word));
  }
  __device__ __forceinline__ std::uint32_t operator[](int i) const {
    const int shift = i % in_word * Bits;
    return words_[i / in_word] >> shift & ((1u << Bits) - 1);
  }

 private:
  static constexpr int in_word = 32 / Bits;
  std::uint32_t words_[(Count - 1) / in_word + 1];
};

}  // namespace sortie::segsort
