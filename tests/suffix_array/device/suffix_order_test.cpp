// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "apps/suffix_array/cuda/ranges/ranges.hpp"
#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "tests/suffix_array/host_stream.hpp"
#include "tests/suffix_array/lcp_definition.hpp"
#include "tests/suffix_array/texts.hpp"

// The comparisons of cuda/ranges on the host, with the functions that the kernels call.
namespace sortie::suffix_array::cuda {
namespace {

template <class Index>
class SuffixOrderOnHost : public testing::Test {};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(SuffixOrderOnHost, Widths);

/// Ranks of the positions of a cover, by number.
template <class Index>
std::vector<Index> rank(const DifferenceCover& cover, const std::vector<Index>& suffixes) {
  std::vector<bool> is_element(cover.period());
  for (const std::uint16_t element : cover.elements) is_element[element] = true;
  std::vector<Index> ranks(cover.positions_below(suffixes.size()));
  Index next = 0;
  for (const Index suffix : suffixes) {
    if (is_element[suffix % cover.period()]) ranks[cover.positions_below(suffix)] = next++;
  }
  return ranks;
}

TYPED_TEST(SuffixOrderOnHost, ComparesAnyTwoSuffixes) {
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    const TextView view = text.view();
    if (view.size() == 0) continue;
    const test::HostStream packed(view);
    const std::vector<TypeParam> suffixes = test::reference<TypeParam>(view);
    const std::vector<TypeParam> lcp = test::lcp_by_definition(view, suffixes);
    for (const std::uint32_t cover_order : {0U, 1U, 2U, 5U}) {
      const DifferenceCover cover(cover_order);
      const std::vector<TypeParam> ranks = rank(cover, suffixes);
      const SuffixOrder<TypeParam> order{
          packed.stream,
          {ranks.data(), cover.places.data(), cover.starts.data(), cover.period(),
           static_cast<std::uint32_t>(cover.elements.size())}};
      for (std::size_t i = 1; i < suffixes.size(); ++i) {
        // From what neighbours have in common on, and from before.
        for (const TypeParam depth : {lcp[i], static_cast<TypeParam>(lcp[i] / 2)}) {
          ASSERT_TRUE(order.before(suffixes[i - 1], suffixes[i], depth)) << i << ' ' << depth;
          ASSERT_FALSE(order.before(suffixes[i], suffixes[i - 1], depth)) << i << ' ' << depth;
        }
      }
      Random random(cover_order);
      for (std::size_t i = 0; i < suffixes.size(); ++i) {
        // The neighbour, which has most in common, and any other.
        for (const std::uint64_t other : {std::uint64_t{i} + 1, random.below(suffixes.size())}) {
          if (other >= suffixes.size()) continue;
          ASSERT_EQ(order.before(suffixes[i], suffixes[other]), i < other) << i << ' ' << other;
          ASSERT_EQ(order.before(suffixes[other], suffixes[i]), other < i) << i << ' ' << other;
        }
      }
    }
  }
}

TYPED_TEST(SuffixOrderOnHost, WindowKeysAscend) {
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    const test::HostStream packed(text.view());
    const WindowKey key{packed.stream};
    const std::vector<TypeParam> suffixes = test::reference<TypeParam>(text.view());
    for (std::size_t i = 1; i < suffixes.size(); ++i) {
      const std::uint64_t left = key(suffixes[i - 1]);
      const std::uint64_t right = key(suffixes[i]);
      ASSERT_LE(left, right) << i;
      // Equal and with an end: in order by position.
      if (left == right && left % 2 == 1) {
        ASSERT_LT(suffixes[i - 1], suffixes[i]) << i;
      }
      if (key.bits() < 64) {
        ASSERT_EQ(right >> key.bits(), 0U);
      }
    }
  }
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
