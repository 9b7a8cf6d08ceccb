#pragma once

#include <cstdint>

namespace sortie::segsort::ics17 {

/// Copies one value of 4 or 8 bytes (0: nothing) between arrays of the caller.
__device__ inline void copy_value(void* to, std::uint64_t to_index, const void* from,
                                  std::uint64_t from_index, int value_bytes) {
  if (value_bytes == 4) {
    static_cast<std::uint32_t*>(to)[to_index] = static_cast<const std::uint32_t*>(from)[from_index];
  } else if (value_bytes == 8) {
    static_cast<std::uint64_t*>(to)[to_index] = static_cast<const std::uint64_t*>(from)[from_index];
  }
}

}  // namespace sortie::segsort::ics17
