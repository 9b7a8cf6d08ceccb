// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/simd/vector_unit.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "segsort/host/short/register_tile.hpp"

SORTIE_BEGIN_INTRINSICS

namespace sortie::segsort::detail {

/// Sorts adjacent segments of `Length` pairs each, eight at once in the registers of AVX-512.
///
/// Keys and values are widened to 64-bit words in `Length` registers (rows) each. Row i holds item
/// i of every segment. Rows are sorted by odd-even transposition, which only compares neighbours,
/// so equal keys keep their order. For so few rows it has at most one comparator more than other
/// networks. Unlike RegisterTile, reads and writes whole registers contiguously.
template <std::unsigned_integral UKey, class Value, std::size_t Length>
class AdjacentSegments {
  static_assert(Length >= 2 && Length <= 4);

 public:
  /// Segments sorted at once.
  static constexpr std::size_t columns = 8;

  /// \param items  raw keys and values, from the first segment on
  /// \param tiles  number of groups of `columns` segments
  SORTIE_TARGET_AVX512 static void sort(Items<UKey, Value> items, const KeyCodec<UKey> codec,
                                        std::size_t tiles) {
    const KeyWords<UKey> words(codec);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      Rows key_rows = load(items.keys);
      Rows value_rows = load(items.values);
      if (!codec.is_identity())
        for (__m512i& row : key_rows.at) row = words.encoded(row);
      key_rows = rearranged<true>(key_rows);
      value_rows = rearranged<true>(value_rows);
      sort_rows(key_rows, value_rows);
      key_rows = rearranged<false>(key_rows);
      value_rows = rearranged<false>(value_rows);
      if (!codec.is_identity())
        for (__m512i& row : key_rows.at) row = words.decoded(row);
      store(items.keys, key_rows);
      store(items.values, value_rows);
      items = items.from(Length * columns);
    }
  }

 private:
  static constexpr std::size_t lanes = 8;
  struct Rows {
    __m512i at[Length];
  };

  /// Source of lane `lane` of register `to`, as a lane index over all registers.
  /// \tparam ToRows  true: from memory order to rows; false: from rows to memory order
  template <bool ToRows>
  static constexpr std::size_t source(std::size_t to, std::size_t lane) {
    if (ToRows) return lane * Length + to;
    const std::size_t item = to * lanes + lane;
    return item % Length * lanes + item / Length;
  }

  /// Index operand of _mm512_permutex2var_epi64() that merges register `From` into the lanes
  /// gathered for register `To` from earlier registers.
  template <bool ToRows, std::size_t To, std::size_t From>
  static constexpr std::array<std::uint64_t, lanes> selection = [] {
    std::array<std::uint64_t, lanes> selected{};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t from = source<ToRows>(To, lane);
      if (from / lanes == From) {
        selected[lane] = lanes + from % lanes;
      } else {
        // The first step selects lanes of register 0; later steps keep the gathered lanes.
        selected[lane] = From == 1 ? from % lanes : lane;
      }
    }
    return selected;
  }();

  template <bool ToRows, std::size_t To, std::size_t From = 1>
  [[nodiscard]] SORTIE_INLINE_AVX512 static __m512i gathered(const Rows& rows, __m512i before) {
    if constexpr (From == Length) {
      return before;
    } else {
      const __m512i selected = _mm512_loadu_si512(selection<ToRows, To, From>.data());
      return gathered<ToRows, To, From + 1>(
          rows, _mm512_permutex2var_epi64(before, selected, rows.at[From]));
    }
  }

  template <bool ToRows>
  [[nodiscard]] SORTIE_INLINE_AVX512 static Rows rearranged(const Rows& rows) {
    Rows result;
    result.at[0] = gathered<ToRows, 0>(rows, rows.at[0]);
    result.at[1] = gathered<ToRows, 1>(rows, rows.at[0]);
    if constexpr (Length > 2) result.at[2] = gathered<ToRows, 2>(rows, rows.at[0]);
    if constexpr (Length > 3) result.at[3] = gathered<ToRows, 3>(rows, rows.at[0]);
    return result;
  }

  template <class Item>
  [[nodiscard]] SORTIE_INLINE_AVX512 static Rows load(const Item* from) {
    Rows rows;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Length; ++i) {
      if constexpr (sizeof(Item) == 4) {
        rows.at[i] = _mm512_cvtepu32_epi64(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i * lanes)));
      } else {
        rows.at[i] = _mm512_loadu_si512(from + i * lanes);
      }
    }
    return rows;
  }
  template <class Item>
  SORTIE_INLINE_AVX512 static void store(Item* to, const Rows& rows) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Length; ++i) {
      if constexpr (sizeof(Item) == 4) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i * lanes),
                            _mm512_cvtepi64_epi32(rows.at[i]));
      } else {
        _mm512_storeu_si512(to + i * lanes, rows.at[i]);
      }
    }
  }

  SORTIE_INLINE_AVX512 static void exchange(Rows& keys, Rows& values, std::size_t row) {
    const __mmask8 exchanged = _mm512_cmplt_epu64_mask(keys.at[row + 1], keys.at[row]);
    for (__m512i* const rows : {keys.at, values.at}) {
      const __m512i first = rows[row];
      rows[row] = _mm512_mask_mov_epi64(first, exchanged, rows[row + 1]);
      rows[row + 1] = _mm512_mask_mov_epi64(rows[row + 1], exchanged, first);
    }
  }
  SORTIE_INLINE_AVX512 static void sort_rows(Rows& keys, Rows& values) {
#pragma GCC unroll 4
    for (std::size_t round = 0; round < Length; ++round)
#pragma GCC unroll 4
      for (std::size_t row = round % 2; row + 1 < Length; row += 2) exchange(keys, values, row);
  }
};

}  // namespace sortie::segsort::detail

SORTIE_END_INTRINSICS
#endif
