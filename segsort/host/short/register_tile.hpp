// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/simd/vector_unit.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "primitives/host/items.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/register_sort.hpp"
#include "segsort/host/short/short_sort.hpp"

SORTIE_BEGIN_INTRINSICS

namespace sortie::segsort::detail {

/// Segments per register tile.
inline constexpr std::size_t register_columns = 8;

/// Bit i of an element is set if the segment has item i.
using ItemMasks = std::array<std::uint64_t, register_columns>;

/// Layout of eight segments of up to 8 * Parts items as 64-bit words in AVX-512 registers: part j
/// of segment i is in register 8 * j + i. Transposed: row i of all segments is in register i.
template <std::size_t Parts>
class WholeRegisters {
 public:
  static constexpr std::size_t registers = Parts * register_columns;
  /// Mask of the bits of an item index.
  static constexpr std::uint64_t number_mask = Parts == 1 ? 7 : Parts == 2 ? 15 : 31;
  struct Words {
    __m512i at[registers];
  };

  [[nodiscard]] SORTIE_INLINE_AVX512 static __mmask8 mask(const ItemMasks& masks, std::size_t i) {
    return static_cast<__mmask8>(masks[i % lanes] >> (i / lanes * lanes));
  }

  /// Item indices, within their segment, of the lanes of register i.
  [[nodiscard]] SORTIE_INLINE_AVX512 static __m512i numbers(std::size_t i) {
    return _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
                            _mm512_set1_epi64(static_cast<std::int64_t>(i / lanes * lanes)));
  }

  /// Reads register i: keys or values of 32 or 64 bits. Masked-off lanes are not read and become 0.
  template <class Item>
  [[nodiscard]] SORTIE_INLINE_AVX512 static __m512i load(const Item* items,
                                                         const std::uint64_t* begins,
                                                         const ItemMasks& masks, std::size_t i) {
    const Item* const from = items + begins[i % lanes] + i / lanes * lanes;
    if constexpr (sizeof(Item) == 4) {
      return _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(mask(masks, i), from));
    } else {
      return _mm512_maskz_loadu_epi64(mask(masks, i), from);
    }
  }

  /// Writes register i back.
  template <class Item>
  SORTIE_INLINE_AVX512 static void store(Item* items, const std::uint64_t* begins,
                                         const ItemMasks& masks, std::size_t i, __m512i words) {
    Item* const to = items + begins[i % lanes] + i / lanes * lanes;
    if constexpr (sizeof(Item) == 4) {
      _mm256_mask_storeu_epi32(to, mask(masks, i), _mm512_cvtepi64_epi32(words));
    } else {
      _mm512_mask_storeu_epi64(to, mask(masks, i), words);
    }
  }

  /// Broadcasts the first word of the segment of register i.
  [[nodiscard]] SORTIE_INLINE_AVX512 static __m512i first(const Words& words, std::size_t i) {
    return _mm512_broadcastq_epi64(_mm512_castsi512_si128(words.at[i % lanes]));
  }

  /// In each part, lane i of register j becomes lane j of register i.
  SORTIE_INLINE_AVX512 static void transpose(Words& words) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < Parts; ++part) transpose_part(words.at + part * lanes);
  }

  /// Permutes the words of the segment of register i: each lane receives the word of `from` whose
  /// index is in the low bits of the same lane of `numbers`.
  [[nodiscard]] SORTIE_INLINE_AVX512 static __m512i fetched(const Words& from, __m512i numbers,
                                                            std::size_t i) {
    const __m512i* const segment = from.at + i % lanes;
    if constexpr (Parts == 1) {
      return _mm512_permutexvar_epi64(numbers, segment[0]);
    } else {
      const __m512i lower = _mm512_permutex2var_epi64(segment[0], numbers, segment[lanes]);
      if constexpr (Parts == 2) {
        return lower;
      } else {
        const __mmask8 is_upper = _mm512_test_epi64_mask(numbers, _mm512_set1_epi64(2 * lanes));
        // With three parts, no index selects a fourth.
        const __m512i last = segment[(Parts - 1) * lanes];
        const __m512i upper = _mm512_permutex2var_epi64(segment[2 * lanes], numbers, last);
        return _mm512_mask_mov_epi64(lower, is_upper, upper);
      }
    }
  }

 private:
  static constexpr std::size_t lanes = 8;
  static_assert(Parts >= 1 && Parts <= 4);

  SORTIE_INLINE_AVX512 static void transpose_part(__m512i* words) {
    __m512i pairs[lanes];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < lanes; i += 2) {
      pairs[i] = _mm512_unpacklo_epi64(words[i], words[i + 1]);
      pairs[i + 1] = _mm512_unpackhi_epi64(words[i], words[i + 1]);
    }
    constexpr int evens = 0x88;  // quarters 0 and 2 of both
    constexpr int odds = 0xdd;   // quarters 1 and 3
