// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "primitives/host/items.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/register_sort.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "segsort/host/short/short_sort.hpp"

namespace sortie::segsort::detail {

/// Sorts sixteen segments at once, one per column, by a network over the rows. Row r holds a word
/// for item r of every segment; shorter segments are padded with words that sort last.
///
///   keys alone              the key
///   32-bit keys, values     64 bits: the key above the item's index in its segment
///   64-bit keys, values     the key, with the item's index in a separate row; in tiles of many
///                           rows one word: the upper bits of the key above the item's index
///
/// Indices make all items different, so the network, which is not stable by itself, sorts stably.
/// Values are fetched once the order is known.
///
/// Words of truncated 64-bit keys sort at twice the speed of keys with separate indices, but must
/// be built. They omit the bits in which all keys of a segment agree, and up to eight of the lowest
/// bits. If items agree in all other bits, this tile and the next few are sorted by keys with
/// separate indices instead.
///
/// Memory: 16 KiB for 32-bit keys alone, 32 KiB for 64-bit keys alone; with values, 32 KiB for
/// 32-bit keys and 66 KiB for 64-bit keys, plus 256 values.
template <std::unsigned_integral UKey, class Value>
class SegmentTile {
 public:
  static constexpr std::size_t columns = 16;
  static constexpr std::size_t most_rows = 256;

  /// Sorts `columns` segments.
  /// \param begins, lengths  `columns` of each; lengths may be 0, and the last is the greatest
  [[gnu::always_inline]] void sort(Items<UKey, Value> items, const KeyCodec<UKey>& codec,
                                   const std::uint64_t* begins, const std::uint32_t* lengths) {
    const std::size_t rows = lengths[columns - 1];
    // The most frequent lengths have specialised code: the loop overhead of so few rows would
    // exceed the work.
    const bool equal = lengths[0] == rows && rows >= 3 && rows <= 8;
    if (equal) {
      with_size<8>(
          rows, [&](auto length) __attribute__((always_inline)) {
            for (std::size_t column = 0; column < columns; ++column)
              load(items.keys + begins[column], length, column);
          });
    } else {
      if constexpr (numbered) {
        if (rows >= fewest_truncated_rows && sort_truncated(items, codec, begins, lengths)) return;
      }
      const Word filler = word(codec.decoded(std::numeric_limits<UKey>::max()), ~std::uint32_t{0});
      load_all(items.keys, begins, lengths, [&](std::size_t) { return filler; });
    }
    sort_columns(codec, rows);
    if (equal) {
      with_size<8>(
          rows, [&](auto length) __attribute__((always_inline)) {
            for (std::size_t column = 0; column < columns; ++column)
              store(items.from(begins[column]), length, column);
          });
    } else {
      for (std::size_t column = 0; column < columns; ++column)
        store(items.from(begins[column]), lengths[column], column);
    }
  }

 private:
  static constexpr bool has_items = has_values<Value>;
  static constexpr bool packed = has_items && sizeof(UKey) == 4;
  static constexpr bool numbered = has_items && !packed;
  using Word = std::conditional_t<packed, std::uint64_t, UKey>;

  /// Least number of rows for truncated keys; fewer rows are faster by keys with indices. One core
  /// of an Intel Xeon (Sapphire Rapids, virtual), u64 + u64, nanoseconds per item by keys with
  /// indices and by truncated keys: 3.2 and 3.6 with 32 rows, 3.8 and 3.9 with 64, 5.3 and 4.9 with
  /// 100, 6.5 and 5.7 with 128, 12.4 and 6.2 with 256.
  static constexpr std::size_t fewest_truncated_rows = 80;
  /// Number of tiles sorted directly by keys with indices after one in which truncated keys tied.
  static constexpr unsigned tiles_after_ties = 31;

  [[gnu::always_inline]] static Word word(UKey key, std::uint32_t item) {
    if constexpr (packed) {
      return Word{key} << 32 | item;
    } else {
      return key;
    }
  }

  template <class Length>
  [[gnu::always_inline]] void load(const UKey* keys, Length length, std::size_t column) {
    const std::size_t rows = length;
#pragma GCC unroll 8
    for (std::size_t row = 0; row < rows; ++row)
      words_[row * columns + column] = word(keys[row], static_cast<std::uint32_t>(row));
  }

