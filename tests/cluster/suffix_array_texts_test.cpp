// SPDX-License-Identifier: Apache-2.0
//
// Texts that take too many collective calls for more processes than cores: on ranks of one process.
#include <gtest/gtest.h>

#include <vector>

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

}  // namespace
}  // namespace sortie::cluster
