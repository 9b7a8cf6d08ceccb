// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/arguments.cuh"

/// The digits of keys, by which radix passes sort: of the bits of their words, or of their magnitudes.
namespace sortie::segsort::radix {

inline constexpr int digit_bits = 8;
inline constexpr unsigned int digits = 1 << digit_bits;
inline constexpr int most_passes = 64 / digit_bits;
/// A sort by buckets takes passes over the highest digits alone.
inline constexpr int bucket_passes = 2;

/// Word of a key: its digits ascend in sort order.
template <class Word>
__device__ __forceinline__ Word word_of(const BitRangeCodec<Word>& codec, Word key) {
  return codec.plain ? key : codec.encode(key);
}
/// The compared bits of a key as a number that ascends in sort order.
template <class Word>
__device__ __forceinline__ Word compared_bits(const BitRangeCodec<Word>& codec, Word key) {
  return codec.plain ? key : codec.encode(key) & codec.compare_mask;
}

template <class Word>
inline constexpr int all_passes = static_cast<int>(sizeof(Word)) * 8 / digit_bits;
/// Passes for the bits that are compared.
template <class Word>
__host__ __device__ int passes_of(const BitRangeCodec<Word>& codec) {
  return (static_cast<int>(sizeof(Word)) * 8 - codec.ignored_bits + digit_bits - 1) / digit_bits;
}

/// Bits below the highest one in a magnitude, so that magnitudes have two digits.
template <class Word>
inline constexpr int magnitude_bits = sizeof(Word) == 8 ? 10 : 11;
/// A word as a floating-point number: the place of its highest bit, and the bits below that. Ascends
/// with the word. Keys of a density of 1/x have evenly spread magnitudes.
template <class Word>
__device__ __forceinline__ std::uint32_t magnitude(Word word) {
  constexpr int bits = magnitude_bits<Word>;
  int highest;
  if constexpr (sizeof(Word) == 8) {
    highest = 63 - __clzll(static_cast<long long>(word | Word{1} << bits));
  } else {
    highest = 31 - __clz(static_cast<int>(std::uint32_t{word} | 1u << bits));
  }
  const auto leading = static_cast<std::uint32_t>(word >> (highest - bits));
  return leading + (static_cast<std::uint32_t>(highest - bits) << bits);
}
/// Each word below has a magnitude of its own, which is the word.
template <class Word>
inline constexpr Word exact_magnitudes = Word{2} << magnitude_bits<Word>;

/// How the items of a pass are moved: by the bits of their words from `shift` on.
struct BitDigits {
  static constexpr bool writes_keys = true;  ///< the keys are moved as well as the values

  template <class Word>
  __device__ __forceinline__ static std::uint32_t digit(Word word, int shift) {
    return static_cast<std::uint32_t>(word >> shift) & (digits - 1);
  }
};
/// Keys that are their own words.
template <class Word>
struct PlainKeys : BitDigits {
  __device__ __forceinline__ static Word encode(Word key) { return key; }
  __device__ __forceinline__ static Word decode(Word word) { return word; }
  /// Calls function(coding) with the coding to use for all keys of a tile.
  template <class Function>
  __device__ __forceinline__ void choose(const Function& function) const {
    function(*this);
  }
};
/// Keys that are encoded without a rotation.
template <class Word>
struct UnrotatedKeys {
  const KeyCodec<Word>& codec;

  __device__ __forceinline__ Word encode(Word key) const { return codec.encoded(key); }
  __device__ __forceinline__ Word decode(Word word) const { return codec.decoded(word); }
};
template <class Word>
struct EncodedKeys : BitDigits {
  const BitRangeCodec<Word>& codec;

  __device__ explicit EncodedKeys(const BitRangeCodec<Word>& codec) : codec(codec) {}
  __device__ __forceinline__ Word encode(Word key) const { return codec.encode(key); }
  __device__ __forceinline__ Word decode(Word word) const { return codec.decode(word); }
  template <class Function>
  __device__ __forceinline__ void choose(const Function& function) const {
    if (codec.rotation == 0) {
      function(UnrotatedKeys<Word>{codec.codec});
    } else {
      function(*this);
    }
  }
};

/// Keys by the digits of their magnitudes.
template <class Word>
struct MagnitudeKeys {
  static constexpr bool writes_keys = true;

  const BitRangeCodec<Word>& codec;

  /// \param shift  as of the two highest digits of a word
  __device__ __forceinline__ static std::uint32_t digit(Word word, int shift) {
    constexpr int of_lower = (all_passes<Word> - bucket_passes) * digit_bits;
    return magnitude(word) >> (shift - of_lower) & (digits - 1);
  }
  __device__ __forceinline__ Word encode(Word key) const { return word_of(codec, key); }
  __device__ __forceinline__ Word decode(Word word) const {
    return codec.plain ? word : codec.decode(word);
  }
  template <class Function>
  __device__ __forceinline__ void choose(const Function& function) const {
    function(*this);
  }
};

}  // namespace sortie::segsort::radix
