#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sortie/segsort/host/adjacent_segments.hpp"
#include "sortie/segsort/host/key_form.hpp"
#include "sortie/segsort/host/register_tile.hpp"
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
/// by itself, u32 + u32 take 4 to 16 at these lengths. All this by SegmentTile; of pairs
/// at 8 to 32 items, RegisterTile takes about half of that with AVX-512.
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

/// Two neighbouring items, to be exchanged without a branch.
template <class Item>
class Neighbours {
 public:
  [[gnu::always_inline]] explicit Neighbours(const Item* items) {
    std::memcpy(&words_, items, sizeof words_);
  }
  [[gnu::always_inline]] const Item operator[](std::size_t i) const {
    Item item;
    std::memcpy(&item, reinterpret_cast<const char*>(&words_) + i * sizeof item, sizeof item);
    return item;
  }
  [[gnu::always_inline]] void store(bool exchanged, Item* items) {
    const Word mask = Word{0} - Word{exchanged};
    if constexpr (sizeof(Item) == 4) {
      words_[0] ^= (words_[0] ^ std::rotl(words_[0], 32)) & mask;
    } else {
      constexpr std::size_t half = words / 2;
      for (std::size_t i = 0; i < half; ++i) {
        const Word changed = (words_[i] ^ words_[half + i]) & mask;
        words_[i] ^= changed;
        words_[half + i] ^= changed;
      }
    }
    std::memcpy(items, &words_, sizeof words_);
  }

 private:
  using Word =
      std::conditional_t<sizeof(Item) == 4 || sizeof(Item) % 8 == 0, std::uint64_t, std::uint32_t>;
  static constexpr std::size_t words = 2 * sizeof(Item) / sizeof(Word);
  std::array<Word, words> words_;
};

/// Brings two raw keys in order.
///
/// Everything is read before anything is written: keys and values mostly lie a multiple of 4 KiB
/// apart, and Intel's processors let a read wait for a write to such a place.
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_two(UKey* keys, Value* values, const KeyForm<UKey>& form) {
  Neighbours<UKey> two_keys(keys);
  const bool exchanged = form.encoded(two_keys[1]) < form.encoded(two_keys[0]);
  if constexpr (has_values<Value>) {
    Neighbours<Value> two_values(values);
    two_keys.store(exchanged, keys);
    two_values.store(exchanged, values);
  } else {
    two_keys.store(exchanged, keys);
  }
}

/// Two neighbouring items of 32 bits, as 64 bits, or of 64 bits.
template <std::size_t Bytes>
class PairOfWords {
 public:
  [[gnu::always_inline]] explicit PairOfWords(const char* from) {
    static_assert(std::endian::native == std::endian::little);
    // Word by word: GCC does not divide what is copied as 16 bytes.
    std::memcpy(&first_, from, sizeof first_);
    if constexpr (Bytes == 8) std::memcpy(&second_, from + sizeof first_, sizeof second_);
  }
  [[nodiscard]] [[gnu::always_inline]] std::uint64_t first() const {
    return Bytes == 4 ? first_ & 0xffff'ffffU : first_;
  }
  [[nodiscard]] [[gnu::always_inline]] std::uint64_t second() const {
    return Bytes == 4 ? first_ >> 32 : second_;
  }
  /// \param mask  all bits set where the items change places, else none
  [[gnu::always_inline]] void store(std::uint64_t mask, char* to) const {
    if constexpr (Bytes == 4) {
      const std::uint64_t both = first_ ^ ((first_ ^ (first_ << 32 | first_ >> 32)) & mask);
      std::memcpy(to, &both, sizeof both);
    } else {
      const std::uint64_t changed = (first_ ^ second_) & mask;
      const std::uint64_t lesser = first_ ^ changed;
      const std::uint64_t greater = second_ ^ changed;
      std::memcpy(to, &lesser, sizeof lesser);
      std::memcpy(to + sizeof lesser, &greater, sizeof greater);
    }
  }

 private:
  static_assert(Bytes == 4 || Bytes == 8);
  std::uint64_t first_;  ///< both items, if of 32 bits
  std::uint64_t second_ = 0;
};

