// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "primitives/payload.hpp"
#include "sortie/error.hpp"
#include "sortie/key_types.hpp"

// Device code includes this file, and nvcc cannot compile fmt.
namespace sortie {

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
