// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

/// Floating-point numbers of 16 bits, for the values of matrices. They have no arithmetic: it is
/// done in float, and results are rounded to nearest, ties to even.
/// Their bytes are those of NumPy's float16, of __half and __nv_bfloat16, and of Eigen::half and
/// Eigen::bfloat16, which can be cast to and from them by std::bit_cast. For host and device code.
namespace sortie {

/// IEEE 754 binary16: 11 significant bits, up to 65504. Larger numbers become infinite.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  constexpr explicit Float16(float number);
  constexpr explicit operator float() const;
  /// That of float: NaN equals nothing, -0 equals 0.
  friend constexpr bool operator==(Float16 x, Float16 y) { return float{x} == float{y}; }
};

/// The upper half of a float: 8 significant bits, the range of float.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  constexpr explicit BFloat16(float number);
  constexpr explicit operator float() const {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
  }
  friend constexpr bool operator==(BFloat16 x, BFloat16 y) { return float{x} == float{y}; }
};

template <class T>
concept Float16Like = std::same_as<T, Float16> || std::same_as<T, BFloat16>;

constexpr Float16::Float16(float number) {
  constexpr std::uint32_t infinity = 0x7f800000;
  constexpr std::uint32_t beyond = 0x47800000;        // 2^16
  constexpr std::uint32_t least_normal = 0x38800000;  // 2^-14
  const auto word = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t magnitude = word & 0x7fffffff;
  std::uint32_t half = 0;
  if (magnitude > infinity) {
    half = 0x7e00 | (magnitude >> 13 & 0x3ff);  // NaN, made quiet
  } else if (magnitude >= beyond) {
    half = 0x7c00;
  } else if (magnitude < least_normal) {
    // The unit in the last place of 0.5 is that of the subnormal numbers: the addition rounds.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) -
           std::bit_cast<std::uint32_t>(0.5F);
  } else {
    // A carry goes into the exponent, of which 112 is taken.
    half = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  }
  bits = static_cast<std::uint16_t>(half | (word >> 16 & 0x8000));
}

constexpr Float16::operator float() const {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  std::uint32_t magnitude = (bits & 0x7fffu) << 13;
  const std::uint32_t exponent = magnitude & 0x0f800000;
  if (exponent == 0) {
    // A subnormal number is a multiple of 2^-24.
    magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude >> 13) * 0x1p-24F);
  } else {
    magnitude += (exponent == 0x0f800000 ? 224u : 112u) << 23;  // infinity and NaN: 31 to 255
  }
  return std::bit_cast<float>(sign | magnitude);
}

constexpr BFloat16::BFloat16(float number) {
  const auto word = std::bit_cast<std::uint32_t>(number);
  const bool is_nan = (word & 0x7fffffff) > 0x7f800000;
  bits = static_cast<std::uint16_t>(is_nan ? word >> 16 | 0x40
                                           : (word + 0x7fff + (word >> 16 & 1)) >> 16);
}

}  // namespace sortie
