// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sortie/error.hpp"
#include "sortie/key_types.hpp"

/// For measurements and baselines; the library itself has no use for it.
namespace sortie {

/// with_key_type() for the key types of segmented sort. \throws Error (usage) a type of 1 or 2
/// bytes
template <class Function>
auto with_segment_key_type(KeyType type, Function function) {
  using Result = decltype(function(std::uint32_t{}));
  return with_key_type(type, [&]<class Key>(Key key) -> Result {
    if constexpr (SegmentKey<Key>) {
      return function(key);
    } else {
      throw Error(ErrorKind::usage,
                  "found keys of " + std::to_string(8 * sizeof(Key)) + " bits, expected 32 or 64");
    }
  });
}

}  // namespace sortie
