// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "primitives/key_codec.hpp"  // SORTIE_HOST_DEVICE
#include "sortie/error.hpp"

/// Items, with and without values, and calls of templates by their widths. Device code includes
/// this file, and nvcc cannot compile fmt.
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

/// Calls `function` with a value of the unsigned type of this width, or with NoValue for 0.
/// \throws Error (usage) another width
template <class Function>
auto with_value_bytes(int bytes, Function function) {
  if (bytes == 0) return function(NoValue{});
  if (bytes == 4) return function(std::uint32_t{});
  if (bytes == 8) return function(std::uint64_t{});
  throw Error(ErrorKind::usage,
              "values: found " + std::to_string(bytes) + " bytes, expected 0, 4 or 8");
}

/// Calls `function` with a value of the unsigned type of 1, 2, 4 or 8 bytes: the word that a key of
/// this width is encoded as.
template <class Function>
decltype(auto) with_key_word(int key_bytes, Function function) {
  if (key_bytes == 1) return function(std::uint8_t{});
  if (key_bytes == 2) return function(std::uint16_t{});
  if (key_bytes == 4) return function(std::uint32_t{});
  return function(std::uint64_t{});
}

}  // namespace sortie
