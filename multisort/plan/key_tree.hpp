// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace sortie::multisort::plan {

/// Keys from `least` to `greatest`, both included.
struct KeyRange {
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;

  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

/// The step of `x` on a logarithmic scale with 2^mantissa_bits steps per doubling: 0 for 0, else
/// from the exponent of `x` and its next mantissa_bits bits. Monotonic.
[[nodiscard]] constexpr std::uint64_t logarithmic_step(std::uint64_t x, int mantissa_bits) {
  if (x == 0) return 0;
  const int exponent = static_cast<int>(std::bit_width(x)) - 1;
  return (static_cast<std::uint64_t>(exponent) << mantissa_bits) +
         (x << (63 - exponent) >> (63 - mantissa_bits)) - (std::uint64_t{1} << mantissa_bits) + 1;
}

/// The least number whose step is at least `step`; among small numbers some steps are empty.
/// \pre the step is that of some number, or the next one
[[nodiscard]] constexpr std::uint64_t least_of_step(std::uint64_t step, int mantissa_bits) {
  if (step == 0) return 0;
  const auto exponent = static_cast<int>((step - 1) >> mantissa_bits);
  const std::uint64_t steps = std::uint64_t{1} << mantissa_bits;
  const std::uint64_t mantissa = steps + (step - 1) % steps;
  if (exponent >= mantissa_bits) return mantissa << (exponent - mantissa_bits);
  const int lost = mantissa_bits - exponent;
  return (mantissa + (std::uint64_t{1} << lost) - 1) >> lost;
}

/// The look-up from a key to its group, by tables whose cells are ranges of keys: the cell of a key
/// holds its group, or the next table.
///
/// The tables cover the dense ranges of keys, wherever these are: each begins at its own base, and
/// its first and last cells include the keys below and above. So every key has a group, and groups
/// are in the order of the keys. The root may have cells on a logarithmic scale, for keys whose
/// density falls as a power of their value; one table then suffices.
struct KeyTree {
  /// cell = min(step(key - base), last), 0 below the base; step(x) = x >> shift.
  struct Node {
    std::uint64_t base = 0;
    int shift = 0;
    std::uint32_t last = 0;   ///< the table's last cell
    std::uint32_t first = 0;  ///< entry of its cell 0
  };
  static constexpr std::uint16_t node_flag = 0x8000;

  std::vector<Node> nodes;             ///< the root first
  std::vector<std::uint16_t> entries;  ///< for each cell a group, or node_flag | node
  /// If not 0, the root has step(x) = logarithmic_step(x, mantissa_bits).
  int mantissa_bits = 0;
};

}  // namespace sortie::multisort::plan
