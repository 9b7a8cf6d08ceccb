#pragma once

#include "sortie/segsort/host/vector_intrinsics.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sortie/segsort/host/exchange_network.hpp"
#include "sortie/segsort/host/key_form.hpp"
#include "sortie/segsort/host/short_sort.hpp"

SORTIE_BEGIN_INTRINSICS

namespace sortie::segsort::detail {

/// Segments of up to so many items can be sorted in registers.
inline constexpr std::size_t most_register_rows = 32;

/// Reads up to eight keys or values of 32 or 64 bits as words of 64 bits; what the mask leaves out
/// is not read, and 0.
template <class Item>
[[nodiscard]] [[gnu::always_inline]] SORTIE_TARGET_AVX512 inline __m512i load_widened(
    const Item* from, __mmask8 mask) {
  if constexpr (sizeof(Item) == 4) {
    return _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(mask, from));
  } else {
    return _mm512_maskz_loadu_epi64(mask, from);
  }
}

/// Writes them back.
template <class Item>
[[gnu::always_inline]] SORTIE_TARGET_AVX512 inline void store_narrowed(Item* to, __mmask8 mask,
                                                                       __m512i words) {
  if constexpr (sizeof(Item) == 4) {
    _mm256_mask_storeu_epi32(to, mask, _mm512_cvtepi64_epi32(words));
  } else {
    _mm512_mask_storeu_epi64(to, mask, words);
  }
}

/// Whether RegisterTile sorts such pairs.
template <class Value>
inline constexpr bool fits_register_tile = has_values<Value> &&
                                           (sizeof(Value) == 4 || sizeof(Value) == 8);

/// Eight segments of up to `Rows` pairs each, sorted at once in the registers of AVX-512.
///
/// A segment is read into the lanes of some registers, where each key becomes a word of 64 bits
/// that ends in the item's number: as in SegmentTile, words are all different, and so sorted
/// stably. The registers are transposed, so that each holds a word of every segment; sorted by a
/// network; and transposed back. Then the words of a segment tell the lanes that its keys and
/// values come from, and both are permuted in registers: memory is read once and written once.
///
/// Words of 64-bit keys leave out the bits above those in which the keys of a segment differ, and
/// as many of the lowest as the number takes. Where neighbours agree in all others, words do not
/// tell their order.
///
/// One core of an Intel Xeon (Sapphire Rapids, virtual), nanoseconds an item by SegmentTile and by
/// this, by turns: u64 + u64 4.6 and 3.0 at length 5, 5.4 and 1.7 at 8, 5.7 and 2.2 at 16, 5.6 and
/// 2.6 at 32; u32 + u32 2.4 and 1.6, 2.4 and 1.0, 2.9 and 1.2, 3.5 and 2.0.
///
/// \tparam Rows  at most most_register_rows
template <std::unsigned_integral UKey, class Value, std::size_t Rows>
requires fits_register_tile<Value>
class RegisterTile {
 public:
  static constexpr std::size_t columns = 8;

