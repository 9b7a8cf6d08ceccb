// SPDX-License-Identifier: Apache-2.0

// The quicksort of words by vectors, its sort in registers, and its network.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/random.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/register_sort.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "tests/segsort/key_patterns.hpp"

namespace sortie::test {
namespace {

// The 0-1 principle: what sorts all sequences of zeros and ones sorts all.
TEST(ExchangeNetwork, SortsAllZerosAndOnes) {
  for (std::size_t rows = 0; rows <= 17; ++rows) {
    for (std::uint32_t bits = 0; bits < (1U << rows); ++bits) {
      std::uint32_t sorted = bits;
      exchange_network(rows, [&](std::size_t first, std::size_t second, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_LT(second + i, rows);
          const bool swap = (sorted >> (first + i) & 1) > (sorted >> (second + i) & 1);
          if (swap) sorted ^= 1U << (first + i) | 1U << (second + i);
        }
      });
      const auto ones = static_cast<std::size_t>(std::popcount(bits));
      ASSERT_EQ(sorted, ((1U << ones) - 1) << (rows - ones)) << rows << " rows, " << bits;
    }
  }
}

template <class T>
class VectorSortTest : public testing::Test {
 protected:
  void SetUp() override {
    if (vector_unit() == VectorUnit::baseline) GTEST_SKIP() << "this processor has no AVX2";
  }
  /// Calls body(unit) for each kind of vector unit that this processor has.
  template <class Body>
  void for_each_unit(Body body) {
    for (const VectorUnit unit : {VectorUnit::avx2, VectorUnit::avx512}) {
      if (unit > vector_unit() || this->HasFatalFailure()) return;
      SCOPED_TRACE(unit == VectorUnit::avx2 ? "AVX2" : "AVX-512");
      body(unit);
    }
  }
};
/// As sort_words() does.
constexpr int usual_depth = 60;
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
      this->for_each_unit([&](VectorUnit unit) {
        check(words, [&](TypeParam* at, std::size_t count) {
          sort_words_to_depth(at, count, 0, usual_depth, unit);
        });
      });
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(VectorSortTest, EveryPattern) {
  for (const NamedKeyPattern& named : key_patterns) {
    SCOPED_TRACE(named.name);
    for (const std::size_t n : {100, 1'000, 10'007, 200'003}) {
      const auto words = make_keys<TypeParam>(named.pattern, n);
      this->for_each_unit([&](VectorUnit unit) {
        check(words, [&](TypeParam* at, std::size_t count) {
          sort_words_to_depth(at, count, 0, usual_depth, unit);
        });
      });
      if (this->HasFatalFailure()) return;
    }
  }
}

// No bad pivots are needed to see what is done about them.
TYPED_TEST(VectorSortTest, AnyDepth) {
  for (const int depth : {0, 1, 2, 5}) {
    SCOPED_TRACE(depth);
    const auto words = make_keys<TypeParam>(KeyPattern::random_bits, 20'000);
    this->for_each_unit([&](VectorUnit unit) {
      check(words, [&](TypeParam* at, std::size_t count) {
        sort_words_to_depth(at, count, 0, depth, unit);
      });
    });
    if (this->HasFatalFailure()) return;
  }
}

/// Sorts words by all but their lowest bits, between two that must not be touched.
template <class Word>
void check_upper_bits(std::vector<Word> words, int low_bits, int depth, VectorUnit unit) {
  std::vector<Word> expected = words;
  std::sort(expected.begin(), expected.end());
  const Word guard{123};
  words.insert(words.begin(), guard);
  words.push_back(guard);
  sort_words_to_depth(words.data() + 1, expected.size(), low_bits, depth, unit);
  ASSERT_EQ(words.front(), guard);
  ASSERT_EQ(words.back(), guard);
  words.pop_back();
  words.erase(words.begin());
  for (std::size_t i = 0; i < words.size(); ++i)
    ASSERT_EQ(words[i] >> low_bits, expected[i] >> low_bits) << i << " of " << words.size();
  std::sort(words.begin(), words.end());
  ASSERT_TRUE(words == expected) << "not a permutation";
}

TYPED_TEST(VectorSortTest, LowBitsMayComeInAnyOrder) {
  constexpr int bits = std::numeric_limits<TypeParam>::digits;
  for (const std::size_t n : {0, 1, 32, 127, 128, 129, 200, 255, 256, 257, 300, 1'001, 20'000}) {
    for (const std::uint64_t keys : {1, 2, 3, 50, 1 << 12}) {
      for (const int low_bits : {0, 1, 20, bits - 12}) {
        SCOPED_TRACE(testing::Message() << n << " of " << keys << " keys above " << low_bits);
        Random random(n + keys);
        std::vector<TypeParam> words(n);
        for (TypeParam& word : words) {
          // With the least and the greatest key.
          const std::uint64_t value = random.below(keys);
          const std::uint64_t key = value + 1 == keys ? ~std::uint64_t{0} : value;
          const std::uint64_t low = random.below(std::uint64_t{1} << low_bits);
          word = static_cast<TypeParam>(key << low_bits | low);
        }
        for (const int depth : {3, 100}) {
          this->for_each_unit(
              [&](VectorUnit unit) { check_upper_bits(words, low_bits, depth, unit); });
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

/// A frequent key, which is all that a sample sees, with a few below it or above.
TYPED_TEST(VectorSortTest, OneKeyHidesTheOthers) {
  for (const int low_bits : {0, 16}) {
    for (const std::uint64_t hidden : {5, 100}) {
      for (const bool below : {false, true}) {
        SCOPED_TRACE(testing::Message() << hidden << (below ? " below" : " above"));
        Random random(hidden);
        std::vector<TypeParam> words(30'000);
        const auto low = [&] { return random.below(std::uint64_t{1} << low_bits); };
        for (TypeParam& word : words)
          word = static_cast<TypeParam>(std::uint64_t{50} << low_bits | low());
        for (std::uint64_t i = 0; i < hidden; ++i) {
          const std::uint64_t key = random.below(50) + (below ? 0 : 51);
          words[random.below(words.size())] = static_cast<TypeParam>(key << low_bits | low());
        }
        // Few divisions are enough, or std::sort has what is left.
        this->for_each_unit([&](VectorUnit unit) { check_upper_bits(words, low_bits, 100, unit); });
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(VectorSortTest, DividesInTwoPartsOfWhichTheFirstIsLess) {
  for (const NamedKeyPattern& named : key_patterns) {
    SCOPED_TRACE(named.name);
    for (const std::size_t n : {1'025, 10'007}) {
      const auto words = make_keys<TypeParam>(named.pattern, n);
      this->for_each_unit([&](VectorUnit unit) {
        std::vector<TypeParam> parts = words;
        const auto middle = static_cast<std::ptrdiff_t>(divide_words(parts.data(), n, unit));
        const auto end_of_lesser = parts.begin() + middle;
        if (middle == 0) {
          ASSERT_EQ(std::count(parts.begin(), parts.end(), parts[0]), static_cast<long>(n));
        } else {
          ASSERT_LT(*std::max_element(parts.begin(), end_of_lesser),
                    *std::min_element(end_of_lesser, parts.end()));
        }
        std::vector<TypeParam> expected = words;
        std::sort(expected.begin(), expected.end());
        std::sort(parts.begin(), parts.end());
        ASSERT_TRUE(parts == expected) << "not a permutation";
      });
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(VectorSortTest, KeysAreEncodedAsTheyAreDivided) {
  using Word = TypeParam;
  constexpr auto signed_least = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  for (const NamedKeyPattern& named : key_patterns) {
    SCOPED_TRACE(named.name);
    for (const KeyKind kind :
         {KeyKind::unsigned_integer, KeyKind::signed_integer, KeyKind::floating_point}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        const KeyCodec<Word> codec(kind, order);
        for (const std::size_t n : {1'025, 10'007}) {
          auto keys = make_keys<Word>(named.pattern, n);
          for (std::size_t i = 0; i < n; i += 3) keys[i] ^= signed_least;
          // A pivot of zero.
          if (order == Order::descending)
            std::fill(keys.begin(), keys.begin() + 900, codec.decoded(0));
          std::vector<Word> expected = keys;
          codec.encode(expected.data(), n);
          std::sort(expected.begin(), expected.end());
          this->for_each_unit([&](VectorUnit unit) {
            std::vector<Word> parts = keys;
            const auto middle =
                static_cast<std::ptrdiff_t>(divide_keys(parts.data(), n, codec, unit));
            const auto end_of_lesser = parts.begin() + middle;
            ASSERT_EQ(middle == 0, expected.front() == expected.back());
            if (middle > 0) {
              ASSERT_LT(*std::max_element(parts.begin(), end_of_lesser),
                        *std::min_element(end_of_lesser, parts.end()));
            }
            std::sort(parts.begin(), parts.end());
            ASSERT_TRUE(parts == expected) << "not a permutation of the words";
          });
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sortie::test
