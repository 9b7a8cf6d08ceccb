#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace sortie {

/// Key types that segmented sort takes.
///
/// Order of floating-point keys: IEEE 754 totalOrder, that is -NaN < -inf < ... < -0.0 < +0.0 < ...
/// < +inf < +NaN, NaNs among themselves by payload. Descending is the exact reverse.
template <class Key>
concept SortKey = std::same_as<Key, std::uint32_t> || std::same_as<Key, std::int32_t> ||
    std::same_as<Key, std::uint64_t> || std::same_as<Key, std::int64_t> ||
    std::same_as<Key, float> || std::same_as<Key, double>;

/// Values that travel with keys: anything of 4 or 8 bytes that may be copied as bytes.
template <class Value>
concept SortValue = std::is_trivially_copyable_v<Value> &&
    (sizeof(Value) == 4 || sizeof(Value) == 8);

/// Offsets of segments: 32- or 64-bit integers.
template <class Offset>
concept SegmentOffset = std::integral<Offset> &&(sizeof(Offset) == 4 || sizeof(Offset) == 8);

enum class Order { ascending, descending };

enum class KeyType : std::uint8_t { u32, i32, f32, u64, i64, f64 };

template <SortKey Key>
[[nodiscard]] constexpr KeyType key_type_of() {
  if constexpr (std::same_as<Key, std::uint32_t>) return KeyType::u32;
  if constexpr (std::same_as<Key, std::int32_t>) return KeyType::i32;
  if constexpr (std::same_as<Key, float>) return KeyType::f32;
  if constexpr (std::same_as<Key, std::uint64_t>) return KeyType::u64;
  if constexpr (std::same_as<Key, std::int64_t>) return KeyType::i64;
  if constexpr (std::same_as<Key, double>) return KeyType::f64;
}

[[nodiscard]] constexpr int key_bits(KeyType type) {
  return type == KeyType::u32 || type == KeyType::i32 || type == KeyType::f32 ? 32 : 64;
}

}  // namespace sortie
