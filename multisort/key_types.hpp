#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "sortie/segsort/key_types.hpp"

namespace sortie {

/// Key types that the sort of one array takes.
///
/// Order of floating-point keys: IEEE 754 totalOrder, that is -NaN < -inf < ... < -0.0 < +0.0 < ...
/// < +inf < +NaN, NaNs among themselves by payload. Descending is the exact reverse.
template <class Key>
concept ArrayKey = std::same_as<Key, std::uint8_t> || std::same_as<Key, std::int8_t> ||
    std::same_as<Key, std::uint16_t> || std::same_as<Key, std::int16_t> || SortKey<Key>;

namespace multisort {

enum class KeyType : std::uint8_t { u8, i8, u16, i16, u32, i32, f32, u64, i64, f64 };

template <ArrayKey Key>
[[nodiscard]] constexpr KeyType key_type_of() {
  if constexpr (std::same_as<Key, std::uint8_t>) return KeyType::u8;
  if constexpr (std::same_as<Key, std::int8_t>) return KeyType::i8;
  if constexpr (std::same_as<Key, std::uint16_t>) return KeyType::u16;
  if constexpr (std::same_as<Key, std::int16_t>) return KeyType::i16;
  if constexpr (std::same_as<Key, std::uint32_t>) return KeyType::u32;
  if constexpr (std::same_as<Key, std::int32_t>) return KeyType::i32;
  if constexpr (std::same_as<Key, float>) return KeyType::f32;
  if constexpr (std::same_as<Key, std::uint64_t>) return KeyType::u64;
  if constexpr (std::same_as<Key, std::int64_t>) return KeyType::i64;
  if constexpr (std::same_as<Key, double>) return KeyType::f64;
}

[[nodiscard]] constexpr int key_bytes(KeyType type) {
  switch (type) {
    case KeyType::u8:
    case KeyType::i8:
      return 1;
    case KeyType::u16:
    case KeyType::i16:
      return 2;
    case KeyType::u32:
    case KeyType::i32:
    case KeyType::f32:
      return 4;
    default:
      return 8;
  }
}

/// The type of the same kind (unsigned, signed, floating point) that segsort::KeyForm knows: it
/// asks for no more than the kind.
[[nodiscard]] constexpr sortie::KeyType kind_of(KeyType type) {
  switch (type) {
    case KeyType::u8:
    case KeyType::u16:
    case KeyType::u32:
    case KeyType::u64:
      return sortie::KeyType::u64;
    case KeyType::i8:
    case KeyType::i16:
    case KeyType::i32:
    case KeyType::i64:
      return sortie::KeyType::i64;
    default:
      return sortie::KeyType::f64;
  }
}

/// "u8", "i8", ..., "f64".
[[nodiscard]] std::string_view name(KeyType type);
/// \throws Error (usage)
[[nodiscard]] KeyType parse_key_type(std::string_view text);

}  // namespace multisort
}  // namespace sortie
