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
#include "segsort/host/short/key_words.hpp"
#include "segsort/host/short/register_layout.hpp"
#include "segsort/host/short/short_sort.hpp"

SORTIE_BEGIN_INTRINSICS

namespace sortie::segsort::detail {

/// Longest segment that can be sorted in registers.
inline constexpr std::size_t most_register_rows = 32;

/// Whether RegisterTile supports pairs with such values.
template <class Value>
inline constexpr bool fits_register_tile = has_values<Value> &&
                                           (sizeof(Value) == 4 || sizeof(Value) == 8);

/// Sorts eight segments of up to `Rows` pairs each at once in AVX-512 registers.
///
/// A segment is read into the lanes of some registers, or of half a register if four lanes suffice.
/// There each key becomes a 64-bit word whose low bits are the index of its lane. As in
/// SegmentTile, all words differ, so the sort is stable. The registers are transposed, so that each
/// holds one word of every segment (WholeRegisters, HalfRegisters); sorted by a network; and
/// transposed back. The words of a segment then hold the lanes that its keys and values come from,
/// and both are permuted in registers: memory is read once and written once.
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
requires fits_register_tile<Value>
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

  /// Reads all items; lanes beyond the end of a segment become 0.
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
