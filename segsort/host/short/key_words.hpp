// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/simd/vector_unit.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS

#include <concepts>
#include <cstdint>

#include "primitives/key_codec.hpp"

SORTIE_BEGIN_INTRINSICS

namespace sortie::segsort::detail {

/// KeyCodec of eight keys at once: 64-bit keys, or 32-bit keys in 64-bit words whose upper halves
/// are zero.
template <std::unsigned_integral UKey>
class KeyWords {
 public:
  [[gnu::always_inline]] SORTIE_TARGET_AVX512 explicit KeyWords(const KeyCodec<UKey>& codec)
      : floating_(_mm512_set1_epi64(static_cast<std::int64_t>(codec.negative_flip()))),
        flipped_(_mm512_set1_epi64(static_cast<std::int64_t>(codec.flip()))) {}

  [[nodiscard]] [[gnu::always_inline]] SORTIE_TARGET_AVX512 __m512i encoded(__m512i keys) const {
    return _mm512_xor_si512(flipped_if_negative(keys), flipped_);
  }
  [[nodiscard]] [[gnu::always_inline]] SORTIE_TARGET_AVX512 __m512i decoded(__m512i keys) const {
    return flipped_if_negative(_mm512_xor_si512(keys, flipped_));
  }

 private:
  [[nodiscard]] [[gnu::always_inline]] SORTIE_TARGET_AVX512 __m512i
  flipped_if_negative(__m512i keys) const {
    const __m512i negative = _mm512_srai_epi64(_mm512_slli_epi64(keys, 64 - 8 * sizeof(UKey)), 63);
    constexpr int xor_of_and = 0x78;
    return _mm512_ternarylogic_epi64(keys, negative, floating_, xor_of_and);
  }

  __m512i floating_;
  __m512i flipped_;
};

}  // namespace sortie::segsort::detail

SORTIE_END_INTRINSICS
#endif
