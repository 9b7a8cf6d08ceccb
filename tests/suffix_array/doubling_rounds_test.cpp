// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "apps/bench/doubling_rounds.hpp"
#include "sortie/error.hpp"
#include "sortie/lcp.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

namespace sortie::suffix_array {
namespace {

/// Groups of the words of `depth` letters that stand at several positions.
DoublingRound by_definition(const test::NamedText& text, std::uint64_t depth) {
  std::map<std::string, std::uint64_t> words;
  const std::string all(text.symbols.begin(), text.symbols.end());
  for (std::uint64_t p = 0; p + depth <= all.size(); ++p) {
    const auto end = std::lower_bound(text.separators.begin(), text.separators.end(), p);
    if (end == text.separators.end() || *end >= p + depth) ++words[all.substr(p, depth)];
  }
  DoublingRound round;
  round.depth = depth;
  for (const auto& [word, count] : words) {
    if (count < 2) continue;
    round.unresolved += count;
    ++round.groups;
    round.largest = std::max(round.largest, count);
    std::size_t size_class = 0;
    while (count >> (size_class + 1) != 0) ++size_class;
    ++round.sizes[size_class];
  }
  return round;
}

TEST(DoublingRounds, AreThoseOfTheWordsThatRepeat) {
  for (const test::NamedText& text : test::tricky_texts()) {
    if (text.symbols.size() > 5000) continue;  // the definition copies every word
    SCOPED_TRACE(text.name);
    const auto suffixes = build<std::uint32_t>(test::context(), text.view());
    const auto lcp = lcp_array<std::uint32_t>(test::context(), text.view(), suffixes);
    for (const std::uint64_t first : {1, 3, 15}) {
      const auto rounds = doubling_rounds<std::uint32_t>(lcp, first);
      std::uint64_t depth = first;
      for (const DoublingRound& round : rounds) {
        const DoublingRound expected = by_definition(text, depth);
        EXPECT_EQ(round.depth, depth);
        EXPECT_EQ(round.unresolved, expected.unresolved);
        EXPECT_EQ(round.groups, expected.groups);
        EXPECT_EQ(round.largest, expected.largest);
        EXPECT_EQ(round.sizes, expected.sizes);
        depth *= 2;
      }
      EXPECT_EQ(by_definition(text, depth).groups, 0u);
    }
  }
}

TEST(DoublingRounds, OfNoTextAndOfNoLetters) {
  EXPECT_TRUE(doubling_rounds<std::uint64_t>({}, 4).empty());
  EXPECT_THROW((void)doubling_rounds<std::uint64_t>({}, 0), Error);
}

}  // namespace
}  // namespace sortie::suffix_array