/// Sorts segments of two items that lie side by side: all is arithmetic of 64 bits, so that the
/// loop becomes vector instructions.
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_twos_in_words(UKey* keys, Value* values,
                                                      const KeyForm<UKey>& form,
                                                      std::size_t count) {
  constexpr std::size_t value_bytes = has_values<Value> ? sizeof(Value) : 4;
  char* const key_at = reinterpret_cast<char*>(keys);
  char* const value_at = reinterpret_cast<char*>(values);
  SORTIE_INDEPENDENT_TURNS
  for (std::size_t i = 0; i < count; ++i) {
    const PairOfWords<sizeof(UKey)> two_keys(key_at + 2 * sizeof(UKey) * i);
    std::uint64_t first = two_keys.first();
    std::uint64_t second = two_keys.second();
    if constexpr (sizeof(UKey) == 4) {
      first = form.encoded_word(first);
      second = form.encoded_word(second);
    } else {
      first = form.encoded(first);
      second = form.encoded(second);
    }
    const std::uint64_t mask = second < first ? ~std::uint64_t{0} : 0;
    if constexpr (has_values<Value>) {
      const PairOfWords<value_bytes> two_values(value_at + 2 * value_bytes * i);
      two_values.store(mask, value_at + 2 * value_bytes * i);
    }
    two_keys.store(mask, key_at + 2 * sizeof(UKey) * i);
  }
}

/// Whether segments of so many items follow each other without gaps.
[[nodiscard]] [[gnu::always_inline]] inline bool are_adjacent(const std::uint64_t* begins,
                                                              std::size_t count,
                                                              std::size_t length) {
  std::uint64_t gaps = 0;
  for (std::size_t i = 1; i < count; ++i) gaps |= begins[i] - begins[i - 1] - length;
  return gaps == 0;
}

/// Sorts segments of two items.
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_twos(UKey* keys, Value* values, const KeyForm<UKey>& form,
                                             const std::uint64_t* begins, std::size_t count) {
  constexpr std::size_t stride = has_values<Value> ? 1 : 0;
  if (are_adjacent(begins, count, 2)) {
    UKey* const first_keys = keys + begins[0];
    Value* const first_values = values + begins[0] * stride;
    if constexpr (!has_values<Value> || sizeof(Value) == 4 || sizeof(Value) == 8) {
      sort_twos_in_words(first_keys, first_values, form, count);
    } else {
      for (std::size_t i = 0; i < 2 * count; i += 2)
        sort_two(first_keys + i, first_values + i * stride, form);
    }
  } else if (form.is_identity()) {
    for (std::size_t i = 0; i < count; ++i)
      sort_two(keys + begins[i], values + begins[i] * stride, KeyForm<UKey>());
  } else {
    for (std::size_t i = 0; i < count; ++i)
      sort_two(keys + begins[i], values + begins[i] * stride, form);
  }
}

// The form goes by value: what is written to keys could change one that is somewhere.

/// How many segments, the first ones of all, have so many items.
[[nodiscard]] [[gnu::always_inline]] inline std::size_t count_leading(const ShortSegments& segments,
                                                                      std::size_t length) {
  if (segments.lengths[0] != length) return 0;
  if (segments.lengths[segments.count - 1] == length) return segments.count;
  std::size_t count = 1;
  while (segments.lengths[count] == length) ++count;
  return count;
}

/// Sorts the segments of two items, the first ones of all. \return how many these are
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline std::size_t sort_leading_twos(UKey* keys, Value* values,
                                                            KeyForm<UKey> form,
                                                            const ShortSegments& segments) {
  const std::size_t twos = count_leading(segments, 2);
  if (twos > 0) sort_twos(keys, values, form, segments.begins, twos);
  return twos;
}

/// The segments from `first` on.
[[nodiscard]] inline ShortSegments behind(const ShortSegments& segments, std::size_t first) {
  return {segments.begins + first, segments.lengths + first, segments.count - first};
}

