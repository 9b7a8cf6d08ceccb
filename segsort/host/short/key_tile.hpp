// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/simd/vector_unit.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "primitives/key_codec.hpp"
#include "primitives/simd/register_sort.hpp"

SORTIE_BEGIN_INTRINSICS

namespace sortie::segsort::detail {

/// Sorts segments of up to `Rows` keys alone, as many at once as an AVX-512 register has lanes: 16
/// with 32-bit keys, 8 with 64-bit keys.
///
/// Keys are read into registers in memory order, one segment per register, or several if they are
/// short. After a transposition, register r holds key r of every segment. A network sorts these
/// rows, and they are transposed back. Equal keys without values are indistinguishable, so the
/// indices that make RegisterTile stable are not needed.
///
///     32-bit keys, up to 4 per segment         transposed
///     register 0   a0 a1 a2 a3  b0 b1 ...      a0 e0 i0 m0  b0 f0 ...
///     register 1   e0 e1 e2 e3  f0 f1 ...      a1 e1 i1 m1  b1 f1 ...
///     register 2   i0 i1 i2 i3  j0 j1 ...      a2 e2 i2 m2  b2 f2 ...
///     register 3   m0 m1 m2 m3  n0 n1 ...      a3 e3 i3 m3  b3 f3 ...
///
/// One core of an Intel Xeon (Sapphire Rapids, virtual), 2^24 random keys in segments of 4, 8, 16
/// and 32, milliseconds by SegmentTile and by KeyTile, in alternating runs: 32-bit keys 31 and 13,
/// 29 and 13, 38 and 11, 46 and 11; 64-bit keys 30 and 19, 33 and 23, 41 and 20, 38 and 24. From 16
/// keys on, that is at most twice the time of copying the keys.
///
/// \tparam Rows  2 (sort_adjacent() only) to 32
template <std::unsigned_integral UKey, std::size_t Rows>
class KeyTile {
  using Vector = WideVector<UKey>;
  using Mask = typename Vector::Mask;
  static constexpr std::size_t lanes = Vector::lanes;

 public:
  /// Segments sorted at once.
  static constexpr std::size_t columns = lanes;

  /// Sorts `columns` segments of at most Rows keys.
  /// \param keys  raw keys of all segments
  SORTIE_INLINE_AVX512 static void sort(UKey* keys, const KeyCodec<UKey>& codec,
                                        const std::uint64_t* begins, const std::uint32_t* lengths) {
    Registers rows;
    const Vector filler = Vector::all(codec.decoded(std::numeric_limits<UKey>::max()));
#pragma GCC unroll 32
    for (std::size_t i = 0; i < registers; ++i) rows.at[i] = filler;
    // Each masked read or write starts so far before a segment that the segment falls into its own
    // lanes; all other lanes are masked off. The start may precede the array, so addresses are
    // computed as integers.
    const auto first_lane = reinterpret_cast<std::uintptr_t>(keys);
#pragma GCC unroll 16
    for (std::size_t segment = 0; segment < columns; ++segment) {
#pragma GCC unroll 4
      for (std::size_t part = 0; part < parts; ++part) {
        Vector& row = rows.at[part * width + segment / together];
        row = Vector::load(
            reinterpret_cast<const UKey*>(first_lane + place(begins[segment], segment, part)),
            mask(lengths[segment], segment, part), row);
      }
    }
    sort_segments(rows, codec);
#pragma GCC unroll 16
    for (std::size_t segment = 0; segment < columns; ++segment) {
#pragma GCC unroll 4
      for (std::size_t part = 0; part < parts; ++part) {
        rows.at[part * width + segment / together].store(
            reinterpret_cast<UKey*>(first_lane + place(begins[segment], segment, part)),
            mask(lengths[segment], segment, part));
      }
    }
  }