  /// Sorts `columns` segments of at most Rows items.
  /// \param keys, values  raw keys, as the caller has them, and values of all segments
  /// \return false where words do not tell the order; then nothing has changed
  [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline bool sort(
      UKey* keys, Value* values, const KeyForm<UKey>& form, const std::uint64_t* begins,
      const std::uint32_t* lengths) {
    std::array<std::uint64_t, columns> masks;
    for (std::size_t column = 0; column < columns; ++column)
      masks[column] = (std::uint64_t{1} << lengths[column]) - 1;
    Registers words = load(keys, begins, masks);
    if (!form.is_identity()) encode(form, words);
    bool all_bits_fit = true;
    if constexpr (sizeof(UKey) == 8) {
      const std::uint64_t differing = differing_bits(words, masks);
      const int left_out = std::countl_zero(differing | 1);
      all_bits_fit = ((differing << left_out) & number_mask) == 0;
      number(words, masks, left_out);
    } else {
      number(words, masks, 32);
    }
    transpose(words);
    sort_rows(words, std::make_index_sequence<count_comparators()>());
    if (!all_bits_fit && has_ties(words, lengths)) return false;
    transpose(words);
    rearrange(keys, begins, masks, words);
    rearrange(values, begins, masks, words);
    return true;
  }

 private:
  static constexpr std::size_t lanes = 8;
  /// That a segment fills.
  static constexpr std::size_t parts = (Rows + lanes - 1) / lanes;
  static_assert(Rows <= most_register_rows);
  static constexpr std::uint64_t number_mask = std::bit_ceil(parts * lanes) - 1;

  /// Part j of segment i at j * lanes + i; transposed, row i at i.
  struct Registers {
    __m512i at[parts * lanes];
  };
  /// A bit for each item of a segment.
  using Masks = std::array<std::uint64_t, columns>;

  [[nodiscard]] [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline __mmask8 part_mask(
      std::uint64_t mask, std::size_t part) {
    return static_cast<__mmask8>(mask >> (part * lanes));
  }

  /// Reads all items, 0 behind the end of a segment.
  template <class Item>
  [[nodiscard]] [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline Registers load(
      const Item* items, const std::uint64_t* begins, const Masks& masks) {
    Registers loaded;
#pragma GCC unroll 8
    for (std::size_t column = 0; column < columns; ++column) {
#pragma GCC unroll 4
      for (std::size_t part = 0; part < parts; ++part)
        loaded.at[part * lanes + column] =
            load_widened(items + begins[column] + part * lanes, part_mask(masks[column], part));
    }
    return loaded;
  }

  /// KeyForm::encoded() of all words.
  [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline void encode(const KeyForm<UKey>& form,
                                                                        Registers& words) {
    const __m512i floating = _mm512_set1_epi64(static_cast<std::int64_t>(form.floating_bits()));
    const __m512i flipped = _mm512_set1_epi64(static_cast<std::int64_t>(form.flipped_bits()));
#pragma GCC unroll 32
    for (std::size_t i = 0; i < parts * lanes; ++i) {
      const __m512i upwards = _mm512_slli_epi64(words.at[i], 64 - 8 * sizeof(UKey));
      constexpr int xor_of_and = 0x78;
      words.at[i] =
          _mm512_xor_si512(_mm512_ternarylogic_epi64(words.at[i], _mm512_srai_epi64(upwards, 63),
                                                     floating, xor_of_and),
                           flipped);
    }
  }

  /// The bits in which some key differs from the first of its segment.
  [[nodiscard]] [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline std::uint64_t
  differing_bits(const Registers& words, const Masks& masks) {
    __m512i differing = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (std::size_t column = 0; column < columns; ++column) {
      const __m512i first = _mm512_broadcastq_epi64(_mm512_castsi512_si128(words.at[column]));
#pragma GCC unroll 4
      for (std::size_t part = 0; part < parts; ++part) {
        constexpr int or_of_xor = 0xf6;
        differing =
            _mm512_mask_ternarylogic_epi64(differing, part_mask(masks[column], part),
                                           words.at[part * lanes + column], first, or_of_xor);
      }
    }
    return static_cast<std::uint64_t>(_mm512_reduce_or_epi64(differing));
  }

  /// Makes words of keys, without so many of their upper bits; behind the end of a segment, words
  /// that come last.
  [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline void number(Registers& words,
                                                                        const Masks& masks,
                                                                        int left_out) {
    const __m512i filler = _mm512_set1_epi64(-1);
    const __m512i mask = _mm512_set1_epi64(static_cast<std::int64_t>(number_mask));
    const __m128i shift = _mm_cvtsi32_si128(left_out);
    __m512i numbers = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
#pragma GCC unroll 4
    for (std::size_t part = 0; part < parts; ++part) {
#pragma GCC unroll 8
      for (std::size_t column = 0; column < columns; ++column) {
        __m512i& word = words.at[part * lanes + column];
        constexpr int or_of_and_not = 0xba;
        const __m512i numbered =
            _mm512_ternarylogic_epi64(_mm512_sll_epi64(word, shift), mask, numbers, or_of_and_not);
        word = _mm512_mask_mov_epi64(filler, part_mask(masks[column], part), numbered);
      }
      numbers = _mm512_add_epi64(numbers, _mm512_set1_epi64(lanes));
    }
  }

  /// In each part, lane i of register j becomes lane j of register i.
  [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline void transpose(Registers& words) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < parts; ++part) transpose_part(words.at + part * lanes);
  }
  [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline void transpose_part(__m512i* words) {
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

  struct Comparator {
    std::size_t first;
    std::size_t second;
  };
  template <class Body>
  static constexpr void for_each_comparator(Body body) {
    exchange_network(Rows, [&](std::size_t first, std::size_t second, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) body(first + i, second + i);
    });
  }
  static constexpr std::size_t count_comparators() {
    std::size_t count = 0;
    for_each_comparator([&](std::size_t, std::size_t) { ++count; });
    return count;
  }
  static constexpr std::array<Comparator, count_comparators()> list_comparators() {
    std::array<Comparator, count_comparators()> all{};
    std::size_t count = 0;
    for_each_comparator([&](std::size_t first, std::size_t second) {
      all[count++] = {first, second};
    });
    return all;
  }

  [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline void exchange(__m512i& first,
                                                                          __m512i& second) {
    const __m512i least = _mm512_min_epu64(first, second);
    second = _mm512_max_epu64(first, second);
    first = least;
  }
  template <std::size_t... I>
  [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline void sort_rows(
      Registers& rows, std::index_sequence<I...>) {
    constexpr auto all = list_comparators();
    (exchange(rows.at[all[I].first], rows.at[all[I].second]), ...);
  }

  /// Whether neighbours in a column, before its end, agree in the bits above the number.
  [[nodiscard]] [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline bool has_ties(
      const Registers& rows, const std::uint32_t* lengths) {
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

  /// Brings the items of all segments to the places where their numbers are, at the end of words.
  ///
  /// Everything is read before anything is written: what a mask leaves out of a write belongs to
  /// the next segment, and reading that would wait for the write.
  template <class Item>
  [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline void rearrange(
      Item* items, const std::uint64_t* begins, const Masks& masks, const Registers& words) {
    const Registers from = load(items, begins, masks);
    Registers there;
#pragma GCC unroll 8
    for (std::size_t column = 0; column < columns; ++column) {
#pragma GCC unroll 4
      for (std::size_t part = 0; part < parts; ++part)
        there.at[part * lanes + column] =
            fetched(from.at + column, words.at[part * lanes + column]);
    }
#pragma GCC unroll 8
    for (std::size_t column = 0; column < columns; ++column) {
#pragma GCC unroll 4
      for (std::size_t part = 0; part < parts; ++part)
        store_narrowed(items + begins[column] + part * lanes, part_mask(masks[column], part),
                       there.at[part * lanes + column]);
    }
  }

  /// Lane i holds the item of the segment whose number lane i of `words` ends in.
  [[nodiscard]] [[gnu::always_inline]] SORTIE_TARGET_AVX512 static inline __m512i fetched(
      const __m512i* segment, __m512i words) {
    if constexpr (parts == 1) {
      return _mm512_permutexvar_epi64(words, segment[0]);
    } else {
      const __m512i lower = _mm512_permutex2var_epi64(segment[0], words, segment[lanes]);
      if constexpr (parts == 2) {
        return lower;
      } else {
        const __mmask8 is_upper = _mm512_test_epi64_mask(words, _mm512_set1_epi64(2 * lanes));
        const __m512i last = segment[(parts - 1) * lanes];  // nobody asks for a fourth of three
        const __m512i upper = _mm512_permutex2var_epi64(segment[2 * lanes], words, last);
        return _mm512_mask_mov_epi64(lower, is_upper, upper);
      }
    }
  }
};

}  // namespace sortie::segsort::detail

SORTIE_END_INTRINSICS
#endif