#pragma GCC unroll 2
    for (std::size_t i = 0; i < 2; ++i) {
      const __m512i even_low = _mm512_shuffle_i64x2(pairs[i], pairs[i + 2], evens);
      const __m512i odd_low = _mm512_shuffle_i64x2(pairs[i], pairs[i + 2], odds);
      const __m512i even_high = _mm512_shuffle_i64x2(pairs[i + 4], pairs[i + 6], evens);
      const __m512i odd_high = _mm512_shuffle_i64x2(pairs[i + 4], pairs[i + 6], odds);
      words[i] = _mm512_shuffle_i64x2(even_low, even_high, evens);
      words[i + 2] = _mm512_shuffle_i64x2(odd_low, odd_high, evens);
      words[i + 4] = _mm512_shuffle_i64x2(even_low, even_high, odds);
      words[i + 6] = _mm512_shuffle_i64x2(odd_low, odd_high, odds);
    }
  }
};

/// Layout as WholeRegisters, for segments of up to four items: segment i is in the lower half of
/// register i, segment i + 4 in its upper half. Transposed: row i of all segments is in register i.
class HalfRegisters {
 public:
  static constexpr std::size_t registers = 4;
  static constexpr std::uint64_t number_mask = 7;
  struct Words {
    __m512i at[registers];
  };

  [[nodiscard]] SORTIE_INLINE_AVX512 static __mmask8 mask(const ItemMasks& masks, std::size_t i) {
    return static_cast<__mmask8>(masks[i] | masks[i + registers] << registers);
  }

  /// Indices of the lanes.
  [[nodiscard]] SORTIE_INLINE_AVX512 static __m512i numbers(std::size_t) {
    return _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  }

  template <class Item>
  [[nodiscard]] SORTIE_INLINE_AVX512 static __m512i load(const Item* items,
                                                         const std::uint64_t* begins,
                                                         const ItemMasks& masks, std::size_t i) {
    const __m256i lower = load_half(items, begins, masks, i);
    const __m256i upper = load_half(items, begins, masks, i + registers);
    return _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
  }

  template <class Item>
  SORTIE_INLINE_AVX512 static void store(Item* items, const std::uint64_t* begins,
                                         const ItemMasks& masks, std::size_t i, __m512i words) {
    store_half(items, begins, masks, i, _mm512_castsi512_si256(words));
    store_half(items, begins, masks, i + registers, _mm512_extracti64x4_epi64(words, 1));
  }

  [[nodiscard]] SORTIE_INLINE_AVX512 static __m512i first(const Words& words, std::size_t i) {
    return _mm512_permutex_epi64(words.at[i], 0);
  }

  /// In each half, lane i of register j becomes lane j of register i.
  SORTIE_INLINE_AVX512 static void transpose(Words& words) {
    const __m512i low_even = _mm512_unpacklo_epi64(words.at[0], words.at[1]);
    const __m512i low_odd = _mm512_unpackhi_epi64(words.at[0], words.at[1]);
    const __m512i high_even = _mm512_unpacklo_epi64(words.at[2], words.at[3]);
    const __m512i high_odd = _mm512_unpackhi_epi64(words.at[2], words.at[3]);
    const __m512i first_quarters = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i second_quarters = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    words.at[0] = _mm512_permutex2var_epi64(low_even, first_quarters, high_even);
    words.at[1] = _mm512_permutex2var_epi64(low_odd, first_quarters, high_odd);
    words.at[2] = _mm512_permutex2var_epi64(low_even, second_quarters, high_even);
    words.at[3] = _mm512_permutex2var_epi64(low_odd, second_quarters, high_odd);
  }

  [[nodiscard]] SORTIE_INLINE_AVX512 static __m512i fetched(const Words& from, __m512i numbers,
                                                            std::size_t i) {
    return _mm512_permutexvar_epi64(numbers, from.at[i]);
  }

