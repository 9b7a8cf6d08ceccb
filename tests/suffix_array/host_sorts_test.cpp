// SPDX-License-Identifier: Apache-2.0

// The sorts of numbers that the suffix array on the host is made of, with vectors and without.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "apps/suffix_array/host/build/text_rounds.hpp"
#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "apps/suffix_array/host/text/coded_text.hpp"
#include "core/host_runtime.hpp"
#include "core/random.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "tests/suffix_array/texts.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Without vectors, and with them where the processor has them.
std::vector<bool> ways() {
  if (has_fast_word_sort()) return {false, true};
  return {false};
}

template <class Element>
class ElementSort : public testing::Test {};
using Elements = testing::Types<std::uint64_t, DoubleWord>;
TYPED_TEST_SUITE(ElementSort, Elements);

TYPED_TEST(ElementSort, EqualsStandardSort) {
  for (const std::uint64_t size : {0, 1, 2, 3, 4, 8, 24, 25, 100, 1000, 5000, 70000, 150000}) {
    for (const std::uint64_t values : {1, 2, 7, 1000, 1 << 30}) {
      for (const int shift : {0, 20}) {
        Random random(size + values);
        std::vector<TypeParam> elements(size);
        for (TypeParam& element : elements) {
          element = static_cast<TypeParam>(random.below(values)) << (8 * sizeof(TypeParam) - 31) |
                    static_cast<TypeParam>(random.below(1 << 20));
        }
        std::vector<TypeParam> expected = elements;
        std::sort(expected.begin(), expected.end());
        for (const bool by_vectors : ways()) {
          // Scratch for all, for some, for none but the smallest parts.
          for (const std::uint64_t room : {size, size / 3, std::uint64_t{0}}) {
            std::vector<TypeParam> found = elements;
            std::vector<TypeParam> scratch(room);
            sort_elements(found.data(), size, std::span<TypeParam>(scratch), shift, by_vectors);
            for (std::uint64_t i = 0; i < size; ++i) {
              ASSERT_TRUE(found[i] >> shift == expected[i] >> shift)
                  << size << " of " << values << ", room " << room << ", entry " << i;
            }
            std::sort(found.begin(), found.end());
            ASSERT_TRUE(found == expected) << "not a permutation";
          }
        }
      }
    }
  }
}

TYPED_TEST(ElementSort, KeepsTheOrderOfAKeyThatNearlyAllHave) {
  constexpr std::uint64_t size = 20000;
  constexpr int shift = 32;
  const auto key_and_place = [](std::uint64_t key, std::uint64_t place) {
    return static_cast<TypeParam>(key) << shift | static_cast<TypeParam>(place);
  };
  for (const std::uint64_t others : {0, 1, 30, 2000, 9000}) {
    Random random(others + 1);
    std::vector<TypeParam> elements(size);
    for (std::uint64_t i = 0; i < size; ++i) elements[i] = key_and_place(7, i);
    for (std::uint64_t i = 0; i < others; ++i) {
      const std::uint64_t place = random.below(size);
      elements[place] = key_and_place(random.below(15), place);
    }
    for (const bool by_vectors : ways()) {
      for (const std::uint64_t room : {size, std::uint64_t{100}, std::uint64_t{0}}) {
        std::vector<TypeParam> found = elements;
        std::vector<TypeParam> scratch(room);
        sort_elements(found.data(), size, std::span<TypeParam>(scratch), shift, by_vectors);
        ASSERT_TRUE(
            std::is_sorted(found.begin(), found.end(),
                           [](TypeParam a, TypeParam b) { return a >> shift < b >> shift; }))
            << others << " others, room " << room;
        if (others < 50 && room >= 100) {
          const auto below = std::partition_point(
              found.begin(), found.end(),
              [](TypeParam element) { return element >> shift < TypeParam{7}; });
          const auto above = std::partition_point(below, found.end(), [](TypeParam element) {
            return element >> shift == TypeParam{7};
          });
          EXPECT_TRUE(std::is_sorted(below, above)) << others << " others, room " << room;
        }
        std::sort(found.begin(), found.end());
        std::vector<TypeParam> expected = elements;
        std::sort(expected.begin(), expected.end());
        ASSERT_TRUE(found == expected) << "not a permutation";
      }
    }
  }
}

TYPED_TEST(ElementSort, SortsWhatIsInOrderOrInReverse) {
  for (const std::uint64_t size : {0, 1, 2, 3, 1000, 70000}) {
    std::vector<TypeParam> expected(size);
    for (std::uint64_t i = 0; i < size; ++i) expected[i] = static_cast<TypeParam>(i) << 32 | 5;
    std::vector<TypeParam> reversed(expected.rbegin(), expected.rend());
    std::vector<TypeParam> nearly = reversed;
    if (size > 2) std::swap(nearly[size - 1], nearly[size - 2]);
    for (std::vector<TypeParam> found : {expected, reversed, nearly}) {
      std::vector<TypeParam> scratch(size);
      sort_perhaps_ordered(found.data(), size, std::span<TypeParam>(scratch), 32);
      EXPECT_TRUE(found == expected) << size;
    }
  }
}

using Numbers = std::vector<std::uint64_t>;

class PartSort : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_fast_word_sort()) GTEST_SKIP() << "a processor without AVX-512";
  }
};

