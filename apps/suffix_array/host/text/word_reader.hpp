// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/suffix_array/host/text/symbol_stream.hpp"
#include "primitives/simd/vector_unit.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS
namespace sortie::suffix_array::host {
SORTIE_BEGIN_INTRINSICS

/// Reads words of the stream for eight suffixes at once.
class WordReader {
 public:
  SORTIE_TARGET_AVX512 static __m512i repeated(std::uint64_t number) {
    return _mm512_set1_epi64(static_cast<long long>(number));
  }

  SORTIE_TARGET_AVX512 explicit WordReader(const SymbolStream& stream)
      : bytes_(stream.data()),
        size_(repeated(stream.size())),
        bits_(repeated(static_cast<unsigned>(stream.bits()))),
        unused_bits_(_mm_cvtsi32_si128(64 - stream.symbols() * stream.bits())),
        high_bits_(repeated(stream.high_bits())),
        low_bits_(repeated(stream.low_bits())) {}

  /// stream.word() in `lanes`, 0 in other lanes; an end for positions beyond the text.
  SORTIE_TARGET_AVX512 [[nodiscard]] __m512i words(__mmask8 lanes, __m512i positions) const {
    const __m512i bit = _mm512_mullo_epi64(_mm512_min_epu64(positions, size_), bits_);
    const __m512i bytes = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes,
                                                      _mm512_srli_epi64(bit, 3), bytes_, 1);
    const __m512i backwards =
        _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    const __m512i first_on_top = _mm512_sllv_epi64(_mm512_shuffle_epi8(bytes, backwards),
                                                   _mm512_and_si512(bit, _mm512_set1_epi64(7)));
    return _mm512_srl_epi64(first_on_top, unused_bits_);
  }

  /// The lanes whose words contain an end.
  SORTIE_TARGET_AVX512 [[nodiscard]] __mmask8 contain_end(__m512i words) const {
    const __m512i others = _mm512_add_epi64(_mm512_and_si512(words, low_bits_), low_bits_);
    return _mm512_test_epi64_mask(_mm512_andnot_si512(_mm512_or_si512(others, words), high_bits_),
                                  high_bits_);
  }

 private:
  const std::uint8_t* bytes_;
  __m512i size_;
  __m512i bits_;
  __m128i unused_bits_;
  __m512i high_bits_;
  __m512i low_bits_;
};

SORTIE_END_INTRINSICS
}  // namespace sortie::suffix_array::host
#endif
