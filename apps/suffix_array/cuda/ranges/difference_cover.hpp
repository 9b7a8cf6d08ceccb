// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace sortie::suffix_array::cuda {

/// A difference cover: a set of residues of a period such that every difference modulo the period
/// is that of two of them. For any two positions of a text there is a distance, less than the
/// period, at which both have a position of the cover.
///
/// The covers of Colbourn and Ling: for r = 0, 1, 2, ... one of 6 r + 4 residues for the period 24
/// r^2 + 36 r + 13, so that 1.22 / sqrt(period) of all positions are in it.
///
/// Source: Colbourn, Ling: Quorums from difference covers (Information Processing Letters 2000);
/// that ranks at such positions suffice for sorting: Burkhardt, Karkkainen (CPM 2003).
class DifferenceCover {
 public:
  /// \param order  r, 0 to most_order: periods from 13 to 36037
  explicit DifferenceCover(std::uint32_t order);

  static constexpr std::uint32_t most_order = 38;

  [[nodiscard]] static constexpr std::uint32_t period(std::uint32_t order) {
    return 24 * order * order + 36 * order + 13;
  }
  [[nodiscard]] static constexpr std::uint32_t residues(std::uint32_t order) {
    return 6 * order + 4;
  }
  /// Upper bound of the positions of the cover below `positions`: those of whole periods.
  [[nodiscard]] static constexpr std::uint64_t most_positions(std::uint32_t order,
                                                              std::uint64_t positions) {
    return (positions + period(order) - 1) / period(order) * residues(order);
  }

  [[nodiscard]] std::uint32_t period() const { return static_cast<std::uint32_t>(places_.size()); }
  /// The residues, ascending; 0 is the first.
  [[nodiscard]] const std::vector<std::uint16_t>& elements() const { return elements_; }
  /// By residue: the number of elements that are smaller, which is its index if it is an element.
  [[nodiscard]] const std::vector<std::uint16_t>& places() const { return places_; }
  /// By difference d: an element a such that a + d, modulo the period, is also an element.
  [[nodiscard]] const std::vector<std::uint16_t>& starts() const { return starts_; }
  /// The number of positions of the cover below `positions`.
  [[nodiscard]] std::uint64_t positions_below(std::uint64_t positions) const;

 private:
  std::vector<std::uint16_t> elements_;
  std::vector<std::uint16_t> places_;
  std::vector<std::uint16_t> starts_;
};

}  // namespace sortie::suffix_array::cuda
