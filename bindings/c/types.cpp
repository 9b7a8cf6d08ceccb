// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/types.hpp"

#include <string>

namespace sortie::c {
namespace {

#define SORTIE_IS_SAME(NAME, TYPE, KIND) \
  static_assert(static_cast<int>(KeyType::NAME) < static_cast<int>(SORTIE_C128));
SORTIE_FOR_EACH_KEY_TYPE(SORTIE_IS_SAME)
#undef SORTIE_IS_SAME
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

bool is_key(sortie_type type) {
  return static_cast<int>(type) >= SORTIE_U8 && static_cast<int>(type) <= SORTIE_F64;
}

}  // namespace

std::string name_of(sortie_type type) {
  if (is_key(type)) return std::string(name(static_cast<KeyType>(type)));
  if (type == SORTIE_C128) return "c128";
  return fmt::format("type {}", static_cast<int>(type));
}

KeyType key_type(sortie_type type) {
  if (!is_key(type)) refuse("type", name_of(type), "a type of keys, u8 to f64");
  return static_cast<KeyType>(type);
}

}  // namespace sortie::c

size_t sortie_type_bytes(sortie_type type) {
  if (type == SORTIE_C128) return 2 * sizeof(double);
  return sortie::c::is_key(type)
             ? static_cast<size_t>(sortie::key_bytes(static_cast<sortie::KeyType>(type)))
             : 0;
}
