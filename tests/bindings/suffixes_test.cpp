// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/bindings/place.hpp"

// Suffix arrays and what is derived from them through the C interface, against plain comparisons.
namespace sortie::test {
namespace {

struct Reference {
  std::string letters;  ///< a separator is 0
  std::vector<std::uint64_t> separators;

  [[nodiscard]] std::size_t end_of(std::size_t position) const {
    const std::size_t end = letters.find('\0', position);
    return end == std::string::npos ? letters.size() : end;
  }
  [[nodiscard]] std::string suffix(std::size_t position) const {
    return letters.substr(position, end_of(position) - position);
  }
  [[nodiscard]] std::vector<std::uint64_t> suffixes() const {
    std::vector<std::uint64_t> all(letters.size());
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    std::sort(all.begin(), all.end(), [&](std::uint64_t a, std::uint64_t b) {
      const int order = suffix(a).compare(suffix(b));
      return order != 0 ? order < 0 : a < b;
    });
    return all;
  }
  [[nodiscard]] std::vector<std::uint64_t> lcp() const {
    const auto all = suffixes();
    std::vector<std::uint64_t> lengths(all.size());
    for (std::size_t i = 1; i < all.size(); ++i) {
      const std::string a = suffix(all[i - 1]);
      const std::string b = suffix(all[i]);
      while (lengths[i] < a.size() && lengths[i] < b.size() && a[lengths[i]] == b[lengths[i]])
        ++lengths[i];
    }
    return lengths;
  }
};

Reference some_text() {
  Reference text;
  std::mt19937 random(9);
  for (int i = 0; i < 1500; ++i) text.letters += "ACGT"[random() % 4];
  text.letters += text.letters.substr(100, 400);  // a long repeat
  for (const std::size_t end : {300, 301, 900}) {
    text.letters[end] = '\0';
    text.separators.push_back(end);
  }
  return text;
}

template <class Position>
class CSuffixes : public testing::Test {};
using Positions = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(CSuffixes, Positions);

template <class Position>
std::vector<Position> as(const std::vector<std::uint64_t>& items) {
  return {items.begin(), items.end()};
}

TYPED_TEST(CSuffixes, EverythingEqualsTheReference) {
  using Position = TypeParam;
  const sortie_type type = sizeof(Position) == 4 ? SORTIE_U32 : SORTIE_U64;
  const Reference reference = some_text();
  const std::vector<std::uint8_t> symbols(reference.letters.begin(), reference.letters.end());
  const auto expected = as<Position>(reference.suffixes());
  for (const Place& place : places()) {
    SCOPED_TRACE(testing::PrintToString(place));
    const CContext context(place);
    PlacedArray<std::uint8_t> letters(place, symbols);
    PlacedArray<std::uint64_t> separators(place, reference.separators);
    const sortie_text text{letters.data(), symbols.size(), separators.data(),
                           reference.separators.size(), place.memory};
    sortie_array* result = nullptr;
    ASSERT_EQ(sortie_suffix_array(context, &text, type, &result), SORTIE_OK) << context.error();
    EXPECT_EQ(sortie_array_get(result).type, type);
    EXPECT_EQ(sortie_array_get(result).memory, place.memory);
    EXPECT_EQ(taken<Position>(result), expected);

    PlacedArray<Position> suffixes(place, expected);
    EXPECT_EQ(sortie_check_suffix_array(context, &text, type, suffixes.data()), SORTIE_OK);
    std::vector<Position> swapped = expected;
    std::swap(swapped[10], swapped[11]);
    PlacedArray<Position> wrong(place, swapped);
    EXPECT_EQ(sortie_check_suffix_array(context, &text, type, wrong.data()), SORTIE_CHECK);

    ASSERT_EQ(sortie_lcp(context, &text, type, suffixes.data(), &result), SORTIE_OK);
    EXPECT_EQ(taken<Position>(result), as<Position>(reference.lcp()));

    ASSERT_EQ(sortie_bwt(context, &text, type, suffixes.data(), &result), SORTIE_OK);
    std::vector<std::uint8_t> bwt;
    for (const Position p : expected) bwt.push_back(symbols[p == 0 ? symbols.size() - 1 : p - 1]);
    EXPECT_EQ(taken<std::uint8_t>(result), bwt);

    ASSERT_EQ(sortie_inverse_suffix_array(context, place.memory, type, suffixes.data(),
                                          expected.size(), &result),
              SORTIE_OK);
    const auto inverse = taken<Position>(result);
    ASSERT_EQ(inverse.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(inverse[expected[i]], i);
  }
}

TYPED_TEST(CSuffixes, PatternsAreCountedAndLocated) {
  using Position = TypeParam;
  const sortie_type type = sizeof(Position) == 4 ? SORTIE_U32 : SORTIE_U64;
  const Reference reference = some_text();
  const std::vector<std::uint8_t> symbols(reference.letters.begin(), reference.letters.end());
  const auto sorted = as<Position>(reference.suffixes());
  const std::vector<std::string> words{
      "A", "ACG", "", reference.letters.substr(1300, 150), "ACGTACGTACGTACGTACGTAAAA", "TT"};
  std::vector<std::uint8_t> joined;
  std::vector<std::uint64_t> bounds{0};
  for (const std::string& word : words) {
    joined.insert(joined.end(), word.begin(), word.end());
    bounds.push_back(joined.size());
  }
  for (const Place& place : places()) {
    SCOPED_TRACE(testing::PrintToString(place));
    const CContext context(place);
    PlacedArray<std::uint8_t> letters(place, symbols);
    PlacedArray<std::uint64_t> separators(place, reference.separators);
    PlacedArray<Position> suffixes(place, sorted);
    PlacedArray<std::uint8_t> pattern_letters(place, joined);
    PlacedArray<std::uint64_t> pattern_begins(place, bounds);
    const sortie_text text{letters.data(), symbols.size(), separators.data(),
                           reference.separators.size(), place.memory};
    const sortie_patterns patterns{pattern_letters.data(), pattern_begins.data(), words.size()};
    PlacedArray<std::uint64_t> begins(place, words.size(), ~std::uint64_t{0});
    PlacedArray<std::uint64_t> ends(place, words.size(), ~std::uint64_t{0});
    ASSERT_EQ(
        sortie_find(context, &text, type, suffixes.data(), &patterns, begins.data(), ends.data()),
        SORTIE_OK)
        << context.error();
    PlacedArray<std::uint64_t> hit_begins(place, words.size() + 1, ~std::uint64_t{0});
    sortie_array* result = nullptr;
    constexpr std::uint64_t most = 20;
    ASSERT_EQ(sortie_locate(context, &text, type, suffixes.data(), &patterns, most,
                            hit_begins.data(), &result),
              SORTIE_OK)
        << context.error();
    const auto positions = taken<Position>(result);
    const auto from = begins.items();
    const auto to = ends.items();
    const auto hits = hit_begins.items();
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::uint64_t count = 0;
      for (std::size_t p = 0; p < symbols.size(); ++p)
        count += reference.suffix(p).compare(0, words[i].size(), words[i]) == 0 ? 1 : 0;
      EXPECT_EQ(to[i] - from[i], count) << words[i];
      ASSERT_EQ(hits[i + 1] - hits[i], std::min(count, most));
      for (std::uint64_t h = 0; h < hits[i + 1] - hits[i]; ++h)
        EXPECT_EQ(positions[hits[i] + h], sorted[from[i] + h]);
    }
    const sortie_patterns none{nullptr, nullptr, 0};
    EXPECT_EQ(sortie_find(context, &text, type, suffixes.data(), &none, nullptr, nullptr),
              SORTIE_OK);
    ASSERT_EQ(sortie_locate(context, &text, type, suffixes.data(), &none, most, hit_begins.data(),
                            &result),
              SORTIE_OK);
    EXPECT_EQ(taken<Position>(result), std::vector<Position>());
    EXPECT_EQ(hit_begins.items()[0], 0u);
  }
}

TYPED_TEST(CSuffixes, EmptyText) {
  const sortie_type type = sizeof(TypeParam) == 4 ? SORTIE_U32 : SORTIE_U64;
  for (const Place& place : places()) {
    const CContext context(place);
    const sortie_text text{nullptr, 0, nullptr, 0, place.memory};
    sortie_array* result = nullptr;
    ASSERT_EQ(sortie_suffix_array(context, &text, type, &result), SORTIE_OK) << context.error();
    EXPECT_EQ(sortie_array_get(result).data, nullptr);
    EXPECT_EQ(taken<TypeParam>(result), std::vector<TypeParam>());
  }
}

TEST(CSuffixErrors, NameTheArgument) {
  // On a GPU, the entries of a suffix array are not checked.
  const CContext context(Place{});
  const std::vector<std::uint8_t> symbols{'A', 'C', 0, 'G'};
  const std::vector<std::uint64_t> beyond{2, 4};
  sortie_text text{symbols.data(), symbols.size(), beyond.data(), 2, SORTIE_HOST_MEMORY};
  sortie_array* result = nullptr;
  EXPECT_EQ(sortie_suffix_array(context, &text, SORTIE_U32, &result), SORTIE_INPUT);
  EXPECT_EQ(context.error(),
            "text.separators: found 4 as number 1, expected a position from 3 to 4, the end of the "
            "text");
  text.separator_count = 1;
  EXPECT_EQ(sortie_suffix_array(context, &text, SORTIE_I32, &result), SORTIE_USAGE);
  EXPECT_EQ(context.error(), "position_type: found i32, expected u32 or u64");
  const std::vector<std::uint32_t> wrong{0, 1, 9, 2};
  EXPECT_EQ(sortie_lcp(context, &text, SORTIE_U32, wrong.data(), &result), SORTIE_USAGE);
  EXPECT_EQ(sortie_bwt(context, &text, SORTIE_U32, wrong.data(), &result), SORTIE_USAGE);
  EXPECT_EQ(sortie_inverse_suffix_array(context, SORTIE_HOST_MEMORY, SORTIE_U32, wrong.data(), 4,
                                        &result),
            SORTIE_USAGE);
  EXPECT_EQ(sortie_lcp(context, &text, SORTIE_U32, nullptr, &result), SORTIE_USAGE);
  EXPECT_EQ(context.error(), "suffixes: found a null pointer, expected 4 elements");
  const std::vector<std::uint32_t> sorted{2, 0, 1, 3};
  const std::vector<std::uint64_t> descending{0, 2, 1};
  const sortie_patterns patterns{symbols.data(), descending.data(), 2};
  std::vector<std::uint64_t> begins(2);
  std::vector<std::uint64_t> ends(2);
  EXPECT_EQ(
      sortie_find(context, &text, SORTIE_U32, sorted.data(), &patterns, begins.data(), ends.data()),
      SORTIE_INPUT);
  EXPECT_EQ(context.error(),
            "patterns.begins: pattern 1: found 2 and 1, expected ascending offsets");
  EXPECT_EQ(result, nullptr);
}

}  // namespace
}  // namespace sortie::test
