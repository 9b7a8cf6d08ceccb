// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "segsort/host/short/adjacent_segments.hpp"
#include "segsort/host/short/key_tile.hpp"
#include "segsort/host/short/register_tile.hpp"
#include "segsort/host/short/segment_batch.hpp"
#include "segsort/host/short/segment_tile.hpp"
#include "segsort/host/sort_segment.hpp"

namespace sortie::segsort {

/// Longest segment that sort_short_segments() accepts.
///
/// Measured on one core of an Intel Xeon (Sapphire Rapids, virtual), random keys, 16 segments of
/// equal length at once by SegmentTile, nanoseconds per item:
///
///     vector unit        keys + values   16 items   64 items   256 items
///     AVX-512            u32 + u32            4.0        5.6         5.2
///                        u64 + u32            4.0        5.3          12
///                        u32 alone            2.7        2.8         3.0
///                        u64 alone            2.9        3.5         6.8
///     AVX2               u32 + u32            7.2        9.8         8.8
///                        u64 + u32            6.7         10          18
///                        u32 alone            2.9        3.0         3.8
///                        u64 alone            3.6        5.2          12
///     four 32-bit lanes  u32 + u32            8.9         25          19
///                        u32 alone            3.8        6.9         7.5
///
/// Sorted one by one, u32 + u32 take 4 to 16 at these lengths. With AVX-512, RegisterTile takes
/// about half of the above for pairs at 8 to 32 items. Keys alone take a third to two thirds of the
/// above, by KeyTile at up to 32 items and by RegisterSort beyond.
template <std::unsigned_integral UKey, class Value>
[[nodiscard]] constexpr std::size_t longest_short_segment(VectorUnit unit) {
  constexpr std::size_t most = detail::SegmentTile<UKey, Value>::most_rows;
  if (unit == VectorUnit::baseline)
    return has_values<Value> || sizeof(UKey) == 8 ? detail::rank_block_size : 64;
  if (unit == VectorUnit::avx2 && has_values<Value> && sizeof(UKey) == 8) return 128;
  return most;
}

namespace detail {

/// Two neighbouring items that can be exchanged without a branch.
template <class Item>
class Neighbours {
  using Word =
      std::conditional_t<sizeof(Item) == 4 || sizeof(Item) % 8 == 0, std::uint64_t, std::uint32_t>;
  static constexpr std::size_t half = sizeof(Item) / sizeof(Word);

 public:
  [[gnu::always_inline]] explicit Neighbours(const Item* items) {
    static_assert(std::endian::native == std::endian::little);
    // Word by word: GCC does not split a copy of 16 bytes into words.
    for (std::size_t i = 0; i < words_.size(); ++i)
      std::memcpy(&words_[i], reinterpret_cast<const char*>(items) + i * sizeof(Word),
                  sizeof(Word));
  }
  /// The items, if they are keys, as words.
  [[nodiscard]] [[gnu::always_inline]] std::uint64_t first() const {
    return sizeof(Item) == 4 ? words_[0] & 0xffff'ffffU : words_[0];
  }
  [[nodiscard]] [[gnu::always_inline]] std::uint64_t second() const {
    return sizeof(Item) == 4 ? words_[0] >> 32 : words_[half];
  }
  /// \param mask  all ones if the items are to be exchanged, else 0
  [[gnu::always_inline]] void store(std::uint64_t mask, Item* items) {
    if constexpr (sizeof(Item) == 4) words_[0] ^= (words_[0] ^ std::rotl(words_[0], 32)) & mask;
    for (std::size_t i = 0; i < half; ++i) {
      const Word changed = (words_[i] ^ words_[half + i]) & static_cast<Word>(mask);
      words_[i] ^= changed;
      words_[half + i] ^= changed;
    }
    for (std::size_t i = 0; i < words_.size(); ++i)
      std::memcpy(reinterpret_cast<char*>(items) + i * sizeof(Word), &words_[i], sizeof(Word));
  }