 private:
  template <class Item>
  [[nodiscard]] SORTIE_INLINE_AVX512 static __m256i load_half(const Item* items,
                                                              const std::uint64_t* begins,
                                                              const ItemMasks& masks,
                                                              std::size_t segment) {
    const Item* const from = items + begins[segment];
    const auto mask = static_cast<__mmask8>(masks[segment]);
    if constexpr (sizeof(Item) == 4) {
      return _mm256_cvtepu32_epi64(_mm_maskz_loadu_epi32(mask, from));
    } else {
      return _mm256_maskz_loadu_epi64(mask, from);
    }
  }
  template <class Item>
  SORTIE_INLINE_AVX512 static void store_half(Item* items, const std::uint64_t* begins,
                                              const ItemMasks& masks, std::size_t segment,
                                              __m256i words) {
    Item* const to = items + begins[segment];
    const auto mask = static_cast<__mmask8>(masks[segment]);
    if constexpr (sizeof(Item) == 4) {
      _mm_mask_storeu_epi32(to, mask, _mm256_cvtepi64_epi32(words));
    } else {
      _mm256_mask_storeu_epi64(to, mask, words);
    }
  }
};

/// Longest segment that can be sorted in registers.
inline constexpr std::size_t most_register_rows = 32;

/// Sorts eight segments of up to `Rows` pairs each at once in AVX-512 registers.
///
/// A segment is read into the lanes of some registers, or of half a register if four lanes suffice.
/// There each key becomes a 64-bit word whose low bits are the index of its lane: as in
/// SegmentTile, all words differ. The registers are transposed, so that each holds one word of
/// every segment (WholeRegisters, HalfRegisters); sorted by a network; and transposed back. Then
/// keys and values are permuted in registers: memory is read once and written once.
///
/// Words of 64-bit keys omit the leading bits in which the keys of a segment agree, and as many of
/// the lowest bits as the index takes. If neighbours agree in all other bits, the words do not
/// determine their order.
///
/// One core of an Intel Xeon (Sapphire Rapids, virtual), nanoseconds per item by SegmentTile and by
/// RegisterTile, in alternating runs: u64 + u64 4.6 and 3.0 at length 5, 5.4 and 1.7 at 8, 5.7 and
/// 2.2 at 16, 5.6 and 2.6 at 32; u32 + u32 2.4 and 1.6, 2.4 and 1.0, 2.9 and 1.2, 3.5 and 2.0.
///
/// \tparam Rows  at most most_register_rows
template <std::unsigned_integral UKey, class Value, std::size_t Rows>
class RegisterTile {
 public:
  static constexpr std::size_t columns = register_columns;

  /// Sorts `columns` segments of at most Rows items.
  /// \param items  raw keys and values of all segments
  /// \return false if the words do not determine the order; then keys and values are unchanged
  SORTIE_INLINE_AVX512 static bool sort(Items<UKey, Value> items, const KeyCodec<UKey>& codec,
                                        const std::uint64_t* begins, const std::uint32_t* lengths) {
    ItemMasks masks;
    for (std::size_t column = 0; column < columns; ++column)
      masks[column] = (std::uint64_t{1} << lengths[column]) - 1;
    Words words = load(items.keys, begins, masks);
    if (!codec.is_identity()) {
      const KeyWords<UKey> key_words(codec);
#pragma GCC unroll 32
      for (__m512i& word : words.at) word = key_words.encoded(word);
    }
    bool all_bits_fit = true;
    if constexpr (sizeof(UKey) == 8) {
      const std::uint64_t differing = differing_bits(words, masks);
      const int left_out = std::countl_zero(differing | 1);
      all_bits_fit = ((differing << left_out) & number_mask) == 0;
      number(words, masks, left_out);
    } else {
      number(words, masks, 32);
    }
    Layout::transpose(words);
    sort_by_network<RegisterTile, Rows>(words.at);
    if (!all_bits_fit && has_ties(words, lengths)) return false;
    Layout::transpose(words);
    // Reads precede writes, as far as registers hold the data. The masked-off lanes of a write
    // belong to the next segment, and keys and values mostly lie a multiple of 4 KiB apart; in both
    // cases a later read would wait for the write.
    if constexpr (Layout::registers <= 8) {
      const Words keys_there = rearranged(load(items.keys, begins, masks), words);
      const Words values_there = rearranged(load(items.values, begins, masks), words);
      store(items.keys, begins, masks, keys_there);
      store(items.values, begins, masks, values_there);
    } else {
      store(items.keys, begins, masks, rearranged(load(items.keys, begins, masks), words));
      store(items.values, begins, masks, rearranged(load(items.values, begins, masks), words));
    }
    return true;
  }

