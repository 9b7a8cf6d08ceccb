// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sortie/suffix_array.hpp"

namespace sortie::test {

/// The LCP array letter by letter, with ends that are equal to nothing. O(n + sum of the entries).
template <suffix_array::Position Pos>
std::vector<Pos> lcp_by_definition(const suffix_array::TextView& text,
                                   const std::vector<Pos>& suffixes) {
  std::vector<bool> is_end(text.size() + 1);
  is_end[text.size()] = true;
  for (const std::uint64_t separator : text.separators) is_end[separator] = true;
  std::vector<Pos> lcp(suffixes.size());
  for (std::size_t i = 1; i < suffixes.size(); ++i) {
    std::uint64_t left = suffixes[i - 1];
    std::uint64_t right = suffixes[i];
    while (!is_end[left] && !is_end[right] && text.symbols[left] == text.symbols[right]) {
      ++left;
      ++right;
    }
    lcp[i] = static_cast<Pos>(right - suffixes[i]);
  }
  return lcp;
}

}  // namespace sortie::test
