// The quicksort of words by vectors, and its sort in registers.

#include "sortie/segsort/host/vector_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "segsort/key_patterns.hpp"
#include "sortie/core/context.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/core/random.hpp"
#include "sortie/segsort/host/giant_words.hpp"

namespace sortie::segsort {
namespace {

template <class T>
class VectorSortTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_vector_sort()) GTEST_SKIP() << "this processor has no AVX-512";
  }
};
using Words = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(VectorSortTest, Words);

/// Sorts words between two that must not be touched.
template <class Word, class Sort>
void check(std::vector<Word> words, Sort sort) {
  std::vector<Word> expected = words;
  std::sort(expected.begin(), expected.end());
  const Word before = Word{123};
  const Word behind = std::numeric_limits<Word>::max() - 5;
  words.insert(words.begin(), before);
  words.push_back(behind);
  sort(words.data() + 1, expected.size());
  expected.insert(expected.begin(), before);
  expected.push_back(behind);
  ASSERT_TRUE(words == expected) << expected.size() - 2 << " words";
}

TYPED_TEST(VectorSortTest, EveryLength) {
  for (std::size_t n = 0; n <= 1500; ++n) {
    for (const TypeParam mask : {static_cast<TypeParam>(~TypeParam{0}), TypeParam{3}}) {
      Random random(n);
      std::vector<TypeParam> words(n);
      for (TypeParam& word : words)
        word = random.below(4) == 0 ? std::numeric_limits<TypeParam>::max()
                                    : static_cast<TypeParam>(random()) & mask;
      check(words, sort_words<TypeParam>);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(VectorSortTest, EveryPattern) {
  for (const test::NamedKeyPattern& named : test::key_patterns) {
    SCOPED_TRACE(named.name);
    for (const std::size_t n : {100, 1'000, 10'007, 200'003}) {
      check(test::make_keys<TypeParam>(named.pattern, n), sort_words<TypeParam>);
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Divides keys to parts of a few, and sorts those.
TYPED_TEST(VectorSortTest, GiantsAreDividedUntilPartsAreShort) {
  Context context;
  context.backend = Backend::host;
  start_host_runtime(context.threads);
  for (const test::NamedKeyPattern& named : test::key_patterns) {
    SCOPED_TRACE(named.name);
    check(test::make_keys<TypeParam>(named.pattern, 150'001), [](TypeParam* keys, std::size_t n) {
      const GiantParts parts = divide_giant(keys, n, 2'000);
      ASSERT_EQ(parts.begins.size(), parts.ends.size());
      for (std::size_t i = 0; i < parts.ends.size(); ++i) {
        ASSERT_LE(parts.ends[i] - parts.begins[i], 2'000U);
        std::sort(keys + parts.begins[i], keys + parts.ends[i]);
      }
    });
    if (this->HasFatalFailure()) return;
  }
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
// No bad pivots are needed to see what is done about them.
TYPED_TEST(VectorSortTest, AnyDepth) {
  for (const int depth : {0, 1, 2, 5}) {
    SCOPED_TRACE(depth);
    check(test::make_keys<TypeParam>(test::KeyPattern::random_bits, 20'000),
          [&](TypeParam* words, std::size_t n) {
            detail::VectorSort<TypeParam>::sort(words, n, depth);
          });
    if (this->HasFatalFailure()) return;
  }
}
#endif

}  // namespace
}  // namespace sortie::segsort
