// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <compare>
#include <numeric>

#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::baselines {
namespace {

/// The letters of the suffix at `position`, up to the end of its record.
std::span<const std::uint8_t> letters_of(const TextView& text, std::uint64_t position) {
  const auto next = std::lower_bound(text.separators.begin(), text.separators.end(), position);
  const std::uint64_t end = next == text.separators.end() ? text.size() : *next;
  return text.symbols.subspan(position, end - position);
}

}  // namespace

/// std::sort of all suffixes, compared letter by letter: O(n log n) comparisons of O(longest repeat)
/// each. Sequential; no memory besides the result.
template <Position Pos>
std::vector<Pos> build_reference(const Context&, const TextView& text) {
  std::vector<Pos> suffixes(text.size());
  std::iota(suffixes.begin(), suffixes.end(), Pos{0});
  std::sort(suffixes.begin(), suffixes.end(), [&](Pos a, Pos b) {
    const auto left = letters_of(text, a);
    const auto right = letters_of(text, b);
    const auto order = std::lexicographical_compare_three_way(left.begin(), left.end(),
                                                              right.begin(), right.end());
    return order < 0 || (order == 0 && a < b);
  });
  return suffixes;
}

template std::vector<std::uint32_t> build_reference(const Context&, const TextView&);
template std::vector<std::uint64_t> build_reference(const Context&, const TextView&);

}  // namespace sortie::suffix_array::baselines
