// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "primitives/host/items.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "segsort/host/short/short_segment_list.hpp"

namespace sortie::segsort::detail {

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

/// Sorts the leading segments of two items. The codec is passed by value: the compiler must assume
/// that stores to keys modify a codec in memory.
/// \return number of sorted segments
template <std::unsigned_integral UKey, class Value>
[[gnu::always_inline]] inline std::size_t sort_leading_twos(Items<UKey, Value> items,
                                                            KeyCodec<UKey> codec,
                                                            const ShortSegments& segments) {
  const std::uint64_t* const begins = segments.begins;
  const std::size_t count = count_leading(segments, 2);
  if (count == 0) return 0;
  if (are_adjacent(begins, count, 2)) {
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

}  // namespace sortie::segsort::detail
