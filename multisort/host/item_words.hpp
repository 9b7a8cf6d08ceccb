// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "multisort/host/items.hpp"

namespace sortie::multisort {

/// Whether items are words of 64 bits: keys of so many, or a key of 32 above a value of 32.
template <class Key, class Value>
inline constexpr bool are_words = has_values<Value> ? sizeof(Key) == 4 && sizeof(Value) == 4
                                                    : sizeof(Key) == 8;

/// The word of an item. Words are in the order of their keys.
template <class Key, class Value>
requires are_words<Key, Value>
[[nodiscard]] inline std::uint64_t word_of(Items<Key, Value> items, std::uint64_t i) {
  if constexpr (has_values<Value>) {
    std::uint32_t value = 0;
    std::memcpy(&value, items.values + i, sizeof(value));
    return std::uint64_t{items.keys[i]} << 32 | value;
  } else {
    return items.keys[i];
  }
}

/// Writes the items of words.
template <class Key, class Value>
requires are_words<Key, Value>
inline void copy_words(const std::uint64_t* words, std::uint64_t n, Items<Key, Value> to) {
  if constexpr (has_values<Value>) {
    for (std::uint64_t i = 0; i < n; ++i) {
      to.keys[i] = static_cast<Key>(words[i] >> 32);
      const auto value = static_cast<std::uint32_t>(words[i]);
      std::memcpy(to.values + i, &value, sizeof(value));
    }
  } else {
    std::copy_n(words, n, to.keys);
  }
}

}  // namespace sortie::multisort
