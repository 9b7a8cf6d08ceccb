// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "primitives/key_codec.hpp"  // SORTIE_HOST_DEVICE

namespace sortie {

/// Value type of sorts of keys alone.
struct NoValue {};

/// True if items have values.
template <class Value>
inline constexpr bool has_values = !std::same_as<Value, NoValue>;

/// Consecutive items: an array of keys, and an array of their values. Records are keys without
/// values.
template <class Key, class Value>
struct Items {
  Key* keys = nullptr;
  Value* values = nullptr;  ///< null without values

  [[nodiscard]] SORTIE_HOST_DEVICE Items from(std::uint64_t first) const {
    if constexpr (has_values<Value>) return {keys + first, values + first};
    return {keys + first, nullptr};
  }
};
template <class Key, class Value>
Items(Key*, Value*) -> Items<Key, Value>;

/// Bytes of a key and its value.
template <class Key, class Value>
inline constexpr std::size_t item_bytes = sizeof(Key) + (has_values<Value> ? sizeof(Value) : 0);

/// Items of a type that only the caller knows.
using RawItems = Items<std::byte, std::byte>;

/// A value of any type and alignment: only its bytes matter. Held as a word rather than as bytes,
/// because compilers must assume that stores through byte types alias everything.
template <std::unsigned_integral Word>
struct [[gnu::packed]] Opaque {
  Word word;
};

/// std::complex<double>, whose header is too large for every kernel to include.
template <class Value>
concept ComplexOfDoubles = requires(const Value& value) {
  { value.real() } -> std::same_as<double>;
  { value.imag() } -> std::same_as<double>;
};

}  // namespace sortie
