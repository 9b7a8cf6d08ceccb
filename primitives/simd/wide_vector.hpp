// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/simd/vector_unit.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "primitives/key_codec.hpp"
#include "primitives/simd/exchange_network.hpp"

SORTIE_BEGIN_INTRINSICS

namespace sortie {

/// An AVX-512 register of words of 32 or 64 bits: the instructions that sort_words() needs.
///
/// A mask has one bit per lane. Functions that use WideVector must be compiled for
/// SORTIE_TARGET_AVX512 and run only if vector_unit() is VectorUnit::avx512.
template <std::unsigned_integral Word>
requires(sizeof(Word) == 4 || sizeof(Word) == 8) struct WideVector {
  static constexpr std::size_t lanes = 64 / sizeof(Word);
  static constexpr bool is_wide = sizeof(Word) == 8;
  using Mask = std::conditional_t<is_wide, __mmask8, __mmask16>;

  SORTIE_TARGET_AVX512 static WideVector load(const Word* from) {
    return {_mm512_loadu_si512(from)};
  }
  /// Lanes whose mask bit is clear are not read and take the words of `others`.
  SORTIE_TARGET_AVX512 static WideVector load(const Word* from, Mask mask, WideVector others) {
    return {is_wide ? _mm512_mask_loadu_epi64(others.words, mask, from)
                    : _mm512_mask_loadu_epi32(others.words, mask, from)};
  }
  /// from[0], from[stride], ..., from[(lanes - 1) * stride]
  SORTIE_TARGET_AVX512 static WideVector load_strided(const Word* from, std::size_t stride) {
    const __m512i number = load(flipped_lanes<0>.data()).words;
    const __m512i step = all(static_cast<Word>(stride)).words;
    if constexpr (is_wide)
      return {_mm512_i64gather_epi64(_mm512_mullo_epi64(number, step), from, sizeof(Word))};
    else
      return {_mm512_i32gather_epi32(_mm512_mullo_epi32(number, step), from, sizeof(Word))};
  }
  SORTIE_TARGET_AVX512 static WideVector all(Word word) {
    return {is_wide ? _mm512_set1_epi64(static_cast<std::int64_t>(word))
                    : _mm512_set1_epi32(static_cast<std::int32_t>(word))};
  }
  SORTIE_TARGET_AVX512 void store(Word* to) const { _mm512_storeu_si512(to, words); }
  SORTIE_TARGET_AVX512 void store(Word* to, Mask mask) const {
    is_wide ? _mm512_mask_storeu_epi64(to, mask, words) : _mm512_mask_storeu_epi32(to, mask, words);
  }

  /// Mask of the lanes whose word is not above that of `other`.
  [[nodiscard]] SORTIE_TARGET_AVX512 Mask not_above(WideVector other) const {
    return is_wide ? _mm512_cmple_epu64_mask(words, other.words)
                   : _mm512_cmple_epu32_mask(words, other.words);
  }
  /// Compresses the words whose mask bit is set into the lowest lanes.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector compressed(Mask mask) const {
    return {is_wide ? _mm512_maskz_compress_epi64(mask, words)
                    : _mm512_maskz_compress_epi32(mask, words)};
  }
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector least(WideVector other) const {
    return {is_wide ? _mm512_min_epu64(words, other.words) : _mm512_min_epu32(words, other.words)};
  }
  /// Leaves the lesser words in `first` and the greater in `second`.
  SORTIE_TARGET_AVX512 static void exchange(WideVector& first, WideVector& second) {
    if constexpr (is_wide) {
      // By a comparison and two blends: the 64-bit minimum and maximum take two operations each,
      // all on the same execution unit.
      const Mask in_order = _mm512_cmplt_epu64_mask(first.words, second.words);
      const __m512i least = _mm512_mask_blend_epi64(in_order, second.words, first.words);
      second.words = _mm512_mask_blend_epi64(in_order, first.words, second.words);
      first.words = least;
    } else {
      const WideVector least = first.least(second);
      second.words = _mm512_max_epu32(first.words, second.words);
      first = least;
    }
  }
  /// Per lane, the greater word where the mask bit is set, elsewhere the lesser.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector ordered(WideVector other, Mask mask) const {
    const __m512i lesser = least(other).words;
    return {is_wide ? _mm512_mask_max_epu64(lesser, mask, words, other.words)
                    : _mm512_mask_max_epu32(lesser, mask, words, other.words)};
  }
  /// Lane i receives the word of lane i ^ Flip.
  template <int Flip>
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector flipped() const {
    const __m512i from = load(flipped_lanes<Flip>.data()).words;
    return {is_wide ? _mm512_permutexvar_epi64(from, words)
                    : _mm512_permutexvar_epi32(from, words)};
  }
  /// Lane i receives the lane of (this, other) whose index is in lane i of `from`.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector selected(WideVector from, WideVector other) const {
    return {is_wide ? _mm512_permutex2var_epi64(words, from.words, other.words)
                    : _mm512_permutex2var_epi32(words, from.words, other.words)};
  }

  /// Element i is i ^ Flip.
  template <Word Flip>
  static constexpr std::array<Word, lanes> flipped_lanes = [] {
    std::array<Word, lanes> from{};
    for (Word lane = 0; lane < lanes; ++lane) from[lane] = lane ^ Flip;
    return from;
  }();

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

