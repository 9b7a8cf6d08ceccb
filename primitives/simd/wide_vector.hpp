// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/simd/vector_unit.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS

#include <concepts>
#include <cstddef>
#include <cstdint>

SORTIE_BEGIN_INTRINSICS

namespace sortie {

/// An AVX-512 register of words: the instructions that sort_words() needs, with the same names for
/// words of 32 and 64 bits.
///
/// A mask has one bit per lane. Functions that use WideVector must be compiled for
/// SORTIE_TARGET_AVX512 and run only if vector_unit() is VectorUnit::avx512.
template <std::unsigned_integral Word>
struct WideVector;

/// See WideVector.
template <>
struct WideVector<std::uint32_t> {
  using Word = std::uint32_t;
  using Mask = __mmask16;
  static constexpr std::size_t lanes = 16;

  SORTIE_TARGET_AVX512 static WideVector load(const Word* from) {
    return {_mm512_loadu_si512(from)};
  }
  /// Lanes whose mask bit is clear are not read and take the words of `others`.
  SORTIE_TARGET_AVX512 static WideVector load(const Word* from, Mask mask, WideVector others) {
    return {_mm512_mask_loadu_epi32(others.words, mask, from)};
  }
  /// from[0], from[stride], ..., from[15 * stride]
  SORTIE_TARGET_AVX512 static WideVector load_strided(const Word* from, std::size_t stride) {
    const __m512i number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i place =
        _mm512_mullo_epi32(number, _mm512_set1_epi32(static_cast<std::int32_t>(stride)));
    return {_mm512_i32gather_epi32(place, from, sizeof(Word))};
  }
  SORTIE_TARGET_AVX512 static WideVector all(Word word) {
    return {_mm512_set1_epi32(static_cast<std::int32_t>(word))};
  }
  SORTIE_TARGET_AVX512 void store(Word* to) const { _mm512_storeu_si512(to, words); }
  SORTIE_TARGET_AVX512 void store(Word* to, Mask mask) const {
    _mm512_mask_storeu_epi32(to, mask, words);
  }

  /// Mask of the lanes whose word is not above that of `other`.
  [[nodiscard]] SORTIE_TARGET_AVX512 Mask not_above(WideVector other) const {
    return _mm512_cmple_epu32_mask(words, other.words);
  }
  /// Compresses the words whose mask bit is set into the lowest lanes.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector compressed(Mask mask) const {
    return {_mm512_maskz_compress_epi32(mask, words)};
  }
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector least(WideVector other) const {
    return {_mm512_min_epu32(words, other.words)};
  }
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector greatest(WideVector other) const {
    return {_mm512_max_epu32(words, other.words)};
  }
  /// Leaves the lesser words in `first` and the greater in `second`.
  SORTIE_TARGET_AVX512 static void exchange(WideVector& first, WideVector& second) {
    const WideVector least = first.least(second);
    second = first.greatest(second);
    first = least;
  }
  /// Per lane, the greater word where the mask bit is set, elsewhere the lesser.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector ordered(WideVector other, Mask mask) const {
    return {_mm512_mask_max_epu32(least(other).words, mask, words, other.words)};
  }
  /// Lane i receives the word of lane i ^ Flip.
  template <int Flip>
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector flipped() const {
    const __m512i from = _mm512_setr_epi32(
        0 ^ Flip, 1 ^ Flip, 2 ^ Flip, 3 ^ Flip, 4 ^ Flip, 5 ^ Flip, 6 ^ Flip, 7 ^ Flip, 8 ^ Flip,
        9 ^ Flip, 10 ^ Flip, 11 ^ Flip, 12 ^ Flip, 13 ^ Flip, 14 ^ Flip, 15 ^ Flip);
    return {_mm512_permutexvar_epi32(from, words)};
  }
  /// Lane i receives the lane of (this, other) whose index is in lane i of `from`.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector selected(WideVector from, WideVector other) const {
    return {_mm512_permutex2var_epi32(words, from.words, other.words)};
  }
  /// The bits in which words differ from those of `other` (XOR).
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector differing(WideVector other) const {
    return {_mm512_xor_si512(words, other.words)};
  }
  /// The words, with `bits` flipped where the highest bit is set.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector flipped_if_negative(WideVector bits) const {
    constexpr int xor_of_and = 0x78;
    return {_mm512_ternarylogic_epi32(words, _mm512_srai_epi32(words, 31), bits.words, xor_of_and)};
  }

  __m512i words;
};

