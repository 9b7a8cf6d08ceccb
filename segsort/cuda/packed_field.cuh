// SPDX-License-Identifier: Apache-2.0
#pragma once

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
/// function.operator()<Unit>() for a unit of `bytes` bytes.
template <class Function>
__device__ __forceinline__ void with_unit_of(unsigned int bytes, const Function& function) {
  if (bytes == 1) function.template operator()<std::uint8_t>();
  if (bytes == 2) function.template operator()<std::uint16_t>();
  if (bytes == 4) function.template operator()<std::uint32_t>();
  if (bytes == 8) function.template operator()<std::uint64_t>();
}

}  // namespace sortie::segsort
