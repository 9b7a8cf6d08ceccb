// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/warp.cuh"

/// The threshold of a selection: which words are among the least.
namespace sortie::segsort {

__device__ __forceinline__ std::uint32_t total_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(full_warp, value);
#else
  return sum_in_warp(value);
#endif
}
__device__ __forceinline__ std::uint32_t bits_of_warp(std::uint32_t bits) {
  return or_in_warp(bits);
}
__device__ __forceinline__ std::uint64_t bits_of_warp(std::uint64_t bits) {
  return std::uint64_t{or_in_warp(static_cast<std::uint32_t>(bits >> 32))} << 32 |
         or_in_warp(static_cast<std::uint32_t>(bits));
}
/// Number of the highest bit that is set, -1 for 0.
template <class Word>
__device__ __forceinline__ int highest_bit(Word bits) {
  if constexpr (sizeof(Word) == 4) {
    return 31 - __clz(static_cast<int>(bits));
  } else {
    return 63 - __clzll(static_cast<long long>(bits));
  }
}

/// The words selected: those less than `word`, and the first `ties` of those equal to it.
template <class Word>
struct Threshold {
  Word word;
  std::uint32_t ties;

  /// The greatest selected word; the ties are then not restricted.
  [[nodiscard]] __device__ Word greatest() const { return ties == 0 ? word - 1 : word; }
};

/// The threshold of the `wanted` least words, by its bits from the highest that differs. Ends when
/// a prefix selects exactly `wanted`: for random words after about log2(n) + 2 bits.
///
/// \param low      the common bits of all words, followed by zeros
/// \param bit      the highest bit that differs, or -1
/// \param less     less(word): number of words that are less
template <class Word, class Less>
__device__ __forceinline__ Threshold<Word> find_threshold(Word low, int bit, std::uint32_t wanted,
                                                          const Less& less) {
  std::uint32_t below = 0;
  for (; bit >= 0; --bit) {
    const Word middle = low | Word{1} << bit;
    const std::uint32_t count = less(middle);
    if (count == wanted) return {middle, 0};
    if (count < wanted) {
      low = middle;
      below = count;
    }
  }
  return {low, wanted - below};
}

template <class Word>
__device__ __forceinline__ Word without_low_bits(Word word, int bit) {
  return bit < 0 ? word : static_cast<Word>(word >> bit >> 1 << bit << 1);
}

/// The threshold of words in the registers of a warp; words of lanes without one are all ones.
/// \pre 0 < wanted <= number of words
template <int Rows, class Word>
__device__ __forceinline__ Threshold<Word> threshold_in_warp(const Word (&words)[Rows],
                                                             std::uint32_t wanted) {
  const Word first = __shfl_sync(full_warp, words[0], 0);
  Word different = 0;
#pragma unroll
  for (int r = 0; r < Rows; ++r) different |= words[r] ^ first;
  const int bit = highest_bit(bits_of_warp(different));
  return find_threshold(without_low_bits(first, bit), bit, wanted, [&](Word middle) {
    std::uint32_t count = 0;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      // Votes take less time than the sum over a warp.
      count += Rows <= 2 ? lanes_of(__ballot_sync(full_warp, words[r] < middle))
                         : (words[r] < middle ? 1 : 0);
    }
    return Rows <= 2 ? count : total_of_warp(count);
  });
}

/// A bound in TopKLists::bounds: one more, since 0 means that there is none. The two greatest
/// 64-bit words are stored, and loaded, as the greatest.
__device__ __forceinline__ unsigned long long stored_bound(unsigned long long bound) {
  return min(bound, ~0ULL - 1) + 1;
}
template <class Word>
__device__ __forceinline__ Word loaded_bound(unsigned long long stored) {
  return static_cast<Word>(stored == ~0ULL ? stored : stored - 1);
}

}  // namespace sortie::segsort