  /// For sort_by_network(): by minimum and maximum.
  SORTIE_INLINE_AVX512 static void exchange(__m512i& first, __m512i& second) {
    const __m512i least = _mm512_min_epu64(first, second);
    second = _mm512_max_epu64(first, second);
    first = least;
  }

 private:
  static_assert(Rows <= most_register_rows);
  using Layout = std::conditional_t<Rows <= 4, HalfRegisters, WholeRegisters<(Rows + 7) / 8>>;
  using Words = typename Layout::Words;
  static constexpr std::uint64_t number_mask = Layout::number_mask;

  template <class Item>
  [[nodiscard]] SORTIE_INLINE_AVX512 static Words load(const Item* items,
                                                       const std::uint64_t* begins,
                                                       const ItemMasks& masks) {
    Words loaded;
#pragma GCC unroll 32
    for (std::size_t i = 0; i < Layout::registers; ++i)
      loaded.at[i] = Layout::load(items, begins, masks, i);
    return loaded;
  }

  /// Bits in which any key differs from the first of its segment.
  [[nodiscard]] SORTIE_INLINE_AVX512 static std::uint64_t differing_bits(const Words& words,
                                                                         const ItemMasks& masks) {
    __m512i differing = _mm512_setzero_si512();
#pragma GCC unroll 32
    for (std::size_t i = 0; i < Layout::registers; ++i) {
      constexpr int or_of_xor = 0xf6;
      differing = _mm512_mask_ternarylogic_epi64(differing, Layout::mask(masks, i), words.at[i],
                                                 Layout::first(words, i), or_of_xor);
    }
    return static_cast<std::uint64_t>(_mm512_reduce_or_epi64(differing));
  }

  /// Turns keys into words: drops the `left_out` leading bits and sets the low bits to the index.
  /// Lanes beyond the end of a segment become words that sort last.
  SORTIE_INLINE_AVX512 static void number(Words& words, const ItemMasks& masks, int left_out) {
    const __m512i filler = _mm512_set1_epi64(-1);
    const __m512i numbers = _mm512_set1_epi64(static_cast<std::int64_t>(number_mask));
    const __m128i shift = _mm_cvtsi32_si128(left_out);
#pragma GCC unroll 32
    for (std::size_t i = 0; i < Layout::registers; ++i) {
      constexpr int or_of_and_not = 0xba;
      const __m512i numbered = _mm512_ternarylogic_epi64(
          _mm512_sll_epi64(words.at[i], shift), numbers, Layout::numbers(i), or_of_and_not);
      words.at[i] = _mm512_mask_mov_epi64(filler, Layout::mask(masks, i), numbered);
    }
  }

  /// Whether neighbours in a column, before its end, agree in all bits above the index.
  [[nodiscard]] SORTIE_INLINE_AVX512 static bool has_ties(const Words& rows,
                                                          const std::uint32_t* lengths) {
    const __m256i ends = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lengths));
    const __m512i above_number = _mm512_set1_epi64(static_cast<std::int64_t>(~number_mask));
    unsigned ties = 0;
#pragma GCC unroll 32
    for (std::size_t row = 1; row < Rows; ++row) {
      const __mmask8 inside =
          _mm256_cmpgt_epi32_mask(ends, _mm256_set1_epi32(static_cast<std::int32_t>(row)));
      const __m512i differing = _mm512_xor_si512(rows.at[row - 1], rows.at[row]);
      ties |= _mm512_mask_testn_epi64_mask(inside, differing, above_number);
    }
    return ties != 0;
  }

  /// Returns the items of all segments, permuted by the indices in the low bits of `words`.
  [[nodiscard]] SORTIE_INLINE_AVX512 static Words rearranged(const Words& items,
                                                             const Words& words) {
    Words there;
#pragma GCC unroll 32
    for (std::size_t i = 0; i < Layout::registers; ++i)
      there.at[i] = Layout::fetched(items, words.at[i], i);
    return there;
  }

  template <class Item>
  SORTIE_INLINE_AVX512 static void store(Item* items, const std::uint64_t* begins,
                                         const ItemMasks& masks, const Words& stored) {
#pragma GCC unroll 32
    for (std::size_t i = 0; i < Layout::registers; ++i)
      Layout::store(items, begins, masks, i, stored.at[i]);
  }
};

}  // namespace sortie::segsort::detail

SORTIE_END_INTRINSICS
#endif
