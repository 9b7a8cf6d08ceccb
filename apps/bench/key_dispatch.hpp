#pragma once

#include <cstdint>
#include <string>

#include "sortie/core/error.hpp"
#include "sortie/segsort/key_types.hpp"

// Device code includes this file, and nvcc cannot compile fmt.
namespace sortie::bench {

/// Calls `function` with a value of the type that `type` names.
template <class Function>
auto with_key_type(KeyType type, Function function) {
  switch (type) {
    case KeyType::u32:
      return function(std::uint32_t{});
    case KeyType::i32:
      return function(std::int32_t{});
    case KeyType::f32:
      return function(float{});
    case KeyType::u64:
      return function(std::uint64_t{});
    case KeyType::i64:
      return function(std::int64_t{});
    case KeyType::f64:
      return function(double{});
  }
  throw Error(ErrorKind::usage, "unknown key type");
}

/// Stands for the value type of keys without values.
struct NoValue {};

/// Calls `function` with a value of the unsigned type of that width, or NoValue for 0.
/// \throws Error (usage) another width
template <class Function>
auto with_value_bytes(int bytes, Function function) {
  if (bytes == 0) return function(NoValue{});
  if (bytes == 4) return function(std::uint32_t{});
  if (bytes == 8) return function(std::uint64_t{});
  throw Error(ErrorKind::usage,
              "values: found " + std::to_string(bytes) + " bytes, expected 0, 4 or 8");
}

}  // namespace sortie::bench
