// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "apps/suffix_array/host/text/prefix_plan.hpp"
#include "core/host_memory.hpp"
#include "primitives/simd/vector_unit.hpp"

namespace sortie::suffix_array::host {

/// The codes of a text (0 for the end of a record, 1..sigma for letters) in as few bits each as
/// possible, so that one read gives many symbols of any suffix, and a genome stays in cache.
///
/// Memory: n * bits() / 8 bytes, that is 3/8 of the text for DNA and 9/8 for one of all bytes.
class SymbolStream {
 public:
  /// Packs the text on all host threads. O(n).
  SymbolStream(const TextView& text, const PrefixPlan& plan);

  [[nodiscard]] int bits() const { return bits_; }
  /// Number of symbols of the text.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The packed symbols, eight in bits() bytes.
  [[nodiscard]] const std::uint8_t* data() const { return bytes_.get(); }
  /// Symbols of a word, which has at least 57 valid bits wherever in a byte a symbol begins.
  [[nodiscard]] int symbols() const { return symbols_; }

  /// Bytes for `size` symbols.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t size, const PrefixPlan& plan);

  /// The codes of [position, position + symbols()) as one number, first code highest. After the end
  /// of a record come the codes of the next record. position <= n.
  [[nodiscard]] std::uint64_t word(std::uint64_t position) const {
    const std::uint64_t bit = position * static_cast<unsigned>(bits_);
    std::uint64_t packed;
    std::memcpy(&packed, bytes_.get() + bit / 8, sizeof(packed));
    if constexpr (std::endian::native == std::endian::little) packed = __builtin_bswap64(packed);
    return packed << (bit % 8) >> unused_bits_;
  }
  void prefetch(std::uint64_t position) const {
    __builtin_prefetch(bytes_.get() + position * static_cast<unsigned>(bits_) / 8);
  }

  /// True when a symbol of `word` is the end of the record.
  [[nodiscard]] bool contains_end(std::uint64_t word) const { return ends(word) != 0; }
  /// Masks of the highest bit of each code of a word, and of all other bits.
  [[nodiscard]] std::uint64_t high_bits() const { return high_bits_; }
  [[nodiscard]] std::uint64_t low_bits() const { return low_bits_; }

  /// The word with all codes after the first end replaced by 0.
  [[nodiscard]] std::uint64_t until_end(std::uint64_t word) const {
    const std::uint64_t found = ends(word);
    if (found == 0) [[likely]] {
      return word;
    }
    return word & ~((std::uint64_t{2} << (63 - std::countl_zero(found))) - 1);
  }

  /// True when the lowest code of a word is 0: after until_end(), when the word contains an end.
  [[nodiscard]] bool ended(std::uint64_t word) const {
    return (word & ((std::uint64_t{1} << bits_) - 1)) == 0;
  }

 private:
  /// The highest bit of each code that is 0.
  [[nodiscard]] std::uint64_t ends(std::uint64_t word) const {
    // No carry leaves a code: the sum has the highest bit of a code set if any lower bit of the
    // code is.
    const std::uint64_t others = (word & low_bits_) + low_bits_;
    return ~(others | word) & high_bits_;
  }

  int bits_;
  int symbols_;
  int unused_bits_;
  std::uint64_t high_bits_;  ///< of each code of a word
  std::uint64_t low_bits_;   ///< all others
  std::uint64_t size_;
  HostArray<std::uint8_t> bytes_;
};

#ifdef SORTIE_HAVE_VECTOR_UNITS
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
#endif

}  // namespace sortie::suffix_array::host
