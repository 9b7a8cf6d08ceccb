// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace sortie::multisort {

/// A digit of an unsigned key: some neighbouring bits.
struct Digit {
  int shift = 0;
  std::size_t mask = 0;

  /// The highest digit, of up to `width` bits, of keys that differ in some bits. \pre width > 0
  template <std::unsigned_integral Key>
  [[nodiscard]] static Digit highest(Key differing, int width) {
    const int bits = static_cast<int>(std::bit_width(differing));
    const int shift = std::max(0, bits - width);
    return {shift, (std::size_t{1} << (bits - shift)) - 1};
  }

  template <std::unsigned_integral Key>
  [[nodiscard]] std::size_t operator()(Key key) const {
    return static_cast<std::size_t>(key >> shift) & mask;
  }
  bool operator==(const Digit&) const = default;
};

/// The bits in which any of n keys differs from `sample`.
template <std::unsigned_integral Key>
[[nodiscard]] Key differing_bits(const Key* keys, std::uint64_t n, Key sample) {
  Key differing = 0;
  for (std::uint64_t i = 0; i < n; ++i) differing |= static_cast<Key>(keys[i] ^ sample);
  return differing;
}

/// Histogram of a digit over any number of ranges of keys.
/// \tparam Values  most values of the digit
template <std::size_t Values>
class DigitCounts {
 public:
  template <std::unsigned_integral Key>
  void add(const Key* keys, std::uint64_t n, Digit digit) {
    std::uint64_t i = 0;
    for (; i + tables <= n; i += tables)
      for (std::size_t t = 0; t < tables; ++t) ++table_[t][digit(keys[i + t])];
    for (; i < n; ++i) ++table_[0][digit(keys[i])];
  }

  /// Writes the counts of the lowest `values` values.
  void store(std::uint64_t* counts, std::size_t values) const {
    for (std::size_t value = 0; value < values; ++value) {
      counts[value] = 0;
      for (const auto& part : table_) counts[value] += part[value];
    }
  }

 private:
  // Two tables: increments of one counter by neighbours with equal digits would be serialised.
  static constexpr std::size_t tables = 2;
  std::array<std::array<std::uint64_t, Values>, tables> table_{};
};

}  // namespace sortie::multisort