/// See WideVector.
template <>
struct WideVector<std::uint64_t> {
  using Word = std::uint64_t;
  using Mask = __mmask8;
  static constexpr std::size_t lanes = 8;

  SORTIE_TARGET_AVX512 static WideVector load(const Word* from) {
    return {_mm512_loadu_si512(from)};
  }
  /// Lanes whose mask bit is clear are not read and take the words of `others`.
  SORTIE_TARGET_AVX512 static WideVector load(const Word* from, Mask mask, WideVector others) {
    return {_mm512_mask_loadu_epi64(others.words, mask, from)};
  }
  /// from[0], from[stride], ..., from[7 * stride]
  SORTIE_TARGET_AVX512 static WideVector load_strided(const Word* from, std::size_t stride) {
    const __m512i number = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i place =
        _mm512_mullo_epi64(number, _mm512_set1_epi64(static_cast<std::int64_t>(stride)));
    return {_mm512_i64gather_epi64(place, from, sizeof(Word))};
  }
  SORTIE_TARGET_AVX512 static WideVector all(Word word) {
    return {_mm512_set1_epi64(static_cast<std::int64_t>(word))};
  }
  SORTIE_TARGET_AVX512 void store(Word* to) const { _mm512_storeu_si512(to, words); }
  SORTIE_TARGET_AVX512 void store(Word* to, Mask mask) const {
    _mm512_mask_storeu_epi64(to, mask, words);
  }

  /// Mask of the lanes whose word is not above that of `other`.
  [[nodiscard]] SORTIE_TARGET_AVX512 Mask not_above(WideVector other) const {
    return _mm512_cmple_epu64_mask(words, other.words);
  }
  /// Compresses the words whose mask bit is set into the lowest lanes.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector compressed(Mask mask) const {
    return {_mm512_maskz_compress_epi64(mask, words)};
  }
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector least(WideVector other) const {
    return {_mm512_min_epu64(words, other.words)};
  }
  /// Leaves the lesser words in `first` and the greater in `second`.
  ///
  /// By a comparison and two blends: the 64-bit minimum and maximum take two operations each, all
  /// on the same execution unit.
  SORTIE_TARGET_AVX512 static void exchange(WideVector& first, WideVector& second) {
    const Mask in_order = _mm512_cmplt_epu64_mask(first.words, second.words);
    const __m512i least = _mm512_mask_blend_epi64(in_order, second.words, first.words);
    second.words = _mm512_mask_blend_epi64(in_order, first.words, second.words);
    first.words = least;
  }
  /// Per lane, the greater word where the mask bit is set, elsewhere the lesser.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector ordered(WideVector other, Mask mask) const {
    return {_mm512_mask_max_epu64(least(other).words, mask, words, other.words)};
  }
  /// Lane i receives the word of lane i ^ Flip.
  template <int Flip>
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector flipped() const {
    const __m512i from = _mm512_setr_epi64(0 ^ Flip, 1 ^ Flip, 2 ^ Flip, 3 ^ Flip, 4 ^ Flip,
                                           5 ^ Flip, 6 ^ Flip, 7 ^ Flip);
    return {_mm512_permutexvar_epi64(from, words)};
  }
  /// Lane i receives the lane of (this, other) whose index is in lane i of `from`.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector selected(WideVector from, WideVector other) const {
    return {_mm512_permutex2var_epi64(words, from.words, other.words)};
  }
  /// The bits in which words differ from those of `other` (XOR).
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector differing(WideVector other) const {
    return {_mm512_xor_si512(words, other.words)};
  }
  /// The words, with `bits` flipped where the highest bit is set.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector flipped_if_negative(WideVector bits) const {
    constexpr int xor_of_and = 0x78;
    return {_mm512_ternarylogic_epi64(words, _mm512_srai_epi64(words, 63), bits.words, xor_of_and)};
  }

  __m512i words;
};

/// Mask of the `count` lowest lanes; of all lanes if `count` exceeds their number.
template <std::unsigned_integral Word>
[[nodiscard]] SORTIE_TARGET_AVX512 inline typename WideVector<Word>::Mask low_lanes(
    std::size_t count) {
  // bzhi uses only the lowest eight bits of the count.
  const auto bits = static_cast<unsigned>(count < 32 ? count : 32);
  return static_cast<typename WideVector<Word>::Mask>(_bzhi_u32(~0U, bits));
}

}  // namespace sortie

SORTIE_END_INTRINSICS

#endif
