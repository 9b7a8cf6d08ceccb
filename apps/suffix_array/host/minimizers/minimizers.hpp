// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::host {

/// Minimizers of a string: each suffix i has one, the first position with the least value among
/// [i, i + window). Suffixes that agree in all symbols on which these values depend have their minimizers at
/// the same distance, so the order of the suffixes that begin at minimizers orders them.
///
/// Suffixes of one minimizer are neighbours, and minimizers ascend with them. The next minimizer after one
/// at c depends on the values of [c, c + window].
/// Source: Roberts, Hayes, Hunt, Mount, Yorke (Bioinformatics 20, 2004).

/// Calls visit(first, minimizer) for those suffixes of [begin, end) whose minimizer differs from that of the
/// suffix before; suffix 0 is one of them.
/// \param value  value(position) of positions up to end + window - 2, compared as numbers
template <class Value, class Visit>
void for_each_minimizer(std::uint64_t begin, std::uint64_t end, std::uint64_t window,
                        const Value& value, const Visit& visit) {
  if (begin >= end) return;
  std::uint64_t best = 0;
  auto least = value(best);
  const auto search = [&](std::uint64_t from, std::uint64_t to) {
    best = from;
    least = value(from);
    for (std::uint64_t at = from + 1; at < to; ++at)
      if (const auto other = value(at); other < least) {
        least = other;
        best = at;
      }
  };
  if (begin == 0) {
    search(0, window);
    visit(begin, best);
    ++begin;
  } else {
    search(begin - 1, begin - 1 + window);
  }
  for (std::uint64_t i = begin; i < end; ++i) {
    if (best < i) {
      search(i, i + window);
      visit(i, best);
    } else if (const auto entering = value(i + window - 1); entering < least) {
      least = entering;
      best = i + window - 1;
      visit(i, best);
    }
  }
}

/// Minimizers of the suffixes [0, size), in ascending order.
struct Minimizers {
  std::span<std::uint32_t> positions;
  std::span<std::uint32_t> first;  ///< the first suffix of each, and behind the last one `size`
};

}  // namespace sortie::suffix_array::host
