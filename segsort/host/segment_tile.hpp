#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "sortie/segsort/host/exchange_network.hpp"
#include "sortie/segsort/host/key_form.hpp"
#include "sortie/segsort/host/short_sort.hpp"
#include "sortie/segsort/host/vector_unit.hpp"

namespace sortie::segsort::detail {

/// Sixteen segments that are sorted at once, one a column, by a network over the rows.
///
/// Row r holds a word for item r of every segment, so that comparing two rows is a few vector
/// instructions that no key and no length has a part in. Shorter segments are filled up with words
/// that come last. What a word is:
///
///   keys alone              the key
///   32-bit keys, values     64 bits: the key above the item's number in its segment
///   64-bit keys, values     the key, and in a row of its own the item's number; in tiles of many
///                           rows a word: the upper bits of the key above the item's number
///
/// Numbers make all items different, so a network, which is not stable by itself, sorts stably. And
/// only they move through it: values of any size are fetched once the order is known.
///
/// Words of 64 bits move at twice the speed of keys with numbers, but have to be made, and keys are
/// fetched as values are. They leave out the bits in which all keys of a segment agree, and up to
/// eight of the lowest, which do not fit beside the number. Where items agree in all others, the
/// tile is sorted by keys with numbers after all, and so are the next few.
///
/// Memory: 16 KiB for 32-bit keys alone, 32 KiB for 64-bit keys alone and 33 KiB with 32-bit keys,
/// 66 KiB with 64-bit keys, and 256 values.
template <std::unsigned_integral UKey, class Value>
class SegmentTile {
 public:
  static constexpr std::size_t columns = 16;
  static constexpr std::size_t most_rows = 256;

  /// Sorts `columns` segments.
  /// \param begins, lengths  `columns` of each; a length may be 0, the last is the longest
  [[gnu::always_inline]] void sort(UKey* keys, Value* values, const KeyForm<UKey>& form,
                                   const std::uint64_t* begins, const std::uint32_t* lengths) {
    const std::size_t rows = lengths[columns - 1];
    // The commonest lengths have code of their own: a loop of so few turns costs more than them.
    const bool equal = lengths[0] == rows && rows >= 3 && rows <= 8;
    if (equal) {
      with_rows(
          rows, [&](auto length) __attribute__((always_inline)) {
            for (std::size_t column = 0; column < columns; ++column)
              load(keys + begins[column], length, column);
          });
    } else {
      if constexpr (numbered) {
        if (rows >= fewest_cut_rows && sort_cut(keys, values, form, begins, lengths)) return;
      }
      const Word filler = word(form.decoded(std::numeric_limits<UKey>::max()), ~std::uint32_t{0});
      load_all(keys, begins, lengths, [&](std::size_t) { return filler; });
    }
    sort_columns(form, rows);
    if (equal) {
      with_rows(
          rows, [&](auto length) __attribute__((always_inline)) {
            for (std::size_t column = 0; column < columns; ++column)
              store(keys + begins[column], value_at(values, begins[column]), length, column);
          });
    } else {
      for (std::size_t column = 0; column < columns; ++column)
        store(keys + begins[column], value_at(values, begins[column]), lengths[column], column);
    }
  }

 private:
  static constexpr bool has_items = has_values<Value>;
  static constexpr bool packed = has_items && sizeof(UKey) == 4;
  static constexpr bool numbered = has_items && !packed;
  using Word = std::conditional_t<packed, std::uint64_t, UKey>;

  /// Fewer rows are sorted sooner by keys with numbers. One core of an Intel Xeon (Sapphire Rapids,
  /// virtual), u64 + u64, nanoseconds an item by keys with numbers and by words: 3.2 and 3.6 with
  /// 32 rows, 3.8 and 3.9 with 64, 5.3 and 4.9 with 100, 6.5 and 5.7 with 128, 12.4 and 6.2 with
  /// 256.
  static constexpr std::size_t fewest_cut_rows = 80;
  /// Tiles that are sorted by keys with numbers at once after one in which words were not enough.
  static constexpr unsigned tiles_after_ties = 31;

