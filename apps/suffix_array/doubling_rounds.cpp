// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/doubling_rounds.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "sortie/error.hpp"

namespace sortie::suffix_array {
template <Position Pos>
std::vector<DoublingRound> doubling_rounds(std::span<const Pos> lcp, std::uint64_t first_depth) {
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

template decltype(doubling_rounds<std::uint32_t>) doubling_rounds<std::uint32_t>;
template decltype(doubling_rounds<std::uint64_t>) doubling_rounds<std::uint64_t>;

}  // namespace sortie::suffix_array