/// Sorts `Rows` rows of one register each by the network: Exchange::exchange(first, second) leaves
/// the lesser words in the first row. No step depends on a word, and all indices are constants, so
/// the rows stay in registers.
template <class Exchange, std::size_t Rows, class Row, std::size_t... I>
SORTIE_INLINE_AVX512 void sort_by_network([[maybe_unused]] Row* rows, std::index_sequence<I...>) {
  (Exchange::exchange(rows[comparators<Rows>[I].first], rows[comparators<Rows>[I].second]), ...);
}
template <class Exchange, std::size_t Rows, class Row>
SORTIE_INLINE_AVX512 void sort_by_network(Row* rows) {
  sort_by_network<Exchange, Rows>(rows, std::make_index_sequence<count_comparators<Rows>()>());
}

/// KeyCodec of all lanes of a register: of keys, or of 32-bit keys in 64-bit words whose upper halves
/// are zero.
template <std::unsigned_integral UKey, std::unsigned_integral Word = std::uint64_t>
class KeyWords {
 public:
  SORTIE_INLINE_AVX512 explicit KeyWords(const KeyCodec<UKey>& codec)
      : floating_(WideVector<Word>::all(codec.negative_flip()).words),
        flipped_(WideVector<Word>::all(codec.flip()).words) {}

  [[nodiscard]] SORTIE_INLINE_AVX512 __m512i encoded(__m512i keys) const {
    return _mm512_xor_si512(flipped_if_negative(keys), flipped_);
  }
  [[nodiscard]] SORTIE_INLINE_AVX512 __m512i decoded(__m512i keys) const {
    return flipped_if_negative(_mm512_xor_si512(keys, flipped_));
  }

 private:
  [[nodiscard]] SORTIE_INLINE_AVX512 __m512i flipped_if_negative(__m512i keys) const {
    constexpr int xor_of_and = 0x78;
    if constexpr (sizeof(Word) == 4) {
      const __m512i negative = _mm512_srai_epi32(keys, 31);
      return _mm512_ternarylogic_epi32(keys, negative, floating_, xor_of_and);
    } else {
      const __m512i highest = _mm512_slli_epi64(keys, 64 - 8 * sizeof(UKey));
      const __m512i negative = _mm512_srai_epi64(highest, 63);
      return _mm512_ternarylogic_epi64(keys, negative, floating_, xor_of_and);
    }
  }

  __m512i floating_;
  __m512i flipped_;
};

}  // namespace sortie

SORTIE_END_INTRINSICS

#endif
