#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "sortie/segsort/host/key_form.hpp"
#include "sortie/segsort/host/segment_tile.hpp"
#include "sortie/segsort/host/sort_segment.hpp"
#include "sortie/segsort/host/vector_unit.hpp"

namespace sortie::segsort {

/// Some segments of two items or more, the shorter before the longer.
struct ShortSegments {
  const std::uint64_t* begins;
  const std::uint32_t* lengths;
  std::size_t count;
};

/// Longest segment that sort_short_segments() takes.
///
/// Measured on one core of an Intel Xeon (Sapphire Rapids, virtual), random keys, 16 segments of
/// one length at once, nanoseconds an item at 16, 64 and 256 items: AVX-512 u32 + u32 4.0, 5.6,
/// 5.2; u64 + u32 4.0, 5.3, 12; u32 alone 2.7, 2.8, 3.0; u64 alone 2.9, 3.5, 6.8. AVX2 u32 + u32
/// 7.2, 9.8, 8.8; u64 + u32 6.7, 10, 18; u32 alone 2.9, 3.0, 3.8; u64 alone 3.6, 5.2, 12. Four
/// lanes that cannot compare 64 bits: u32 + u32 8.9, 25, 19; u32 alone 3.8, 6.9, 7.5. Sorted each
/// by itself, u32 + u32 take 4 to 16 at these lengths.
template <std::unsigned_integral UKey, class Value>
[[nodiscard]] constexpr std::size_t longest_short_segment(VectorUnit unit) {
  constexpr std::size_t most = detail::SegmentTile<UKey, Value>::most_rows;
  if (unit == VectorUnit::baseline)
    return detail::has_values<Value> || sizeof(UKey) == 8 ? detail::rank_block_size : 64;
  if (unit == VectorUnit::avx2 && detail::has_values<Value> && sizeof(UKey) == 8) return 128;
  return most;
}

namespace detail {

/// Sorts one segment of raw keys on its own.
template <std::unsigned_integral UKey, class Value>
inline void sort_alone(UKey* keys, Value* values, const KeyForm<UKey>& form, std::size_t n) {
  constexpr std::size_t most = SegmentTile<UKey, Value>::most_rows;
  std::array<UKey, most> key_scratch;
  std::array<Value, has_values<Value> ? most : 1> value_scratch;
  form.encode(keys, n);
  sort_segment(keys, values, n, key_scratch.data(), value_scratch.data());
  form.decode(keys, n);
}

/// Brings two raw keys in order, without a branch.
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_two(UKey* keys, Value* values, const KeyForm<UKey>& form) {
  const UKey first = keys[0];
  const UKey second = keys[1];
  const bool swap = form.encoded(second) < form.encoded(first);
  const UKey changed = (first ^ second) & static_cast<UKey>(UKey{0} - UKey{swap});
  keys[0] = first ^ changed;
  keys[1] = second ^ changed;
  if constexpr (has_values<Value>) {
    const Value first_value = values[0];
    const Value second_value = values[1];
    values[0] = select(swap, second_value, first_value);
    values[1] = select(swap, first_value, second_value);
  }
}

/// Whether the last few segments are sorted sooner in a tile, which takes as long as if all columns
/// were as long as the longest, than one by one, which takes two to three times as long an item.
[[nodiscard]] inline bool fills_a_tile(const std::uint32_t* lengths, std::size_t count) {
  std::size_t items = 0;
  for (std::size_t i = 0; i < count; ++i) items += lengths[i];
  return 3 * items >= 16 * std::size_t{lengths[count - 1]};
}

/// See sort_short_segments().
/// \tparam Tiles  whether the processor's vectors make sixteen at once faster than one by one
template <bool Tiles, std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_short_segments_body(UKey* keys, Value* values,
                                                            const KeyForm<UKey>& form,
                                                            const ShortSegments& segments,
                                                            SegmentTile<UKey, Value>& tile) {
  constexpr std::size_t columns = SegmentTile<UKey, Value>::columns;
  constexpr std::size_t stride = has_values<Value> ? 1 : 0;
  const std::uint64_t* const begins = segments.begins;
  const std::uint32_t* const lengths = segments.lengths;
  const std::size_t count = segments.count;
  std::size_t i = 0;
  for (; i < count && lengths[i] == 2; ++i)
    sort_two(keys + begins[i], values + begins[i] * stride, form);
  if constexpr (Tiles) {
    std::array<std::uint64_t, columns> last_begins;
    std::array<std::uint32_t, columns> last_lengths;
    while (i < count) {
      const std::uint64_t* tile_begins = begins + i;
      const std::uint32_t* tile_lengths = lengths + i;
      if (count - i < columns) {
        if (!fills_a_tile(lengths + i, count - i)) break;
        // Empty columns in front.
        const std::size_t empty = columns - (count - i);
        last_begins.fill(begins[i]);
        last_lengths.fill(0);
        std::copy(begins + i, begins + count, last_begins.begin() + empty);
        std::copy(lengths + i, lengths + count, last_lengths.begin() + empty);
        tile_begins = last_begins.data();
        tile_lengths = last_lengths.data();
      }
      tile.sort(keys, values, form, tile_begins, tile_lengths);
      i += std::min(columns, count - i);
    }
  }
  for (; i < count; ++i)
    sort_alone(keys + begins[i], values + begins[i] * stride, form, lengths[i]);
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
template <std::unsigned_integral UKey, class Value>
SORTIE_TARGET_AVX512 void sort_short_segments_avx512(UKey* keys, Value* values,
                                                     const KeyForm<UKey>& form,
                                                     const ShortSegments& segments,
                                                     SegmentTile<UKey, Value>& tile) {
  sort_short_segments_body<true>(keys, values, form, segments, tile);
}

template <std::unsigned_integral UKey, class Value>
SORTIE_TARGET_AVX2 void sort_short_segments_avx2(UKey* keys, Value* values,
                                                 const KeyForm<UKey>& form,
                                                 const ShortSegments& segments,
                                                 SegmentTile<UKey, Value>& tile) {
  sort_short_segments_body<true>(keys, values, form, segments, tile);
}
#endif

template <std::unsigned_integral UKey, class Value>
void sort_short_segments_baseline(UKey* keys, Value* values, const KeyForm<UKey>& form,
                                  const ShortSegments& segments, SegmentTile<UKey, Value>& tile) {
  constexpr bool tiles = longest_short_segment<UKey, Value>(VectorUnit::baseline) > rank_block_size;
  sort_short_segments_body<tiles>(keys, values, form, segments, tile);
}

}  // namespace detail

/// Sorts segments of up to longest_short_segment(unit) items each, stably, on the calling thread:
/// sixteen of about the same length at once (SegmentTile) where that is faster.
///
/// \param keys, values  raw keys, as the caller has them, and values of all segments
/// \param form          what makes the keys unsigned integers of the order asked for
/// \param unit          vector_unit(), or less
/// \param tile          overwritten
template <std::unsigned_integral UKey, class Value>
void sort_short_segments(UKey* keys, Value* values, const KeyForm<UKey>& form,
                         const ShortSegments& segments, VectorUnit unit,
                         detail::SegmentTile<UKey, Value>& tile) {
#ifdef SORTIE_HAVE_VECTOR_UNITS
  if (unit == VectorUnit::avx512)
    return detail::sort_short_segments_avx512(keys, values, form, segments, tile);
  if (unit == VectorUnit::avx2)
    return detail::sort_short_segments_avx2(keys, values, form, segments, tile);
#endif
  static_cast<void>(unit);
  detail::sort_short_segments_baseline(keys, values, form, segments, tile);
}

}  // namespace sortie::segsort