  /// Calls body(std::integral_constant of rows), for 3 to 8.
  template <class Body>
  [[gnu::always_inline]] static void with_rows(std::size_t rows, Body body) {
    switch (rows) {
#define SORTIE_CASE(size) \
  case size:              \
    return body(std::integral_constant<std::size_t, size>{});
      SORTIE_CASE(3)
      SORTIE_CASE(4)
      SORTIE_CASE(5)
      SORTIE_CASE(6)
      SORTIE_CASE(7)
      SORTIE_CASE(8)
#undef SORTIE_CASE
      default:
        return;
    }
  }

  [[gnu::always_inline]] static Value* value_at(Value* values, std::uint64_t i) {
    return values + (has_items ? i : 0);
  }

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

  /// Loads columns of any length; `filler(column)` is what they are filled up with.
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
  [[gnu::always_inline]] void store(UKey* keys, Value* values, Length length, std::size_t column) {
    if constexpr (has_items) copy_items(values, values_in_.data(), length);
    const std::size_t rows = length;
#pragma GCC unroll 8
    for (std::size_t row = 0; row < rows; ++row) {
      const Word item = words_[row * columns + column];
      if constexpr (packed) {
        keys[row] = static_cast<UKey>(item >> 32);
        values[row] = values_in_[static_cast<std::uint32_t>(item)];
      } else {
        keys[row] = item;
        if constexpr (numbered) values[row] = values_in_[numbers_[row * columns + column]];
      }
    }
  }

  /// Copies some items: pieces of known size, the last overlapping the one before it. A call of
  /// memcpy for each segment took a quarter of the time of all.
  template <class Item, class Length>
  [[gnu::always_inline]] static void copy_items(const Item* from, Item* to, Length length) {
    constexpr bool known = !std::is_integral_v<Length>;
    const std::size_t n = length;
    if constexpr (known) {
      std::memcpy(to, from, n * sizeof(Item));
    } else if (n >= 8) {
      for (std::size_t i = 0; i + 8 < n; i += 8) copy_piece<8>(from + i, to + i);
      copy_piece<8>(from + n - 8, to + n - 8);
    } else if (n >= 4) {
      copy_piece<4>(from, to);
      copy_piece<4>(from + n - 4, to + n - 4);
    } else if (n >= 2) {
      copy_piece<2>(from, to);
      copy_piece<2>(from + n - 2, to + n - 2);
    }
  }
  template <std::size_t Size, class Item>
  [[gnu::always_inline]] static void copy_piece(const Item* from, Item* to) {
    std::memcpy(to, from, Size * sizeof(Item));
  }

  [[gnu::always_inline]] void sort_columns(const KeyForm<UKey>& form, std::size_t rows) {
    if constexpr (numbered) {
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
          numbers_[row * columns + column] = row;
    }
    encode(form, rows);
    exchange_network(
        rows, [this](std::size_t first, std::size_t second, std::size_t count)
                  __attribute__((always_inline)) {
                    exchange<numbered>(first * columns, second * columns, count * columns);
                  });
    if (!form.is_identity()) {
      for (std::size_t i = 0; i < rows * columns; ++i) words_[i] = decoded(form, words_[i]);
    }
  }

  [[gnu::always_inline]] void encode(const KeyForm<UKey>& form, std::size_t rows) {
    if (form.is_identity()) return;
    for (std::size_t i = 0; i < rows * columns; ++i) words_[i] = encoded(form, words_[i]);
  }