  /// Loads columns of any length and pads each with `filler(column)`.
  template <class Filler>
  [[gnu::always_inline]] void load_all(const UKey* keys, const std::uint64_t* begins,
                                       const std::uint32_t* lengths, Filler filler) {
    const std::size_t rows = lengths[columns - 1];
    for (std::size_t column = 0; column < columns; ++column) {
      load(keys + begins[column], lengths[column], column);
      const Word rest = filler(column);
      for (std::size_t row = lengths[column]; row < rows; ++row)
        words_[row * columns + column] = rest;
    }
  }

  template <class Length>
  [[gnu::always_inline]] void store(Items<UKey, Value> items, Length length, std::size_t column) {
    if constexpr (has_items) copy_items(items.values, values_in_.data(), length);
    const std::size_t rows = length;
#pragma GCC unroll 8
    for (std::size_t row = 0; row < rows; ++row) {
      const Word item = words_[row * columns + column];
      if constexpr (packed) {
        items.keys[row] = static_cast<UKey>(item >> 32);
        items.values[row] = values_in_[static_cast<std::uint32_t>(item)];
      } else {
        items.keys[row] = item;
        if constexpr (numbered) items.values[row] = values_in_[numbers_[row * columns + column]];
      }
    }
  }

  /// Copies items in blocks of fixed size, the last of which overlaps the one before it. One call
  /// of memcpy per segment took a quarter of the total time.
  template <class Item, class Length>
  [[gnu::always_inline]] static void copy_items(const Item* from, Item* to, Length length) {
    constexpr bool known = !std::is_integral_v<Length>;
    const std::size_t n = length;
    if constexpr (known) {
      std::memcpy(to, from, n * sizeof(Item));
    } else if (n >= 8) {
      for (std::size_t i = 0; i + 8 < n; i += 8) copy_block<8>(from + i, to + i);
      copy_block<8>(from + n - 8, to + n - 8);
    } else if (n >= 4) {
      copy_block<4>(from, to);
      copy_block<4>(from + n - 4, to + n - 4);
    } else if (n >= 2) {
      copy_block<2>(from, to);
      copy_block<2>(from + n - 2, to + n - 2);
    }
  }
  template <std::size_t Size, class Item>
  [[gnu::always_inline]] static void copy_block(const Item* from, Item* to) {
    std::memcpy(to, from, Size * sizeof(Item));
  }

  [[gnu::always_inline]] void sort_columns(const KeyCodec<UKey>& codec, std::size_t rows) {
    if constexpr (numbered) {
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
          numbers_[row * columns + column] = row;
    }
    encode(codec, rows);
    sort_rows<numbered>(rows);
    if (!codec.is_identity()) {
      replace_keys(
          rows, [&](UKey key) __attribute__((always_inline)) { return codec.decoded(key); });
    }
  }

  [[gnu::always_inline]] void encode(const KeyCodec<UKey>& codec, std::size_t rows) {
    if (codec.is_identity()) return;
    replace_keys(
        rows, [&](UKey key) __attribute__((always_inline)) { return codec.encoded(key); });
  }

  /// Replaces the key of each word by `replacement(key)`.
  template <class Replacement>
  [[gnu::always_inline]] void replace_keys(std::size_t rows, Replacement replacement) {
    for (std::size_t i = 0; i < rows * columns; ++i) {
      if constexpr (packed) {
        words_[i] = word(replacement(static_cast<UKey>(words_[i] >> 32)),
                         static_cast<std::uint32_t>(words_[i]));
      } else {
        words_[i] = replacement(words_[i]);
      }
    }
  }

