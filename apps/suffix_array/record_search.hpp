#pragma once

#include <cstdint>

namespace sortie::suffix_array {

/// The number of the record that holds a position: the last that begins at or before it.
/// \param begins  ascending, the first not behind `position`; the same code on host and device
constexpr std::uint32_t record_at(const std::uint64_t* begins, std::uint64_t records,
                                  std::uint64_t position) {
  std::uint64_t low = 0;
  std::uint64_t high = records;
  while (high - low > 1) {  // begins[low] <= position < begins[high]
    const std::uint64_t middle = low + (high - low) / 2;
    (begins[middle] <= position ? low : high) = middle;
  }
  return static_cast<std::uint32_t>(low);
}

}  // namespace sortie::suffix_array