  /// Sorts by words of which each holds the upper bits of a key above the item's number.
  /// \return false where that is not enough: then nothing has changed
  [[gnu::always_inline]] bool sort_cut(UKey* keys, Value* values, const KeyForm<UKey>& form,
                                       const std::uint64_t* begins, const std::uint32_t* lengths) {
    if (tiles_to_go_ > 0) {
      --tiles_to_go_;
      return false;
    }
    const std::size_t rows = lengths[columns - 1];
    // Until it is known which bits differ, columns are filled up with keys that they have.
    load_all(keys, begins, lengths,
             [&](std::size_t column) { return lengths[column] > 0 ? words_[column] : Word{0}; });
    encode(form, rows);
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
    exchange_network(
        rows, [this](std::size_t first, std::size_t second, std::size_t count)
                  __attribute__((always_inline)) {
                    exchange<false>(first * columns, second * columns, count * columns);
                  });
    const bool all_bits_fit = ((differing << left_out) & number_mask) == 0;
    if (!all_bits_fit && has_ties(rows, number_mask, ends)) {
      tiles_to_go_ = tiles_after_ties;
      return false;
    }
    for (std::size_t column = 0; column < columns; ++column)
      fetch(keys + begins[column], value_at(values, begins[column]), lengths[column], column,
            number_mask);
    return true;
  }

  /// The bits in which some key differs from the first of its column.
  [[gnu::always_inline]] Word differing_bits(std::size_t rows) const {
    std::array<Word, columns> differing{};
    for (std::size_t row = 1; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column)
        differing[column] |= words_[row * columns + column] ^ words_[column];
    Word any = 0;
    for (const Word bits : differing) any |= bits;
    return any;
  }

  /// Whether neighbours in a column, before its end, agree in the bits above the number.
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

  /// Brings the items of a segment in the order of the numbers in a column.
  [[gnu::always_inline]] void fetch(UKey* keys, Value* values, std::size_t rows, std::size_t column,
                                    Word number_mask) {
    copy_items(keys, keys_in_.data(), rows);
    copy_items(values, values_in_.data(), rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const Word number = words_[row * columns + column] & number_mask;
      keys[row] = keys_in_[number];
      values[row] = values_in_[number];
    }
  }

  [[gnu::always_inline]] static Word encoded(const KeyForm<UKey>& form, Word item) {
    if constexpr (packed) {
      return Word{form.encoded(static_cast<UKey>(item >> 32))} << 32 |
             static_cast<std::uint32_t>(item);
    } else {
      return form.encoded(item);
    }
  }
  [[gnu::always_inline]] static Word decoded(const KeyForm<UKey>& form, Word item) {
    if constexpr (packed) {
      return Word{form.decoded(static_cast<UKey>(item >> 32))} << 32 |
             static_cast<std::uint32_t>(item);
    } else {
      return form.decoded(item);
    }
  }

  /// Compares `count` items from `first` on with those from `second` on, and puts the lesser first.
  /// \tparam Numbers  whether numbers_ go with them
  template <bool Numbers>
  [[gnu::always_inline]] void exchange(std::size_t first, std::size_t second, std::size_t count) {
    Word* const a = words_.data() + first;
    Word* const b = words_.data() + second;
    if constexpr (Numbers) {
      std::uint64_t* const number_a = numbers_.data() + first;
      std::uint64_t* const number_b = numbers_.data() + second;
      SORTIE_INDEPENDENT_TURNS
      for (std::size_t i = 0; i < count; ++i) {
        const Word x = a[i];
        const Word y = b[i];
        const std::uint64_t number_x = number_a[i];
        const std::uint64_t number_y = number_b[i];
        const bool swap = (y < x) | ((y == x) & (number_y < number_x));
        a[i] = x < y ? x : y;
        b[i] = x < y ? y : x;
        // What is stored in any case: where nothing may change, GCC asks whether anything does, by
        // a branch that nobody foresees.
        const std::uint64_t changed = (number_x ^ number_y) & (0 - std::uint64_t{swap});
        number_a[i] = number_x ^ changed;
        number_b[i] = number_y ^ changed;
      }
    } else {
      SORTIE_INDEPENDENT_TURNS
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
  unsigned tiles_to_go_ = 0;  ///< see tiles_after_ties
};

}  // namespace sortie::segsort::detail