  /// Sorts by words that each hold the upper bits of a key above the index of the item.
  /// \return false if these bits do not determine the order; then keys and values are unchanged
  [[gnu::always_inline]] bool sort_truncated(Items<UKey, Value> items, const KeyCodec<UKey>& codec,
                                             const std::uint64_t* begins,
                                             const std::uint32_t* lengths) {
    if (tiles_after_ties_left_ > 0) {
      --tiles_after_ties_left_;
      return false;
    }
    const std::size_t rows = lengths[columns - 1];
    // Until the differing bits are known, columns are padded with keys of their own.
    load_all(items.keys, begins, lengths,
             [&](std::size_t column) { return lengths[column] > 0 ? words_[column] : Word{0}; });
    encode(codec, rows);
    std::array<Word, columns> ends;
    for (std::size_t column = 0; column < columns; ++column) ends[column] = lengths[column];
    const Word differing = differing_bits(rows);
    const int left_out = std::countl_zero(differing | 1);
    const Word number_mask = std::bit_ceil(rows) - 1;
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        Word& at = words_[row * columns + column];
        const Word item = ((at << left_out) & ~number_mask) | row;
        at = row < ends[column] ? item : ~Word{0};
      }
    }
    sort_rows<false>(rows);
    const bool all_bits_fit = ((differing << left_out) & number_mask) == 0;
    if (!all_bits_fit && has_ties(rows, number_mask, ends)) {
      tiles_after_ties_left_ = tiles_after_ties;
      return false;
    }
    for (std::size_t column = 0; column < columns; ++column)
      fetch(items.from(begins[column]), lengths[column], column, number_mask);
    return true;
  }

  /// Bits in which any key differs from the first of its column.
  [[gnu::always_inline]] Word differing_bits(std::size_t rows) const {
    std::array<Word, columns> differing{};
    for (std::size_t row = 1; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column)
        differing[column] |= words_[row * columns + column] ^ words_[column];
    Word any = 0;
    for (const Word bits : differing) any |= bits;
    return any;
  }

  /// Whether neighbours in a column, before its end, agree in all bits above the index.
  [[gnu::always_inline]] bool has_ties(std::size_t rows, Word number_mask,
                                       const std::array<Word, columns>& ends) const {
    std::array<Word, columns> ties{};
    for (std::size_t row = 1; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        const Word* const at = words_.data() + row * columns + column;
        const Word tie = (*at ^ *(at - columns)) <= number_mask ? 1 : 0;
        ties[column] |= row < ends[column] ? tie : 0;
      }
    }
    Word any = 0;
    for (const Word tie : ties) any |= tie;
    return any != 0;
  }

  /// Permutes the items of a segment into the order of the indices in its column.
  [[gnu::always_inline]] void fetch(Items<UKey, Value> items, std::size_t rows, std::size_t column,
                                    Word number_mask) {
    copy_items(items.keys, keys_in_.data(), rows);
    copy_items(items.values, values_in_.data(), rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const Word number = words_[row * columns + column] & number_mask;
      items.keys[row] = keys_in_[number];
      items.values[row] = values_in_[number];
    }
  }

  /// \tparam Numbers  whether numbers_ move with the words
  template <bool Numbers>
  [[gnu::always_inline]] void sort_rows(std::size_t rows) {
    exchange_network(
        rows, [this](std::size_t first, std::size_t second, std::size_t count)
                  __attribute__((always_inline)) {
                    exchange<Numbers>(first * columns, second * columns, count * columns);
                  });
  }

  /// Compares and exchanges `count` words from `first` on with those from `second` on; the lesser
  /// words end up at `first`. See sort_rows().
  template <bool Numbers>
  [[gnu::always_inline]] void exchange(std::size_t first, std::size_t second, std::size_t count) {
    Word* const a = words_.data() + first;
    Word* const b = words_.data() + second;
    if constexpr (Numbers) {
      std::uint64_t* const number_a = numbers_.data() + first;
      std::uint64_t* const number_b = numbers_.data() + second;
      SORTIE_INDEPENDENT_ITERATIONS
      for (std::size_t i = 0; i < count; ++i) {
        const Word x = a[i];
        const Word y = b[i];
        const std::uint64_t number_x = number_a[i];
        const std::uint64_t number_y = number_b[i];
        const bool swap = (y < x) | ((y == x) & (number_y < number_x));
        a[i] = x < y ? x : y;
        b[i] = x < y ? y : x;
        // Unconditional stores: if a store may be skipped, GCC emits a branch, which is
        // unpredictable.
        const std::uint64_t changed = (number_x ^ number_y) & (0 - std::uint64_t{swap});
        number_a[i] = number_x ^ changed;
        number_b[i] = number_y ^ changed;
      }
    } else {
      SORTIE_INDEPENDENT_ITERATIONS
      for (std::size_t i = 0; i < count; ++i) {
        const Word x = a[i];
        const Word y = b[i];
        a[i] = x < y ? x : y;
        b[i] = x < y ? y : x;
      }
    }
  }

  alignas(64) std::array<Word, most_rows * columns> words_;
  alignas(64) std::array<std::uint64_t, numbered ? most_rows * columns : 1> numbers_;
  std::array<UKey, numbered ? most_rows : 1> keys_in_;
  std::array<Value, has_items ? most_rows : 1> values_in_;
  unsigned tiles_after_ties_left_ = 0;  ///< see tiles_after_ties
};

}  // namespace sortie::segsort::detail
