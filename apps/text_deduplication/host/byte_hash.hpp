// SPDX-License-Identifier: Apache-2.0
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>

namespace sortie::texts::host {

/// A hash of bytes, by which anchors are grouped. No decision depends on it alone.
[[nodiscard]] inline std::uint64_t hash_of(const std::uint8_t* bytes, std::uint64_t size) {
  return XXH3_64bits(bytes, size);
}

}  // namespace sortie::texts::host
