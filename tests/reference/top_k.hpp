// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/reference/segmented_sort.hpp"

/// Plain, sequential selection: the reference that every backend is tested against.

namespace sortie::segsort::reference {

/// Positions of the selected items of one segment, best first.
template <SortKey Key>
[[nodiscard]] std::vector<std::uint64_t> top_k(const std::vector<Key>& keys, std::uint64_t begin,
                                               std::uint64_t end, std::uint64_t k, Order order) {
  std::vector<std::uint64_t> positions(end - begin);
  std::iota(positions.begin(), positions.end(), begin);
  const auto last = positions.begin() + static_cast<std::ptrdiff_t>(std::min(k, end - begin));
  const SegmentedSortOptions options{order};
  std::partial_sort(positions.begin(), last, positions.end(),
                    [&](std::uint64_t a, std::uint64_t b) {
                      if (before(keys[a], keys[b], options)) return true;
                      if (before(keys[b], keys[a], options)) return false;
                      return a < b;
                    });
  positions.erase(last, positions.end());
  return positions;
}

}  // namespace sortie::segsort::reference