 private:
  std::array<Word, 2 * sizeof(Item) / sizeof(Word)> words_;
};

/// Sorts two items by their raw keys. All arithmetic has 64 bits, so the compiler vectorises loops.
///
/// All reads precede all writes: keys and values mostly lie a multiple of 4 KiB apart, and on Intel
/// processors a read stalls behind an earlier write at such a distance (4K aliasing).
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_two(Items<UKey, Value> items, const KeyCodec<UKey>& codec) {
  Neighbours<UKey> keys(items.keys);
  std::uint64_t first = keys.first();
  std::uint64_t second = keys.second();
  if constexpr (sizeof(UKey) == 4) {
    first = codec.encoded_word(first);
    second = codec.encoded_word(second);
  } else {
    first = codec.encoded(first);
    second = codec.encoded(second);
  }
  const std::uint64_t mask = second < first ? ~std::uint64_t{0} : 0;
  if constexpr (has_values<Value>) Neighbours<Value>(items.values).store(mask, items.values);
  keys.store(mask, items.keys);
}

/// Sorts the leading segments of two items, and returns their number. The codec is passed by value:
/// the compiler must assume that stores to keys modify a codec in memory.
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline std::size_t sort_leading_twos(Items<UKey, Value> items,
                                                            KeyCodec<UKey> codec,
                                                            const ShortSegments& segments) {
  const std::uint64_t* const begins = segments.begins;
  const std::size_t count = segments.count_leading(2);
  if (count == 0) return 0;
  if (segments.leading(count).are_adjacent(2)) {
    const Items<UKey, Value> adjacent = items.from(begins[0]);
    SORTIE_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count; ++i) sort_two(adjacent.from(2 * i), codec);
  } else if (codec.is_identity()) {
    for (std::size_t i = 0; i < count; ++i) sort_two(items.from(begins[i]), KeyCodec<UKey>());
  } else {
    for (std::size_t i = 0; i < count; ++i) sort_two(items.from(begins[i]), codec);
  }
  return count;
}

/// Sorts segments one by one.
template <std::unsigned_integral UKey, class Value>
void sort_each_alone(Items<UKey, Value> items, KeyCodec<UKey> codec,
                     const ShortSegments& segments) {
  constexpr std::size_t most = SegmentTile<UKey, Value>::most_rows;
  std::array<UKey, most> key_scratch;
  std::array<Value, has_values<Value> ? most : 1> value_scratch;
  const Items<UKey, Value> scratch{key_scratch.data(), value_scratch.data()};
  for (std::size_t i = 0; i < segments.count; ++i)
    sort_segment(items.from(segments.begins[i]), segments.lengths[i], scratch, codec);
}

/// Sorts segments sixteen at a time.
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_by_tiles(Items<UKey, Value> items, KeyCodec<UKey> codec,
                                                 const ShortSegments& segments,
                                                 SegmentTile<UKey, Value>& tile) {
  constexpr std::size_t columns = SegmentTile<UKey, Value>::columns;
  std::size_t i = 0;
  for (; i + columns <= segments.count; i += columns)
    tile.sort(items, codec, segments.begins + i, segments.lengths + i);
  if (i == segments.count) return;
  const ShortSegments rest = segments.from(i);
  if (!rest.fill_tile(columns, 3)) return sort_each_alone(items, codec, rest);
  const PaddedSegments<columns> padded(rest);
  tile.sort(items, codec, padded.begins.data(), padded.lengths.data());
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
/// Calls body(std::integral_constant) for each height (number of rows) of register tiles, in
/// ascending order.
template <class Body>
void for_each_height(Body body) {
  [&]<std::size_t... Rows>(std::index_sequence<Rows...>) {
    (body(std::integral_constant<std::size_t, Rows>()), ...);
  }
  (std::index_sequence<4, 8, 12, 16, 24, most_register_rows>());
}

/// Sorts the leading segments of `Length` items if they are adjacent and fill at least one tile.
/// Returns the number of sorted segments.
template <std::size_t Length, std::unsigned_integral UKey, class Value>
SORTIE_TARGET_AVX512 std::size_t sort_leading_adjacent(Items<UKey, Value> items,
                                                       const KeyCodec<UKey>& codec,
                                                       const ShortSegments& segments) {
  using Adjacent = AdjacentSegments<UKey, Value, Length>;
  const std::size_t tiles = segments.count_leading(Length) / Adjacent::columns;
  const std::size_t count = tiles * Adjacent::columns;
  if (tiles == 0 || !segments.leading(count).are_adjacent(Length)) return 0;
  Adjacent::sort(items.from(segments.begins[0]), codec, tiles);
  return count;
}

/// Sorts segments of keys alone: leading segments of exactly `Rows` keys if they are adjacent, then
/// segments of up to `Rows` keys.
/// \return number of sorted segments
template <std::size_t Rows, std::unsigned_integral UKey>
SORTIE_TARGET_AVX512 std::size_t sort_keys_in_registers(UKey* keys, const KeyCodec<UKey> codec,
                                                        const ShortSegments& segments) {
  using Tile = KeyTile<UKey, Rows>;
  constexpr std::size_t columns = Tile::columns;
  std::size_t i = 0;
  if constexpr (std::has_single_bit(Rows)) {
    const std::size_t tiles = segments.count_leading(Rows) / columns;
    if (tiles > 0 && segments.leading(tiles * columns).are_adjacent(Rows)) {
      Tile::sort_adjacent(keys + segments.begins[0], codec, tiles);
      i = tiles * columns;
    }
  }
  if constexpr (Rows > 2) {
    for (; i + columns <= segments.count && segments.lengths[i + columns - 1] <= Rows; i += columns)
      Tile::sort(keys, codec, segments.begins + i, segments.lengths + i);
  }
  return i;
}

/// Sorts segments of up to most_register_rows keys alone.
template <std::unsigned_integral UKey, class Value>
SORTIE_TARGET_AVX512 void sort_by_key_tiles(Items<UKey, Value> items, const KeyCodec<UKey>& codec,
                                            const ShortSegments& segments) {
  constexpr std::size_t columns = KeyTile<UKey, most_register_rows>::columns;
  const auto sort_all = [&](ShortSegments rest) {
    const auto sort_up_to = [&](auto rows) {
      if (rest.count > 0 && rest.lengths[0] <= rows)
        rest = rest.from(sort_keys_in_registers<rows()>(items.keys, codec, rest));
    };
    sort_up_to(std::integral_constant<std::size_t, 2>());
    for_each_height(sort_up_to);
    return rest;
  };
  const ShortSegments rest = sort_all(segments);
  if (rest.count == 0) return;
  if (!rest.fill_tile(columns, 5)) return sort_each_alone(items, codec, rest);
  const PaddedSegments<columns> padded(rest);
  sort_all({padded.begins.data(), padded.lengths.data(), columns});
}

/// Sorts segments of up to `Rows` items eight at a time in registers. Stops at the first longer
/// segment, or where words do not determine the order.
/// \return number of sorted segments
template <std::size_t Rows, std::unsigned_integral UKey, class Value>
SORTIE_TARGET_AVX512 std::size_t sort_in_registers(Items<UKey, Value> items, KeyCodec<UKey> codec,
                                                   const ShortSegments& segments) {
  using Tile = RegisterTile<UKey, Value, Rows>;
  constexpr std::size_t columns = Tile::columns;
  std::size_t i = 0;
  for (; i + columns <= segments.count && segments.lengths[i + columns - 1] <= Rows; i += columns)
    if (!Tile::sort(items, codec, segments.begins + i, segments.lengths + i)) break;
  return i;
}

/// As above, for segments of up to most_register_rows items.
template <std::unsigned_integral UKey, class Value>
std::size_t sort_in_registers(Items<UKey, Value> items, KeyCodec<UKey> codec,
                              const ShortSegments& segments) {
  std::size_t sorted = 0;
  const auto sort_adjacent = [&](auto length) {
    if (sorted < segments.count)
      sorted += sort_leading_adjacent<length()>(items, codec, segments.from(sorted));
  };
  sort_adjacent(std::integral_constant<std::size_t, 3>());
  sort_adjacent(std::integral_constant<std::size_t, 4>());
  for_each_height([&](auto rows) {
    if (sorted < segments.count && segments.lengths[sorted] <= rows)
      sorted += sort_in_registers<rows()>(items, codec, segments.from(sorted));
  });
  return sorted;
}

/// Number of segments sorted by SegmentTile after words of RegisterTile did not determine an order:
/// such ties are likely to recur.
inline constexpr std::size_t segments_after_ties = 256;

/// Sorts segments of up to most_register_rows items.
template <std::unsigned_integral UKey, class Value>
SORTIE_INLINE_AVX512 void sort_by_register_tiles(Items<UKey, Value> items, KeyCodec<UKey> codec,
                                                 const ShortSegments& segments,
                                                 SegmentTile<UKey, Value>& tile) {
  constexpr std::size_t columns = 8;
  ShortSegments rest = segments;
  while (rest.count >= columns) {
    rest = rest.from(sort_in_registers(items, codec, rest));
    if (rest.count < columns) break;
    const std::size_t tied = std::min(rest.count, segments_after_ties);
    sort_by_tiles(items, codec, rest.leading(tied), tile);
    rest = rest.from(tied);
  }
  if (rest.count == 0) return;
  if (rest.fill_tile(columns, 5)) {
    const PaddedSegments<columns> padded(rest);
    const ShortSegments all{padded.begins.data(), padded.lengths.data(), columns};
    if (sort_in_registers(items, codec, all) == columns) return;
  }
  sort_each_alone(items, codec, rest);
}
#endif

/// See sort_short_segments().
/// \tparam Tiles  whether the processor's vectors make sixteen segments at once faster than one by
///                one
template <bool Tiles, std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_short_segments_body(Items<UKey, Value> items,
                                                            KeyCodec<UKey> codec,
                                                            const ShortSegments& segments,
                                                            SegmentTile<UKey, Value>& tile) {
  const std::size_t twos = sort_leading_twos(items, codec, segments);
  if (twos == segments.count) return;
  if constexpr (Tiles) {
    sort_by_tiles(items, codec, segments.from(twos), tile);
  } else {
    sort_each_alone(items, codec, segments.from(twos));
  }
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
template <std::unsigned_integral UKey, class Value>
SORTIE_TARGET_AVX512 void sort_short_segments_avx512(Items<UKey, Value> items,
                                                     const KeyCodec<UKey>& codec,
                                                     const ShortSegments& segments,
                                                     SegmentTile<UKey, Value>& tile) {
  const std::uint32_t* const end = segments.lengths + segments.count;
  const auto few = static_cast<std::size_t>(
      std::upper_bound(segments.lengths, end, most_register_rows) - segments.lengths);
  if constexpr (!has_values<Value>) {
    if (few > 0) sort_by_key_tiles(items, codec, segments.leading(few));
    // RegisterSort takes half as long as SegmentTile. Segments are binned, so neighbours have
    // similar lengths and its branches are predictable.
    if (few < segments.count) sort_each_alone(items, codec, segments.from(few));
  } else {
    std::size_t twos = 0;
    // For 32-bit keys, sort_leading_twos() is as fast: its words hold two keys.
    if constexpr (sizeof(UKey) == 8) twos = sort_leading_adjacent<2>(items, codec, segments);
    if (twos < segments.count) twos += sort_leading_twos(items, codec, segments.from(twos));
    if (few > twos) sort_by_register_tiles(items, codec, segments.leading(few).from(twos), tile);
    if (few < segments.count) sort_by_tiles(items, codec, segments.from(few), tile);
  }
}

template <std::unsigned_integral UKey, class Value>
SORTIE_TARGET_AVX2 void sort_short_segments_avx2(Items<UKey, Value> items,
                                                 const KeyCodec<UKey>& codec,
                                                 const ShortSegments& segments,
                                                 SegmentTile<UKey, Value>& tile) {
  sort_short_segments_body<true>(items, codec, segments, tile);
}
#endif

}  // namespace detail

/// Sorts segments of up to longest_short_segment(unit) items each, stably, on the calling thread.
/// Sorts sixteen segments of similar length at once (SegmentTile) where that is faster; with
/// AVX-512, sorts as many segments of up to most_register_rows items as registers hold
/// (RegisterTile, KeyTile).
/// \param items  raw keys and values of all segments
/// \param unit   vector_unit(), or a lower one
/// \param tile   overwritten
template <std::unsigned_integral UKey, class Value>
void sort_short_segments(Items<UKey, Value> items, const KeyCodec<UKey>& codec,
                         const ShortSegments& segments, VectorUnit unit,
                         detail::SegmentTile<UKey, Value>& tile) {
#ifdef SORTIE_HAVE_VECTOR_UNITS
  if (unit == VectorUnit::avx512)
    return detail::sort_short_segments_avx512(items, codec, segments, tile);
  if (unit == VectorUnit::avx2)
    return detail::sort_short_segments_avx2(items, codec, segments, tile);
#endif
  static_cast<void>(unit);
  constexpr bool tiles =
      longest_short_segment<UKey, Value>(VectorUnit::baseline) > detail::rank_block_size;
  detail::sort_short_segments_body<tiles>(items, codec, segments, tile);
}

// Instantiated in sources that CMake generates: they take most of the time that the host's
// segmented sort takes to compile.
#define SORTIE_EXTERN_SHORT_SEGMENTS(UKey, Value)                                     \
  extern template void sort_short_segments(Items<UKey, Value>, const KeyCodec<UKey>&, \
                                           const ShortSegments&, VectorUnit,          \
                                           detail::SegmentTile<UKey, Value>&)
SORTIE_EXTERN_SHORT_SEGMENTS(std::uint32_t, NoValue);
SORTIE_EXTERN_SHORT_SEGMENTS(std::uint32_t, Opaque<std::uint32_t>);
SORTIE_EXTERN_SHORT_SEGMENTS(std::uint32_t, Opaque<std::uint64_t>);
SORTIE_EXTERN_SHORT_SEGMENTS(std::uint64_t, NoValue);
SORTIE_EXTERN_SHORT_SEGMENTS(std::uint64_t, Opaque<std::uint32_t>);
SORTIE_EXTERN_SHORT_SEGMENTS(std::uint64_t, Opaque<std::uint64_t>);
#undef SORTIE_EXTERN_SHORT_SEGMENTS

}  // namespace sortie::segsort
