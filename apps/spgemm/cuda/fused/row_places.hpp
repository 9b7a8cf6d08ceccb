#pragma once

#include <cstdint>

namespace sortie::spgemm::cuda {

/// Rows of few products are made before C is there, each in a room of its own: a place is the
/// number of the room's first entry divided by this, so rooms begin where sectors of memory do.
inline constexpr std::uint32_t entries_of_place = 8;

/// Of a row that is not made so.
inline constexpr std::uint32_t no_place = 0xffffffffu;

/// Places that a row of so many products takes.
[[nodiscard]] constexpr std::uint64_t places_of_row(std::uint64_t products) {
  return (products + entries_of_place - 1) / entries_of_place;
}

}  // namespace sortie::spgemm::cuda