/// Fewer segments than a tile has columns, behind as many empty ones as are missing.
template <std::size_t Columns>
struct PaddedSegments {
  explicit PaddedSegments(const ShortSegments& segments) {
    const std::size_t empty = Columns - segments.count;
    begins.fill(segments.begins[0]);
    lengths.fill(0);
    std::copy_n(segments.begins, segments.count, begins.begin() + empty);
    std::copy_n(segments.lengths, segments.count, lengths.begin() + empty);
  }
  std::array<std::uint64_t, Columns> begins;
  std::array<std::uint32_t, Columns> lengths;
};

/// Whether the last few segments are sorted sooner in a tile, which takes as long as if all columns
/// were as long as the longest, than one by one.
/// \param advantage  how many times as long that takes an item
[[nodiscard]] inline bool fills_a_tile(const ShortSegments& segments, std::size_t columns,
                                       std::size_t advantage) {
  std::size_t items = 0;
  for (std::size_t i = 0; i < segments.count; ++i) items += segments.lengths[i];
  return advantage * items >= columns * segments.lengths[segments.count - 1];
}

template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_each_alone(UKey* keys, Value* values, KeyForm<UKey> form,
                                                   const ShortSegments& segments) {
  constexpr std::size_t stride = has_values<Value> ? 1 : 0;
  for (std::size_t i = 0; i < segments.count; ++i)
    sort_alone(keys + segments.begins[i], values + segments.begins[i] * stride, form,
               segments.lengths[i]);
}

/// Sorts segments sixteen at a time.
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_by_tiles(UKey* keys, Value* values, KeyForm<UKey> form,
                                                 const ShortSegments& segments,
                                                 SegmentTile<UKey, Value>& tile) {
  constexpr std::size_t columns = SegmentTile<UKey, Value>::columns;
  std::size_t i = 0;
  for (; i + columns <= segments.count; i += columns)
    tile.sort(keys, values, form, segments.begins + i, segments.lengths + i);
  if (i == segments.count) return;
  const ShortSegments rest = behind(segments, i);
  if (!fills_a_tile(rest, columns, 3)) return sort_each_alone(keys, values, form, rest);
  const PaddedSegments<columns> padded(rest);
  tile.sort(keys, values, form, padded.begins.data(), padded.lengths.data());
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
/// Sorts segments of `Length` items, the first ones of all, if they lie side by side and are many.
/// \return how many have been sorted
template <std::size_t Length, std::unsigned_integral UKey, class Value>
SORTIE_TARGET_AVX512 std::size_t sort_leading_adjacent(UKey* keys, Value* values,
                                                       const KeyForm<UKey>& form,
                                                       const ShortSegments& segments) {
  using Adjacent = AdjacentSegments<UKey, Value, Length>;
  const std::size_t tiles = count_leading(segments, Length) / Adjacent::columns;
  const std::size_t count = tiles * Adjacent::columns;
  if (tiles == 0 || !are_adjacent(segments.begins, count, Length)) return 0;
  Adjacent::sort(keys + segments.begins[0], values + segments.begins[0], form, tiles);
  return count;
}

/// Sorts segments of up to `Rows` items eight at a time in registers, until one is longer or words
/// do not tell the order of some. \return how many have been sorted
template <std::size_t Rows, std::unsigned_integral UKey, class Value>
SORTIE_TARGET_AVX512 std::size_t sort_in_registers(UKey* keys, Value* values, KeyForm<UKey> form,
                                                   const ShortSegments& segments) {
  using Tile = RegisterTile<UKey, Value, Rows>;
  constexpr std::size_t columns = Tile::columns;
  std::size_t i = 0;
  for (; i + columns <= segments.count && segments.lengths[i + columns - 1] <= Rows; i += columns)
    if (!Tile::sort(keys, values, form, segments.begins + i, segments.lengths + i)) break;
  return i;
}

/// The same for up to most_register_rows items.
template <std::unsigned_integral UKey, class Value>
std::size_t sort_in_registers(UKey* keys, Value* values, KeyForm<UKey> form,
                              const ShortSegments& segments) {
  std::size_t sorted = 0;
  const auto sort_adjacent = [&](auto length) {
    if (sorted < segments.count)
      sorted += sort_leading_adjacent<length()>(keys, values, form, behind(segments, sorted));
  };
  sort_adjacent(std::integral_constant<std::size_t, 3>());
  sort_adjacent(std::integral_constant<std::size_t, 4>());
  const auto sort_up_to = [&](auto rows) {
    if (sorted < segments.count && segments.lengths[sorted] <= rows)
      sorted += sort_in_registers<rows()>(keys, values, form, behind(segments, sorted));
  };
  sort_up_to(std::integral_constant<std::size_t, 4>());
  sort_up_to(std::integral_constant<std::size_t, 8>());
  sort_up_to(std::integral_constant<std::size_t, 12>());
  sort_up_to(std::integral_constant<std::size_t, 16>());
  sort_up_to(std::integral_constant<std::size_t, 24>());
  sort_up_to(std::integral_constant<std::size_t, most_register_rows>());
  return sorted;
}

/// Segments that are sorted by SegmentTile after some whose order words of RegisterTile do not
/// tell, because that is likely to happen again.
inline constexpr std::size_t segments_after_ties = 256;

/// Sorts segments of up to most_register_rows items.
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] SORTIE_TARGET_AVX512 inline void sort_by_register_tiles(
    UKey* keys, Value* values, KeyForm<UKey> form, const ShortSegments& segments,
    SegmentTile<UKey, Value>& tile) {
  constexpr std::size_t columns = 8;
  ShortSegments rest = segments;
  while (rest.count >= columns) {
    rest = behind(rest, sort_in_registers(keys, values, form, rest));
    if (rest.count < columns) break;
    const std::size_t tied = std::min(rest.count, segments_after_ties);
    sort_by_tiles(keys, values, form, {rest.begins, rest.lengths, tied}, tile);
    rest = behind(rest, tied);
  }
  if (rest.count == 0) return;
  if (fills_a_tile(rest, columns, 5)) {
    const PaddedSegments<columns> padded(rest);
    const ShortSegments all{padded.begins.data(), padded.lengths.data(), columns};
    if (sort_in_registers(keys, values, form, all) == columns) return;
  }
  sort_each_alone(keys, values, form, rest);
}
#endif

