#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sortie::segsort {

namespace detail {

/// Up to this many items insertion beats the fixed cost of clearing and scanning counters.
inline constexpr std::size_t kInsertionLimit = 32;

struct NoValue {};

template <std::unsigned_integral UKey, class Value>
void insertion_sort(UKey* keys, Value* values, std::size_t n) {
  constexpr bool has_values = !std::same_as<Value, NoValue>;
  for (std::size_t i = 1; i < n; ++i) {
    const UKey key = keys[i];
    std::size_t j = i;
    if constexpr (has_values) {
      const Value value = values[i];
      for (; j > 0 && key < keys[j - 1]; --j) {
        keys[j] = keys[j - 1];
        values[j] = values[j - 1];
      }
      values[j] = value;
    } else {
      for (; j > 0 && key < keys[j - 1]; --j) keys[j] = keys[j - 1];
    }
    keys[j] = key;
  }
}

template <std::unsigned_integral UKey, class Value>
void radix_sort(UKey* keys, Value* values, std::size_t n, UKey* key_scratch, Value* value_scratch) {
  constexpr bool has_values = !std::same_as<Value, NoValue>;
  UKey differing = 0;
  for (std::size_t i = 1; i < n; ++i) differing |= keys[i] ^ keys[0];
  UKey* const keys_home = keys;
  for (unsigned shift = 0; shift < 8 * sizeof(UKey); shift += 8) {
    if (((differing >> shift) & 0xff) == 0) continue;
    std::array<std::size_t, 256> next{};
    for (std::size_t i = 0; i < n; ++i) ++next[(keys[i] >> shift) & 0xff];
    std::size_t sum = 0;
    for (std::size_t& count : next) sum += std::exchange(count, sum);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t to = next[(keys[i] >> shift) & 0xff]++;
      key_scratch[to] = keys[i];
      if constexpr (has_values) value_scratch[to] = values[i];
    }
    std::swap(keys, key_scratch);
    if constexpr (has_values) std::swap(values, value_scratch);
  }
  if (keys == keys_home) return;
  for (std::size_t i = 0; i < n; ++i) {
    key_scratch[i] = keys[i];
    if constexpr (has_values) value_scratch[i] = values[i];
  }
}

}  // namespace detail

/// Sorts one segment of pairs by ascending unsigned key, on the calling thread.
///
/// Stable: equal keys keep their order. Does not allocate and does not throw, so that it can be
/// called from inside a parallel loop.
///
/// \param keys, values                n items each, sorted in place
/// \param key_scratch, value_scratch  n items each, overwritten; must not overlap the input
template <std::unsigned_integral UKey, class Value>
void sort_segment(UKey* keys, Value* values, std::size_t n, UKey* key_scratch,
                  Value* value_scratch) {
  if (n <= detail::kInsertionLimit) {
    detail::insertion_sort(keys, values, n);
  } else {
    detail::radix_sort(keys, values, n, key_scratch, value_scratch);
  }
}

/// Sorts one segment of keys, as above. `key_scratch` holds n items.
template <std::unsigned_integral UKey>
void sort_segment(UKey* keys, std::size_t n, UKey* key_scratch) {
  detail::NoValue none;
  sort_segment(keys, &none, n, key_scratch, &none);
}

}  // namespace sortie::segsort
