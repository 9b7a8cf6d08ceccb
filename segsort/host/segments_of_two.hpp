#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sortie/segsort/host/key_form.hpp"
#include "sortie/segsort/host/short_segment_list.hpp"
#include "sortie/segsort/host/short_sort.hpp"
#include "sortie/segsort/host/vector_unit.hpp"

namespace sortie::segsort::detail {

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

/// Sorts the segments of two items, the first ones of all. The form goes by value: what is written
/// to keys could change one that is somewhere. \return how many these are
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline std::size_t sort_leading_twos(UKey* keys, Value* values,
                                                            KeyForm<UKey> form,
                                                            const ShortSegments& segments) {
  const std::size_t twos = count_leading(segments, 2);
  if (twos > 0) sort_twos(keys, values, form, segments.begins, twos);
  return twos;
}

}  // namespace sortie::segsort::detail