/// See sort_short_segments().
/// \tparam Tiles  whether the processor's vectors make sixteen at once faster than one by one
template <bool Tiles, std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_short_segments_body(UKey* keys, Value* values,
                                                            KeyForm<UKey> form,
                                                            const ShortSegments& segments,
                                                            SegmentTile<UKey, Value>& tile) {
  const std::size_t twos = sort_leading_twos(keys, values, form, segments);
  if (twos == segments.count) return;
  if constexpr (Tiles) {
    sort_by_tiles(keys, values, form, behind(segments, twos), tile);
  } else {
    sort_each_alone(keys, values, form, behind(segments, twos));
  }
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
template <std::unsigned_integral UKey, class Value>
SORTIE_TARGET_AVX512 void sort_short_segments_avx512(UKey* keys, Value* values,
                                                     const KeyForm<UKey>& form,
                                                     const ShortSegments& segments,
                                                     SegmentTile<UKey, Value>& tile) {
  if constexpr (fits_register_tile<Value>) {
    std::size_t twos = 0;
    // 32-bit keys are exchanged as fast in words that hold two.
    if constexpr (sizeof(UKey) == 8) twos = sort_leading_adjacent<2>(keys, values, form, segments);
    if (twos < segments.count)
      twos += sort_leading_twos(keys, values, form, behind(segments, twos));
    const std::uint32_t* const end = segments.lengths + segments.count;
    const std::size_t few = static_cast<std::size_t>(
        end[-1] <= most_register_rows
            ? segments.count
            : std::upper_bound(segments.lengths, end, most_register_rows) - segments.lengths);
    if (few > twos)
      sort_by_register_tiles(keys, values, form,
                             {segments.begins + twos, segments.lengths + twos, few - twos}, tile);
    if (few < segments.count) sort_by_tiles(keys, values, form, behind(segments, few), tile);
  } else {
    sort_short_segments_body<true>(keys, values, form, segments, tile);
  }
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
/// sixteen of about the same length at once (SegmentTile) where that is faster, or with AVX-512
/// eight of up to most_register_rows pairs (RegisterTile).
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
