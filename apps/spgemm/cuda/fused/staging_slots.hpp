// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Slots of the staging buffers. Small and medium rows may be computed before row_ptr of C is
/// known. Each such row is written to its own range of consecutive slots and copied to C later.
namespace sortie::spgemm::cuda {

/// Entries per slot. Rows therefore begin at 32-byte sectors of device memory.
inline constexpr std::uint32_t entries_per_slot = 8;

/// First slot of a row that is not staged.
inline constexpr std::uint32_t no_slot = 0xffffffffu;

/// Slots of a row with this many products.
[[nodiscard]] constexpr std::uint64_t slots_of_row(std::uint64_t products) {
  return (products + entries_per_slot - 1) / entries_per_slot;
}

}  // namespace sortie::spgemm::cuda
