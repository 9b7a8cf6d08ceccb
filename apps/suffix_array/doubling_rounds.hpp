#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array {

/// What a round of prefix doubling has to sort: the groups of suffixes that agree in their first
/// `depth` letters. Figures 2 and 13 of Hou et al. (ICS 2017) show how many there are, and how
/// large.
struct DoublingRound {
  static constexpr std::size_t size_classes = 64;

  std::uint64_t depth = 0;
  std::uint64_t unresolved = 0;  ///< suffixes in groups of two at least
  std::uint64_t groups = 0;
  std::uint64_t largest = 0;                           ///< suffixes in the largest group
  std::array<std::uint64_t, size_classes> sizes = {};  ///< entry i: groups of 2^i to 2^(i + 1) - 1
};

/// The rounds of prefix doubling from a first sort by `first_depth` letters on: what is left by the
/// first sort, by the round that looks at twice as many letters, and so on, until nothing is left.
///
/// They follow from the LCP array alone, since suffixes that agree in h letters are neighbours in
/// the suffix array. So they are those of the text, whatever algorithm built its suffix array, and
/// of doubling as such: an implementation that treats runs of one letter apart, or compares text in
/// its first rounds, has fewer suffixes in them.
///
/// \param lcp          the LCP array (lcp.hpp)
/// \param first_depth  letters that the first sort compares, at least 1
/// \return empty when the first sort tells all suffixes apart
/// \throws Error (usage) first_depth is 0
/// Complexity O(n) a round, log2(longest repeat / first_depth) rounds at most. Runs on the host.
template <Position Pos>
[[nodiscard]] std::vector<DoublingRound> doubling_rounds(std::span<const Pos> lcp,
                                                         std::uint64_t first_depth);

}  // namespace sortie::suffix_array
