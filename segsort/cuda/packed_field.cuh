// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Values of any size, which are moved in units of 1, 2, 4 or 8 bytes.
namespace sortie::segsort {

/// A field of packed values: in each item of an array, `units` units of `unit` bytes.
struct PackedField {
  const void* in;
  void* out;
  unsigned int unit;  ///< 1, 2, 4 or 8
  unsigned int units;
};

/// Largest unit, and most bytes of the fields of a packed value.
inline constexpr std::size_t most_packed_bytes = 8;

/// Values in the largest units that their size and addresses allow. \pre bytes is not 0
inline PackedField field_of(const void* in, void* out, std::size_t bytes) {
  const std::uint64_t all = reinterpret_cast<std::uintptr_t>(in) |
                            reinterpret_cast<std::uintptr_t>(out) | bytes | most_packed_bytes;
  const auto unit = static_cast<unsigned int>(all & (~all + 1));
  return {in, out, unit, static_cast<unsigned int>(bytes) / unit};
}

/// function.operator()<Unit>() for a unit of `bytes` bytes.
template <class Function>
__device__ __forceinline__ void with_unit_of(unsigned int bytes, const Function& function) {
  if (bytes == 1) function.template operator()<std::uint8_t>();
  if (bytes == 2) function.template operator()<std::uint16_t>();
  if (bytes == 4) function.template operator()<std::uint32_t>();
  if (bytes == 8) function.template operator()<std::uint64_t>();
}

}  // namespace sortie::segsort
