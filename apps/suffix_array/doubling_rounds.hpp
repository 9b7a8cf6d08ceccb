// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array {

/// The input of one round of prefix doubling: the groups of suffixes that agree in their first
/// `depth` letters. Figures 2 and 13 of Hou et al. (ICS 2017) show their number and sizes.
struct DoublingRound {
  static constexpr std::size_t size_classes = 64;

  std::uint64_t depth = 0;
  std::uint64_t unresolved = 0;  ///< suffixes in groups of at least two
  std::uint64_t groups = 0;
  std::uint64_t largest = 0;                           ///< suffixes in the largest group
  std::array<std::uint64_t, size_classes> sizes = {};  ///< entry i: groups of 2^i to 2^(i + 1) - 1
};

/// The rounds of prefix doubling after a first sort by `first_depth` letters: the groups that the
/// first sort leaves, those that the round with twice as many letters leaves, and so on, until no
/// groups are left.
///
/// They follow from the LCP array alone, since suffixes that agree in h letters are neighbours in
/// the suffix array. They are a property of the text and of plain prefix doubling, whatever
/// algorithm built the suffix array. An implementation that treats runs of one letter separately,
/// or compares text in its first rounds, has fewer suffixes in its rounds.
///
/// \param lcp          the LCP array (lcp.hpp)
/// \param first_depth  letters that the first sort compares, at least 1
/// \return empty when the first sort separates all suffixes
/// \throws Error (usage)  first_depth is 0
/// Complexity: O(n) a round, at most log2(longest repeat / first_depth) rounds. Runs on the host.
template <Position Pos>
[[nodiscard]] std::vector<DoublingRound> doubling_rounds(std::span<const Pos> lcp,
                                                         std::uint64_t first_depth);

}  // namespace sortie::suffix_array
