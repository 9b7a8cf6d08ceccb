// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sortie/error.hpp"
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
                                                         std::uint64_t first_depth) {
  if (first_depth == 0) {
    throw Error(ErrorKind::usage,
                "doubling rounds: found a first sort by 0 letters, expected at least 1");
  }
  std::vector<DoublingRound> rounds;
  for (std::uint64_t depth = first_depth;; depth *= 2) {
    DoublingRound round;
    round.depth = depth;
    for (std::uint64_t i = 1; i < lcp.size(); ++i) {
      if (lcp[i] < depth) continue;
      const std::uint64_t begin = i - 1;
      while (i < lcp.size() && lcp[i] >= depth) ++i;
      const std::uint64_t size = i - begin;
      round.unresolved += size;
      ++round.groups;
      round.largest = std::max(round.largest, size);
      ++round.sizes[static_cast<std::size_t>(std::bit_width(size)) - 1];
    }
    if (round.groups == 0) return rounds;
    rounds.push_back(round);
    if (depth > std::numeric_limits<std::uint64_t>::max() / 2) return rounds;
  }
}

}  // namespace sortie::suffix_array
