// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sortie/query.hpp"
#include "tests/suffix_array/texts.hpp"

namespace sortie::test {

/// Words as patterns of a query.
struct Patterns {
  std::vector<std::uint8_t> letters;
  std::vector<std::uint64_t> begins = {0};

  explicit Patterns(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      letters.insert(letters.end(), word.begin(), word.end());
      begins.push_back(letters.size());
    }
  }
  [[nodiscard]] suffix_array::PatternView view() const { return {letters, begins}; }
};

/// How a suffix, cut off at the length of the word, compares with it: below, equal to or above 0.
inline int compare_prefix(const NamedText& text, std::uint64_t position, const std::string& word) {
  for (const char letter : word) {
    const bool is_end =
        position == text.symbols.size() ||
        std::binary_search(text.separators.begin(), text.separators.end(), position);
    if (is_end) return -1;
    const int difference = int{text.symbols[position]} - int{static_cast<std::uint8_t>(letter)};
    if (difference != 0) return difference;
    ++position;
  }
  return 0;
}

/// The entries that start with a word, by a look at every one.
template <suffix_array::Position Pos>
suffix_array::EntryRange range_by_definition(const NamedText& text,
                                             const std::vector<Pos>& suffixes,
                                             const std::string& word) {
  suffix_array::EntryRange range;
  for (const Pos position : suffixes) {
    const int order = compare_prefix(text, position, word);
    if (order < 0) ++range.begin;
    if (order <= 0) ++range.end;
  }
  return range;
}

}  // namespace sortie::test
