// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "segsort/host/short/short_segment_list.hpp"
#include "segsort/host/short/short_sort.hpp"

namespace sortie::segsort::detail {

/// Two neighbouring items that can be exchanged without a branch.
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

/// Sorts two items by their raw keys.
///
/// All reads precede all writes: keys and values mostly lie a multiple of 4 KiB apart, and on Intel
/// processors a read stalls behind an earlier write at such a distance (4K aliasing).
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_two(UKey* keys, Value* values,
                                            const KeyCodec<UKey>& codec) {
  Neighbours<UKey> two_keys(keys);
  const bool exchanged = codec.encoded(two_keys[1]) < codec.encoded(two_keys[0]);
  if constexpr (has_values<Value>) {
    Neighbours<Value> two_values(values);
    two_keys.store(exchanged, keys);
    two_values.store(exchanged, values);
  } else {
    two_keys.store(exchanged, keys);
  }
}

/// Two neighbouring items of 32 bits, held in one 64-bit word, or of 64 bits, held in two.
template <std::size_t Bytes>
class PairOfWords {
 public:
  [[gnu::always_inline]] explicit PairOfWords(const char* from) {
    static_assert(std::endian::native == std::endian::little);
    // Word by word: GCC does not split a copy of 16 bytes into words.
    std::memcpy(&first_, from, sizeof first_);
    if constexpr (Bytes == 8) std::memcpy(&second_, from + sizeof first_, sizeof second_);
  }
  [[nodiscard]] [[gnu::always_inline]] std::uint64_t first() const {
    return Bytes == 4 ? first_ & 0xffff'ffffU : first_;
  }
  [[nodiscard]] [[gnu::always_inline]] std::uint64_t second() const {
    return Bytes == 4 ? first_ >> 32 : second_;
  }
  /// \param mask  all ones if the items are to be exchanged, else 0
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
  std::uint64_t first_;  ///< both items if they have 32 bits
  std::uint64_t second_ = 0;
};

/// Sorts adjacent segments of two items. All arithmetic has 64 bits, so the compiler vectorises the
/// loop.
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline void sort_twos_in_words(UKey* keys, Value* values,
                                                      const KeyCodec<UKey>& codec,
                                                      std::size_t count) {
  constexpr std::size_t value_bytes = has_values<Value> ? sizeof(Value) : 4;
  char* const key_at = reinterpret_cast<char*>(keys);
  char* const value_at = reinterpret_cast<char*>(values);
  SORTIE_INDEPENDENT_ITERATIONS
  for (std::size_t i = 0; i < count; ++i) {
    const PairOfWords<sizeof(UKey)> two_keys(key_at + 2 * sizeof(UKey) * i);
    std::uint64_t first = two_keys.first();
    std::uint64_t second = two_keys.second();
    if constexpr (sizeof(UKey) == 4) {
      first = codec.encoded_word(first);
      second = codec.encoded_word(second);
    } else {
      first = codec.encoded(first);
      second = codec.encoded(second);
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
[[gnu::always_inline]] inline void sort_twos(UKey* keys, Value* values, const KeyCodec<UKey>& codec,
                                             const std::uint64_t* begins, std::size_t count) {
  constexpr std::size_t stride = has_values<Value> ? 1 : 0;
  if (are_adjacent(begins, count, 2)) {
    UKey* const first_keys = keys + begins[0];
    Value* const first_values = values + begins[0] * stride;
    if constexpr (!has_values<Value> || sizeof(Value) == 4 || sizeof(Value) == 8) {
      sort_twos_in_words(first_keys, first_values, codec, count);
    } else {
      for (std::size_t i = 0; i < 2 * count; i += 2)
        sort_two(first_keys + i, first_values + i * stride, codec);
    }
  } else if (codec.is_identity()) {
    for (std::size_t i = 0; i < count; ++i)
      sort_two(keys + begins[i], values + begins[i] * stride, KeyCodec<UKey>());
  } else {
    for (std::size_t i = 0; i < count; ++i)
      sort_two(keys + begins[i], values + begins[i] * stride, codec);
  }
}

/// Sorts the leading segments of two items. The codec is passed by value: the compiler must assume
/// that stores to keys modify a codec in memory.
/// \return number of sorted segments
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline std::size_t sort_leading_twos(UKey* keys, Value* values,
                                                            KeyCodec<UKey> codec,
                                                            const ShortSegments& segments) {
  const std::size_t twos = count_leading(segments, 2);
  if (twos > 0) sort_twos(keys, values, codec, segments.begins, twos);
  return twos;
}

}  // namespace sortie::segsort::detail