  /// Sorts adjacent segments of Rows keys each, in whole registers.
  /// \param keys   raw keys, from the first segment on
  /// \param tiles  number of groups of `columns` segments
  SORTIE_TARGET_AVX512 static void sort_adjacent(UKey* keys, const KeyCodec<UKey> codec,
                                                 std::size_t tiles) {
    static_assert(Rows == parts * width);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      Registers rows;
#pragma GCC unroll 32
      for (std::size_t i = 0; i < registers; ++i)
        rows.at[i % parts * width + i / parts] = Vector::load(keys + i * lanes);
      sort_segments(rows, codec);
#pragma GCC unroll 32
      for (std::size_t i = 0; i < registers; ++i)
        rows.at[i % parts * width + i / parts].store(keys + i * lanes);
      keys += registers * lanes;
    }
  }

 private:
  /// Lanes per segment in a register.
  static constexpr std::size_t width = std::min(std::bit_ceil(Rows), lanes);
  /// Segments per register.
  static constexpr std::size_t together = lanes / width;
  /// Registers per segment.
  static constexpr std::size_t parts = (Rows + width - 1) / width;
  static constexpr std::size_t registers = parts * width;
  static_assert(Rows >= 2 && registers <= 32);

  struct Registers {
    Vector at[registers];
  };
  using Lanes = std::array<UKey, lanes>;

  /// Byte offset at which the register of a part of a segment starts.
  [[nodiscard]] static std::uintptr_t place(std::uint64_t begin, std::size_t segment,
                                            std::size_t part) {
    return (begin + part * width - segment % together * width) * sizeof(UKey);
  }
  [[nodiscard]] SORTIE_INLINE_AVX512 static Mask mask(std::uint32_t length, std::size_t segment,
                                                      std::size_t part) {
    const std::uint64_t all = (std::uint64_t{1} << length) - 1;
    const std::uint64_t of_part = all >> (part * width) & ((std::uint64_t{1} << width) - 1);
    return static_cast<Mask>(of_part << (segment % together * width));
  }

  SORTIE_INLINE_AVX512 static void sort_segments(Registers& rows, const KeyCodec<UKey>& codec) {
    const KeyWords<UKey, UKey> key_words(codec);
    if (!codec.is_identity()) {
#pragma GCC unroll 32
      for (Vector& row : rows.at) row.words = key_words.encoded(row.words);
    }
    transpose<width / 2>(rows);
    sort_by_network<Vector, Rows>(rows.at);
    transpose<width / 2>(rows);
    if (!codec.is_identity()) {
#pragma GCC unroll 32
      for (Vector& row : rows.at) row.words = key_words.decoded(row.words);
    }
  }

  /// Index operand of Vector::selected(): lanes of two registers after bit `Distance` of the
  /// register index and that of the lane index have been swapped.
  template <std::size_t Distance, bool Upper>
  static constexpr Lanes selection = [] {
    Lanes from{};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const bool upper_lane = (lane & Distance) != 0;
      const std::size_t source = upper_lane == Upper ? lane : lane ^ Distance;
      from[lane] = static_cast<UKey>(source + (upper_lane ? lanes : 0));
    }
    return from;
  }();

  /// Among `width` lanes and registers, lane i of register j becomes lane j of register i.
  template <std::size_t Distance>
  SORTIE_INLINE_AVX512 static void transpose(Registers& rows) {
    if constexpr (Distance > 0) {
      const Vector lower = Vector::load(selection<Distance, false>.data());
      const Vector upper = Vector::load(selection<Distance, true>.data());
#pragma GCC unroll 32
      for (std::size_t i = 0; i < registers; ++i) {
        if ((i & Distance) != 0) continue;
        const Vector first = rows.at[i];
        const Vector second = rows.at[i + Distance];
        rows.at[i] = first.selected(lower, second);
        rows.at[i + Distance] = first.selected(upper, second);
      }
      transpose<Distance / 2>(rows);
    }
  }
};

}  // namespace sortie::segsort::detail

SORTIE_END_INTRINSICS
#endif
