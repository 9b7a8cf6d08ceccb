// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/host_memory.hpp"
#include "primitives/payload.hpp"
#include "sortie/context.hpp"

namespace sortie::multisort {

/// A value of any type, of any alignment: only its bytes matter.
template <std::size_t Bytes>
struct Opaque {
  unsigned char bytes[Bytes];
};

/// Consecutive items: an array of keys, and an array of their values. Records are keys without
/// values.
template <class Key, class Value>
struct Items {
  Key* keys = nullptr;
  Value* values = nullptr;  ///< null without values

  [[nodiscard]] Items from(std::uint64_t first) const {
    if constexpr (has_values<Value>) return {keys + first, values + first};
    return {keys + first, nullptr};
  }
};

/// Bytes of a key and its value.
template <class Key, class Value>
inline constexpr std::size_t item_bytes = sizeof(Key) + (has_values<Value> ? sizeof(Value) : 0);

template <class Key, class Value>
inline void copy_items(Items<Key, Value> from, std::uint64_t n, Items<Key, Value> to) {
  std::copy_n(from.keys, n, to.keys);
  if constexpr (has_values<Value>) std::copy_n(from.values, n, to.values);
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

}  // namespace sortie::multisort
