// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "primitives/key_codec.hpp"
#include "primitives/simd/avx2_vector.hpp"
#include "primitives/simd/exchange_network.hpp"
#include "primitives/simd/vector_unit.hpp"

/// Words in vector registers: sorted by networks, and keys encoded.

namespace sortie::avx512 {

#ifdef SORTIE_HAVE_VECTOR_UNITS
template <std::unsigned_integral Word>
using UnitVector = WideVector<Word>;
#endif

#define SORTIE_TARGET_UNIT SORTIE_TARGET_AVX512
#define SORTIE_INLINE_UNIT SORTIE_INLINE_AVX512
#include "primitives/simd/register_sort_definition.hpp"
#undef SORTIE_TARGET_UNIT
#undef SORTIE_INLINE_UNIT

}  // namespace sortie::avx512

#ifdef SORTIE_HAVE_VECTOR_UNITS
namespace sortie::avx2 {

template <std::unsigned_integral Word>
using UnitVector = Avx2Vector<Word>;

#define SORTIE_TARGET_UNIT SORTIE_TARGET_AVX2
#define SORTIE_INLINE_UNIT SORTIE_INLINE_AVX2
#include "primitives/simd/register_sort_definition.hpp"
#undef SORTIE_TARGET_UNIT
#undef SORTIE_INLINE_UNIT

}  // namespace sortie::avx2
#endif

namespace sortie {

using avx512::sort_by_network;
#ifdef SORTIE_HAVE_VECTOR_UNITS
using avx512::RegisterSort;
#endif

#ifdef SORTIE_HAVE_VECTOR_UNITS

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

#endif

}  // namespace sortie
