// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <type_traits>

#include "core/host_memory.hpp"
#include "primitives/payload.hpp"
#include "sortie/context.hpp"
#include "sortie/error.hpp"

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

/// Storage for items, not initialised, in large pages, aligned to cache lines.
template <class Key, class Value>
class ItemStorage {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>);

 public:
  /// \param what  named when there is not enough memory
  /// \throws Error (out_of_memory) more than the context's budget, or than there is
  ItemStorage(const HostContext& context, std::uint64_t n, std::string_view what) {
    const std::uint64_t bytes = n * item_bytes<Key, Value>;
    if (context.memory_budget != 0 && bytes > context.memory_budget)
      throw out_of_memory_error(what, bytes, context.memory_budget);
    keys_ = allocate<Key>(n);
    if constexpr (has_values<Value>) values_ = allocate<Value>(n);
    if (keys_ == nullptr || (has_values<Value> && values_ == nullptr))
      throw out_of_memory_error(what, bytes, host_memory_available());
  }

  [[nodiscard]] Items<Key, Value> items() const { return {keys_.get(), values_.get()}; }

 private:
  struct Free {
    void operator()(void* storage) const { std::free(storage); }
  };
  template <class T>
  using Array = std::unique_ptr<T[], Free>;

  template <class T>
  static Array<T> allocate(std::uint64_t n) {
    constexpr std::size_t page = 4096;
    const std::size_t bytes = std::max<std::size_t>(1, (n * sizeof(T) + page - 1) / page) * page;
    Array<T> array(static_cast<T*>(std::aligned_alloc(page, bytes)));
    if (array != nullptr) advise_large_pages(array.get(), bytes);
    return array;
  }

  Array<Key> keys_;
  Array<Value> values_;
};

}  // namespace sortie::multisort
