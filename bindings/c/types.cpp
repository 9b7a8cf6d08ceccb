// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/types.hpp"

#include <optional>
#include <string>

namespace sortie::c {
namespace {

static_assert(static_cast<int>(KeyType::u8) == SORTIE_U8);
static_assert(static_cast<int>(KeyType::i8) == SORTIE_I8);
static_assert(static_cast<int>(KeyType::u16) == SORTIE_U16);
static_assert(static_cast<int>(KeyType::i16) == SORTIE_I16);
static_assert(static_cast<int>(KeyType::u32) == SORTIE_U32);
static_assert(static_cast<int>(KeyType::i32) == SORTIE_I32);
static_assert(static_cast<int>(KeyType::f32) == SORTIE_F32);
static_assert(static_cast<int>(KeyType::u64) == SORTIE_U64);
static_assert(static_cast<int>(KeyType::i64) == SORTIE_I64);
static_assert(static_cast<int>(KeyType::f64) == SORTIE_F64);

/// Of the type of a key, if it is one.
std::optional<KeyType> found_key_type(sortie_type type) {
  if (type == SORTIE_F16) return KeyType::f16;
  if (type == SORTIE_BF16) return KeyType::bf16;
  if (type >= SORTIE_U8 && type <= SORTIE_F64) return static_cast<KeyType>(type);
  return std::nullopt;
}

}  // namespace

std::string name_of(sortie_type type) {
  if (const auto key = found_key_type(type)) return std::string(name(*key));
  if (type == SORTIE_C128) return "c128";
  return fmt::format("type {}", static_cast<int>(type));
}

KeyType key_type(sortie_type type) {
  const auto key = found_key_type(type);
  if (!key) refuse("type", name_of(type), "a type of keys, u8 to f64, f16 or bf16");
  return *key;
}

}  // namespace sortie::c

size_t sortie_type_bytes(sortie_type type) {
  if (type == SORTIE_C128) return 2 * sizeof(double);
  const auto key = sortie::c::found_key_type(type);
  return key ? static_cast<size_t>(sortie::key_bytes(*key)) : 0;
}
