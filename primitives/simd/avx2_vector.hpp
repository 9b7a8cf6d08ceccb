// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "primitives/simd/vector_unit.hpp"

namespace sortie {

#ifdef SORTIE_HAVE_VECTOR_UNITS
SORTIE_BEGIN_INTRINSICS

/// An AVX2 register of words of 32 or 64 bits: what sort_words() needs, with the interface of
/// WideVector.
///
/// AVX2 has no mask registers: masks for loads and stores are registers, in which the lanes are all
/// ones or zero. It compares signed words only, so unsigned 64-bit words are compared with their
/// highest bits flipped. Functions that use Avx2Vector must be compiled for SORTIE_TARGET_AVX2 and
/// run only if vector_unit() is not VectorUnit::baseline.
template <std::unsigned_integral Word>
requires(sizeof(Word) == 4 || sizeof(Word) == 8) struct Avx2Vector {
  static constexpr std::size_t lanes = 32 / sizeof(Word);
  static constexpr bool is_wide = sizeof(Word) == 8;
  using Mask = __m256i;
  using Bits = std::uint8_t;  ///< one bit per lane
  static constexpr Bits all_bits = static_cast<Bits>((1U << lanes) - 1);

  SORTIE_TARGET_AVX2 static Avx2Vector load(const Word* from) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
  }
  /// Lanes outside the mask are not read and take the words of `others`.
  SORTIE_TARGET_AVX2 static Avx2Vector load(const Word* from, Mask mask, Avx2Vector others) {
    __m256i read;
    if constexpr (is_wide) {
      read = _mm256_maskload_epi64(reinterpret_cast<const long long*>(from), mask);
    } else {
      read = _mm256_maskload_epi32(reinterpret_cast<const int*>(from), mask);
    }
    return {_mm256_blendv_epi8(others.words, read, mask)};
  }
  /// from[0], from[stride], ..., from[(lanes - 1) * stride]
  SORTIE_TARGET_AVX2 static Avx2Vector load_strided(const Word* from, std::size_t stride) {
    std::array<Word, lanes> read;
    for (std::size_t lane = 0; lane < lanes; ++lane) read[lane] = from[lane * stride];
    return load(read.data());
  }
  SORTIE_TARGET_AVX2 static Avx2Vector all(Word word) {
    if constexpr (is_wide)
      return {_mm256_set1_epi64x(static_cast<long long>(word))};
    else
      return {_mm256_set1_epi32(static_cast<int>(word))};
  }
  SORTIE_TARGET_AVX2 void store(Word* to) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), words);
  }
  SORTIE_TARGET_AVX2 void store(Word* to, Mask mask) const {
    if constexpr (is_wide) {
      _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), mask, words);
    } else {
      _mm256_maskstore_epi32(reinterpret_cast<int*>(to), mask, words);
    }
  }
  /// Mask of the `count` lowest lanes; of all lanes if `count` exceeds their number.
  [[nodiscard]] SORTIE_TARGET_AVX2 static Mask low_lanes(std::size_t count) {
    using Signed = std::make_signed_t<Word>;
    const auto bound = static_cast<Signed>(count < lanes ? count : lanes);
    return above(all(static_cast<Word>(bound)).words, load(flipped_lanes<0>.data()).words);
  }

  /// Bits of the lanes whose word is not above that of `other`.
  [[nodiscard]] SORTIE_TARGET_AVX2 Bits not_above(Avx2Vector other) const {
    if constexpr (is_wide) {
      const __m256i is_above = above(signed_words(), other.signed_words());
      return static_cast<Bits>(~_mm256_movemask_pd(_mm256_castsi256_pd(is_above)) & all_bits);
    } else {
      const __m256i is_equal =
          _mm256_cmpeq_epi32(_mm256_max_epu32(words, other.words), other.words);
      return static_cast<Bits>(_mm256_movemask_ps(_mm256_castsi256_ps(is_equal)));
    }
  }
  /// Writes those of the lowest `count` words whose bit is set from `left` on, and the others so
  /// that they end at `right`.
  /// \param num_lesser  number of bits that are set
  /// \tparam WholeRegister  count is `lanes`, and a whole register may be written from `left` on
  ///                        and before `right`
  template <bool WholeRegister>
  SORTIE_TARGET_AVX2 void write_parts(Bits lesser, std::size_t num_lesser, std::size_t count,
                                      Word* left, Word* right) const {
    // One permutation serves both sides: the lesser words first, then the others.
    const Avx2Vector parted{_mm256_permutevar8x32_epi32(words, parting_order(lesser))};
    if constexpr (WholeRegister) {
      parted.store(left);
      parted.store(right - lanes);
    } else {
      const Mask lesser_lanes = low_lanes(num_lesser);
      parted.store(left, lesser_lanes);
      // Lanes that are not written may lie before the array.
      const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(right) - count * sizeof(Word);
      parted.store(reinterpret_cast<Word*>(first),
                   _mm256_andnot_si256(lesser_lanes, low_lanes(count)));
    }
  }
  /// As WideVector::encoded().
  [[nodiscard]] SORTIE_TARGET_AVX2 Avx2Vector encoded(Avx2Vector negative_flip,
                                                      Avx2Vector flip) const {
    const __m256i is_negative = above(_mm256_setzero_si256(), words);
    const __m256i flipped = _mm256_and_si256(is_negative, negative_flip.words);
    return {_mm256_xor_si256(_mm256_xor_si256(words, flipped), flip.words)};
  }
  [[nodiscard]] SORTIE_TARGET_AVX2 Avx2Vector least(Avx2Vector other) const {
    if constexpr (is_wide) {
      const __m256i is_above = above(signed_words(), other.signed_words());
      return {_mm256_blendv_epi8(words, other.words, is_above)};
    } else {
      return {_mm256_min_epu32(words, other.words)};
    }
  }
  /// Leaves the lesser words in `first` and the greater in `second`.
  SORTIE_TARGET_AVX2 static void exchange(Avx2Vector& first, Avx2Vector& second) {
    if constexpr (is_wide) {
      const __m256i is_above = above(first.signed_words(), second.signed_words());
      const __m256i least = _mm256_blendv_epi8(first.words, second.words, is_above);
      second.words = _mm256_blendv_epi8(second.words, first.words, is_above);
      first.words = least;
    } else {
      const __m256i least = _mm256_min_epu32(first.words, second.words);
      second.words = _mm256_max_epu32(first.words, second.words);
      first.words = least;
    }
  }
  /// Per lane, the greater word where the bit Distance of the lane's index is set, elsewhere the
  /// lesser.
  template <int Distance>
  [[nodiscard]] SORTIE_TARGET_AVX2 Avx2Vector ordered(Avx2Vector other) const {
    Avx2Vector lesser = *this;
    Avx2Vector greater = other;
    exchange(lesser, greater);
    // Bits of 32-bit lanes.
    constexpr int distance = is_wide ? 2 * Distance : Distance;
    constexpr int upper = distance == 1 ? 0xaa : distance == 2 ? 0xcc : 0xf0;
    return {_mm256_blend_epi32(lesser.words, greater.words, upper)};
  }
  /// Lane i receives the word of lane i ^ Flip.
  template <int Flip>
  [[nodiscard]] SORTIE_TARGET_AVX2 Avx2Vector flipped() const {
    if constexpr (is_wide) {
      if constexpr (Flip == 1) return {_mm256_shuffle_epi32(words, 0x4e)};
      return {_mm256_permute4x64_epi64(words, Flip == 2 ? 0x4e : 0x1b)};
    } else if constexpr (Flip < 4) {
      constexpr int order = Flip == 1 ? 0xb1 : Flip == 2 ? 0x4e : 0x1b;
      return {_mm256_shuffle_epi32(words, order)};
    } else if constexpr (Flip == 4) {
      return {_mm256_permute4x64_epi64(words, 0x4e)};
    } else {
      return {_mm256_permutevar8x32_epi32(words, load(flipped_lanes<Flip>.data()).words)};
    }
  }

  __m256i words;

 private:
  /// Element i is i ^ Flip.
  template <Word Flip>
  static constexpr std::array<Word, lanes> flipped_lanes = [] {
    std::array<Word, lanes> from{};
    for (Word lane = 0; lane < lanes; ++lane) from[lane] = lane ^ Flip;
    return from;
  }();

  SORTIE_TARGET_AVX2 static __m256i parting_order(Bits lesser) {
    const auto* const order =
        reinterpret_cast<const __m128i*>(&parting_orders<lanes, sizeof(Word) / 4>[lesser]);
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(order));
  }

  /// Compares signed words.
  SORTIE_TARGET_AVX2 static __m256i above(__m256i a, __m256i b) {
    if constexpr (is_wide)
      return _mm256_cmpgt_epi64(a, b);
    else
      return _mm256_cmpgt_epi32(a, b);
  }
  /// Words whose signed order is the unsigned order of these.
  [[nodiscard]] SORTIE_TARGET_AVX2 __m256i signed_words() const {
    constexpr auto highest = static_cast<Word>(std::numeric_limits<Word>::max() / 2 + 1);
    return _mm256_xor_si256(words, all(highest).words);
  }
};

SORTIE_END_INTRINSICS
#endif

}  // namespace sortie
