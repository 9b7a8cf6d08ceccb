// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <complex>
#include <cstdint>
#include <string_view>

#include "bindings/c/context.hpp"
#include "sortie/key_types.hpp"
#include "sortie/sortie.h"

/// The C++ types of the element types of the C interface.
namespace sortie::c {

/// "u8" to "f64", "c128"; "type N" for another number.
[[nodiscard]] std::string name_of(sortie_type type);

/// \throws Error (usage) not a type of keys
[[nodiscard]] KeyType key_type(sortie_type type);

/// Whether `type` is one of I32, U32, I64 and U64.
[[nodiscard]] constexpr bool is_offset(sortie_type type) {
  return type == SORTIE_I32 || type == SORTIE_U32 || type == SORTIE_I64 || type == SORTIE_U64;
}
[[nodiscard]] constexpr bool is_signed_offset(sortie_type type) {
  return type == SORTIE_I32 || type == SORTIE_I64;
}

/// Calls function(T{}) for the type of positions in a text.
/// \throws Error (usage) not SORTIE_U32 or SORTIE_U64
template <class Function>
auto with_position_type(sortie_type type, const Function& function) {
  if (type == SORTIE_U32) return function(std::uint32_t{});
  if (type != SORTIE_U64) refuse("position_type", name_of(type), "u32 or u64");
  return function(std::uint64_t{});
}

/// Calls function(T{}) for the type of indices of a matrix.
/// \throws Error (usage) not SORTIE_I32 or SORTIE_I64
template <class Function>
auto with_index_type(std::string_view argument, sortie_type type, const Function& function) {
  if (type == SORTIE_I32) return function(std::int32_t{});
  if (type != SORTIE_I64) refuse(argument, name_of(type), "i32 or i64");
  return function(std::int64_t{});
}

/// Calls function(T{}) for the type of values of a matrix.
/// \throws Error (usage) not SORTIE_F32, SORTIE_F64 or SORTIE_C128
template <class Function>
auto with_value_type(sortie_type type, const Function& function) {
  if (type == SORTIE_F32) return function(float{});
  if (type == SORTIE_F64) return function(double{});
  if (type != SORTIE_C128) refuse("value_type", name_of(type), "f32, f64 or c128");
  return function(std::complex<double>{});
}

/// The sortie_type of a C++ type.
template <class T>
inline constexpr sortie_type type_of = SORTIE_U8;
template <>
inline constexpr sortie_type type_of<std::int32_t> = SORTIE_I32;
template <>
inline constexpr sortie_type type_of<std::int64_t> = SORTIE_I64;
template <>
inline constexpr sortie_type type_of<std::uint32_t> = SORTIE_U32;
template <>
inline constexpr sortie_type type_of<std::uint64_t> = SORTIE_U64;
template <>
inline constexpr sortie_type type_of<float> = SORTIE_F32;
template <>
inline constexpr sortie_type type_of<double> = SORTIE_F64;
template <>
inline constexpr sortie_type type_of<std::complex<double>> = SORTIE_C128;

}  // namespace sortie::c
