// SPDX-License-Identifier: Apache-2.0
//
// Texts that take too many collective calls for more processes than cores: on ranks of one process.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "sortie/cluster.hpp"
#include "tests/cluster/expect_array.hpp"
#include "tests/suffix_array/texts.hpp"

namespace sortie::cluster {
namespace {

TEST(ClusterSuffixArrayTexts, EveryTrickyTextIsSorted) {
  const std::vector<test::NamedText> texts = test::tricky_texts();
  for (const int size : {3, 16}) {
    run_in_process(size, true, [&](Ranks& ranks) {
      for (const test::NamedText& text : texts) {
        test::expect_equal_array<std::uint32_t>(ranks, text);
        if (size == 3) test::expect_equal_array<std::uint64_t>(ranks, text);
      }
    });
  }
}

/// Random letters with long runs, copies of earlier parts, and ends of records.
test::NamedText random_pieces(std::uint64_t seed) {
  Random random(seed);
  const auto letters = static_cast<unsigned>(1 + random.below(4));
  const std::uint64_t pieces = 1 + random.below(30);
  test::NamedText text{"seed " + std::to_string(seed), {}, {}};
  std::string all;
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const std::uint64_t length = 1 + random.below(random.below(4) == 0 ? 3000 : 60);
    const std::uint64_t kind = random.below(5);
    if (kind == 0) {
      all += std::string(length, static_cast<char>('A' + random.below(letters)));
    } else if (kind == 1 && !all.empty()) {
      all += all.substr(random.below(all.size()), length);
    } else if (kind == 2) {
      all += test::repeated(test::random_letters(1 + random.below(4), letters, 'A', seed + piece),
                            length / 2);
    } else {
      all += test::random_letters(length, letters, 'A', seed + piece);
    }
    if (random.below(4) == 0) {
      text.separators.push_back(all.size());
      all += '\0';
    }
  }
  text.symbols.assign(all.begin(), all.end());
  return text;
}

TEST(ClusterSuffixArrayTexts, RunsAndRepeatsOnManyRanksAreSorted) {
  for (const int size : {2, 5, 16}) {
    run_in_process(size, true, [&](Ranks& ranks) {
      for (std::uint64_t seed = 0; seed < 40; ++seed)
        test::expect_equal_array<std::uint32_t>(ranks, random_pieces(seed));
    });
  }
}

// More samples than are exchanged at once.
TEST(ClusterSuffixArrayTexts, ManySamplesAreExchangedInParts) {
  const std::string word = test::random_letters(5'000, 4, 'A', 3);
  for (const test::NamedText& text :
       {test::single("period of 2", test::repeated("AC", 350'000)),
        test::single("short periods", test::repeated("AACAC", 100'000) + word +
                                          test::repeated("ACC", 100'000) + word)}) {
    run_in_process(3, true,
                   [&](Ranks& ranks) { test::expect_equal_array<std::uint32_t>(ranks, text); });
  }
}

}  // namespace
}  // namespace sortie::cluster
