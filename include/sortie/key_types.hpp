// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "sortie/export.hpp"
#include "sortie/float16.hpp"

/// The only list of key types in the library: expands X(NAME, TYPE, KIND) for each. NAME is the
/// enumerator of KeyType and the name on the command line; KIND is an enumerator of KeyKind. Each
/// width has an unsigned type, written as below: CMake reads the widths from these lines.
/// CONTRIBUTING.md lists what else a new type requires.
#define SORTIE_FOR_EACH_KEY_TYPE(X)       \
  X(u8, std::uint8_t, unsigned_integer)   \
  X(i8, std::int8_t, signed_integer)      \
  X(u16, std::uint16_t, unsigned_integer) \
  X(i16, std::int16_t, signed_integer)    \
  X(u32, std::uint32_t, unsigned_integer) \
  X(i32, std::int32_t, signed_integer)    \
  X(f32, float, floating_point)           \
  X(u64, std::uint64_t, unsigned_integer) \
  X(i64, std::int64_t, signed_integer)    \
  X(f64, double, floating_point)          \
  X(f16, Float16, floating_point)         \
  X(bf16, BFloat16, floating_point)

namespace sortie {

/// Determines how the bits of a key are ordered.
///
/// Floating-point keys are ordered by IEEE 754 totalOrder: -NaN < -inf < ... < -0.0 < +0.0 < ... <
/// +inf < +NaN, and NaNs among themselves by payload. Descending order is the exact reverse.
enum class KeyKind : std::uint8_t { unsigned_integer, signed_integer, floating_point };

/// The type of a key, for calls whose key type is known only at run time.
enum class KeyType : std::uint8_t {
#define SORTIE_ENUMERATOR(NAME, TYPE, KIND) NAME,
  SORTIE_FOR_EACH_KEY_TYPE(SORTIE_ENUMERATOR)
#undef SORTIE_ENUMERATOR
};

/// Direction of a sort.
enum class Order { ascending, descending };

/// Key types of sort(), segmented_sort(), sort_chunks() and sort_file().
template <class Key>
concept SortKey =
#define SORTIE_IS_SAME(NAME, TYPE, KIND) std::same_as<Key, TYPE> ||
    SORTIE_FOR_EACH_KEY_TYPE(SORTIE_IS_SAME)
false;
#undef SORTIE_IS_SAME

/// Keys of 4 or 8 bytes, for which segmented sort has kernels of its own.
template <class Key>
concept SegmentKey = SortKey<Key> && sizeof(Key) >= 4;

/// Payload types, moved with the keys: trivially copyable, 4 or 8 bytes.
template <class Value>
concept SortValue = std::is_trivially_copyable_v<Value> &&
    (sizeof(Value) == 4 || sizeof(Value) == 8);

/// Types of segment offsets: 32- or 64-bit integers.
template <class Offset>
concept SegmentOffset = std::integral<Offset> &&(sizeof(Offset) == 4 || sizeof(Offset) == 8);

/// The KeyType of a C++ type.
template <SortKey Key>
[[nodiscard]] constexpr KeyType key_type_of() {
#define SORTIE_RETURN_TYPE(NAME, TYPE, KIND) \
  if constexpr (std::same_as<Key, TYPE>) return KeyType::NAME;
  SORTIE_FOR_EACH_KEY_TYPE(SORTIE_RETURN_TYPE)
#undef SORTIE_RETURN_TYPE
}

[[nodiscard]] constexpr KeyKind kind_of(KeyType type) {
  switch (type) {
#define SORTIE_RETURN_KIND(NAME, TYPE, KIND) \
  case KeyType::NAME:                        \
    return KeyKind::KIND;
    SORTIE_FOR_EACH_KEY_TYPE(SORTIE_RETURN_KIND)
#undef SORTIE_RETURN_KIND
  }
  return KeyKind::unsigned_integer;
}

/// Size of a key in bytes.
[[nodiscard]] constexpr int key_bytes(KeyType type) {
  switch (type) {
#define SORTIE_RETURN_BYTES(NAME, TYPE, KIND) \
  case KeyType::NAME:                         \
    return static_cast<int>(sizeof(TYPE));
    SORTIE_FOR_EACH_KEY_TYPE(SORTIE_RETURN_BYTES)
#undef SORTIE_RETURN_BYTES
  }
  return 0;
}

[[nodiscard]] constexpr int key_bits(KeyType type) {
  return 8 * key_bytes(type);
}

/// "u8", "i8", ..., "bf16".
[[nodiscard]] SORTIE_API std::string_view name(KeyType type);
/// The inverse of name(). \throws Error (usage) naming the text and the known types
[[nodiscard]] SORTIE_API KeyType parse_key_type(std::string_view text);

/// Calls `function` with a value-initialised object of the C++ type that `type` names and returns
/// its result.
template <class Function>
constexpr auto with_key_type(KeyType type, Function&& function) {
  switch (type) {
#define SORTIE_CALL(NAME, TYPE, KIND) \
  case KeyType::NAME:                 \
    return function(TYPE{});
    SORTIE_FOR_EACH_KEY_TYPE(SORTIE_CALL)
#undef SORTIE_CALL
  }
  return function(std::uint8_t{});  // not reached: every enumerator has a case
}

}  // namespace sortie
