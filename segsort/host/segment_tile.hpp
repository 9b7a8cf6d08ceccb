#pragma once

#include <array>
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
/// Row r holds item r of every segment, so that comparing two rows is a few vector instructions
/// that no key and no length has a part in. Shorter segments are filled up with items that come
/// last. What a row holds:
///
///   keys alone              the key
///   32-bit keys, values     one word of 64 bits: the key above the item's number in its segment
///   64-bit keys, values     the key, and in a row of its own the item's number
///
/// Numbers make all items different, so a network, which is not stable by itself, sorts stably. And
/// only they move through it: values of any size are fetched once the order is known.
///
/// Memory: 16 KiB for keys alone, 33 KiB with 32-bit keys, 64 KiB with 64-bit keys, and 256 values.
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
      const Word filler = word(form.decoded(std::numeric_limits<UKey>::max()), ~std::uint32_t{0});
      for (std::size_t column = 0; column < columns; ++column) {
        load(keys + begins[column], lengths[column], column);
        for (std::size_t row = lengths[column]; row < rows; ++row)
          words_[row * columns + column] = filler;
      }
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

  template <class Length>
  [[gnu::always_inline]] void store(UKey* keys, Value* values, Length length, std::size_t column) {
    if constexpr (has_items) copy_values(values, length);
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

  /// Copies the values of a segment to values_in_: pieces of known size, the last overlapping the
  /// one before it. A call of memcpy for each segment took a quarter of the time of all.
  template <class Length>
  [[gnu::always_inline]] void copy_values(const Value* values, Length length) {
    constexpr bool known = !std::is_integral_v<Length>;
    const std::size_t n = length;
    if constexpr (known) {
      std::memcpy(values_in_.data(), values, n * sizeof(Value));
    } else if (n >= 8) {
      for (std::size_t i = 0; i + 8 < n; i += 8) copy_piece<8>(values, i);
      copy_piece<8>(values, n - 8);
    } else if (n >= 4) {
      copy_piece<4>(values, 0);
      copy_piece<4>(values, n - 4);
    } else if (n >= 2) {
      copy_piece<2>(values, 0);
      copy_piece<2>(values, n - 2);
    }
  }
  template <std::size_t Size>
  [[gnu::always_inline]] void copy_piece(const Value* values, std::size_t at) {
    std::memcpy(values_in_.data() + at, values + at, Size * sizeof(Value));
  }

  [[gnu::always_inline]] void sort_columns(const KeyForm<UKey>& form, std::size_t rows) {
    if constexpr (numbered) {
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
          numbers_[row * columns + column] = row;
    }
    if (!form.is_identity()) {
      for (std::size_t i = 0; i < rows * columns; ++i) words_[i] = encoded(form, words_[i]);
    }
    exchange_network(
        rows, [this](std::size_t first, std::size_t second, std::size_t count)
                  __attribute__((always_inline)) {
                    exchange(first * columns, second * columns, count * columns);
                  });
    if (!form.is_identity()) {
      for (std::size_t i = 0; i < rows * columns; ++i) words_[i] = decoded(form, words_[i]);
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
  [[gnu::always_inline]] void exchange(std::size_t first, std::size_t second, std::size_t count) {
    Word* const a = words_.data() + first;
    Word* const b = words_.data() + second;
    if constexpr (numbered) {
      std::uint64_t* const number_a = numbers_.data() + first;
      std::uint64_t* const number_b = numbers_.data() + second;
      SORTIE_INDEPENDENT_TURNS
      for (std::size_t i = 0; i < count; ++i) {
        const Word x = a[i];
        const Word y = b[i];
        const std::uint64_t number_x = number_a[i];
        const std::uint64_t number_y = number_b[i];
        const bool swap = (y < x) | ((y == x) & (number_y < number_x));
        a[i] = swap ? y : x;
        b[i] = swap ? x : y;
        number_a[i] = swap ? number_y : number_x;
        number_b[i] = swap ? number_x : number_y;
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
  std::array<Value, has_items ? most_rows : 1> values_in_;
};

}  // namespace sortie::segsort::detail