/// Parts of one to `longest` numbers in no order, each above those of the part before.
Numbers numbers_in_parts(std::uint64_t size, std::uint64_t longest, Random& random) {
  Numbers numbers;
  std::uint64_t first = 0;
  while (numbers.size() < size) {
    const std::uint64_t part = std::min(1 + random.below(longest), size - numbers.size());
    for (std::uint64_t i = 0; i < part; ++i) numbers.push_back(first + random.below(1000));
    first += 1000;
  }
  // The greatest number stands for those that are not there.
  if (size > 0 && random.below(2) == 0) numbers.back() = ~std::uint64_t{0};
  return numbers;
}

TEST_F(PartSort, EqualsStandardSort) {
  Random random(1);
  constexpr std::uint64_t guard = 0x5afe;
  for (std::uint64_t size = 0; size < 300; ++size) {
    for (const std::uint64_t longest : {std::uint64_t{1}, std::uint64_t{5}, longest_vector_part}) {
      const Numbers numbers = numbers_in_parts(size, longest, random);
      Numbers expected = numbers;
      std::sort(expected.begin(), expected.end());
      expected.push_back(guard);
      Numbers in_place = numbers;
      in_place.push_back(guard);
      sort_parts(in_place.data(), in_place.data(), size);
      ASSERT_EQ(in_place, expected) << size;
      Numbers elsewhere(size + 1, guard);
      sort_parts(numbers.data(), elsewhere.data(), size);
      ASSERT_EQ(elsewhere, expected) << size;
    }
  }
}

TEST_F(PartSort, KeepsLongPartsWhoseUpperBitsAgree) {
  constexpr int shift = 20;
  Random random(2);
  for (const std::uint64_t size : {100, 1000}) {
    Numbers numbers;
    for (std::uint64_t part = 0; numbers.size() < size; ++part) {
      const std::uint64_t length = random.below(2) == 0 ? 1 : random.below(200);
      for (std::uint64_t i = 0; i < length; ++i) {
        numbers.push_back(part << shift | random.below(1 << shift));
      }
    }
    Numbers found = numbers;
    sort_parts(found.data(), found.data(), found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i] >> shift, numbers[i] >> shift) << i;
    }
    std::sort(found.begin(), found.end());
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(found, numbers);
  }
}

TEST(KeySort, EqualsStandardSort) {
  start_host_runtime(0);
  for (const test::NamedText& text : test::tricky_texts()) {
    if (text.symbols.empty()) continue;
    SCOPED_TRACE(text.name);
    const PrefixPlan plan = plan_prefixes(count_letters(text.view()), text.symbols.size());
    const KeyDigits digits(plan);
    for (const std::uint64_t size : {0, 1, 64, 65, 300, 3000, 40000}) {
      for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{3}, plan.key_end}) {
        Random random(size);
        Numbers elements(size);
        for (std::uint64_t& element : elements) {
          const std::uint64_t key = random.below(std::min(keys, plan.key_end));
          element = plan.element(key, random.below(text.symbols.size()));
        }
        Numbers expected = elements;
        std::sort(expected.begin(), expected.end());
        for (const bool by_vectors : ways()) {
          for (const std::uint64_t room : {size, size / 2}) {
            Numbers found = elements;
            Numbers scratch(room);
            sort_by_keys(plan, digits, found.data(), size, std::span(scratch), by_vectors);
            for (std::uint64_t i = 0; i < size; ++i) {
              ASSERT_EQ(plan.key_of(found[i]), plan.key_of(expected[i])) << size << ", entry " << i;
            }
            std::sort(found.begin(), found.end());
            ASSERT_EQ(found, expected) << "not a permutation";
          }
        }
      }
    }
  }
}

/// All kinds of processor up to that of this run.
std::vector<VectorUnit> vector_units() {
  std::vector<VectorUnit> units;
  for (const auto unit : {VectorUnit::baseline, VectorUnit::avx2, VectorUnit::avx512}) {
    if (unit <= vector_unit()) units.push_back(unit);
  }
  return units;
}

template <class Pos>
class ElementScan : public testing::Test {};
using Positions = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(ElementScan, Positions);

TYPED_TEST(ElementScan, ReadsKeysAndPositions) {
  constexpr int position_bits = 20;
  Random random(4);
  for (const std::uint64_t size : {0, 1, 2, 63, 64, 65, 127, 128, 129, 1000}) {
    for (const std::uint64_t keys : {1, 2, 300, 1 << 30}) {
      Numbers elements(size);
      for (std::uint64_t& element : elements) {
        element = random.below(keys) << position_bits | random.below(1 << position_bits);
      }
      std::sort(elements.begin(), elements.end());
      for (const VectorUnit unit : vector_units()) {
        Numbers bits((size + 63) / 64 + 1, ~std::uint64_t{0});
        mark_equal_keys(elements.data(), size, position_bits, bits.data(), unit);
        EXPECT_EQ(bits.back(), ~std::uint64_t{0}) << "written beyond the end";
        std::vector<TypeParam> positions(size + 1, 7);
        write_positions(elements.data(), size, position_bits, positions.data(), unit);
        EXPECT_EQ(positions.back(), 7U) << "written beyond the end";
        for (std::uint64_t i = 0; i < size; ++i) {
          const bool equal =
              i > 0 && elements[i] >> position_bits == elements[i - 1] >> position_bits;
          ASSERT_EQ((bits[i / 64] >> (i % 64) & 1) != 0, equal) << size << ", entry " << i;
          ASSERT_EQ(positions[i], elements[i] % (1U << position_bits)) << size << ", entry " << i;
        }
        for (std::uint64_t i = size; i < (size + 63) / 64 * 64; ++i) {
          ASSERT_EQ(bits[i / 64] >> (i % 64) & 1, 0U) << size << ", bit " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sortie::suffix_array::host
