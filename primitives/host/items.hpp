// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "core/host_memory.hpp"
#include "primitives/payload.hpp"
#include "sortie/context.hpp"

namespace sortie {

template <class Key, class Value>
inline void copy_items(Items<Key, Value> from, std::uint64_t n, Items<Key, Value> to) {
  std::copy_n(from.keys, n, to.keys);
  if constexpr (has_values<Value>) std::copy_n(from.values, n, to.values);
}

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

/// Storage for items, not initialised.
template <class Key, class Value>
class ItemStorage {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>);

 public:
  /// \param what  named when there is not enough memory
  /// \throws Error (out_of_memory) more than the context's budget, or than there is
  ItemStorage(const HostContext& context, std::uint64_t n, std::string_view what) {
    require_budget(context, what, n * item_bytes<Key, Value>);
    keys_ = allocate_array<Key>(context, what, n);
    if constexpr (has_values<Value>) values_ = allocate_array<Value>(context, what, n);
  }

  [[nodiscard]] Items<Key, Value> items() const { return {keys_.get(), values_.get()}; }

 private:
  HostArray<Key> keys_;
  HostArray<Value> values_;
};

}  // namespace sortie
