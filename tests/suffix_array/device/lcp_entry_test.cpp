// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "tests/suffix_array/host_stream.hpp"
#include "tests/suffix_array/lcp_definition.hpp"
#include "tests/suffix_array/texts.hpp"

// The steps of cuda/derived/device_lcp.cu on the host, one entry after another, with the functions
// that the kernels call.
namespace sortie::suffix_array::cuda {
namespace {

template <class Index>
std::vector<Index> lcp_by_entries(const TextView& view, const std::vector<Index>& suffixes) {
  const test::HostStream packed(view);
  const CommonSymbols text(packed.stream, view.size());
  std::vector<Index> lcp(suffixes.size());
  std::vector<Index> reach(suffixes.size());
  for (std::size_t i = 1; i < suffixes.size(); ++i) {
    const std::uint64_t left = suffixes[i - 1];
    const std::uint64_t right = suffixes[i];
    lcp[i] = text.first_look<Index>(text.window_before(left), text.window_before(right));
    if (lcp[i] != longer_mark<Index>) continue;
    auto common = static_cast<std::uint64_t>(text.window()) - 1;
    for (int more = text.window(); more == text.window();) {
      more = text.common(left + common, right + common);
      common += static_cast<std::uint64_t>(more);
    }
    lcp[i] = static_cast<Index>(common);
    reach[right] = static_cast<Index>(right + common);
  }
  for (std::size_t p = 1; p < reach.size(); ++p) reach[p] = std::max(reach[p], reach[p - 1]);
  for (std::size_t i = 0; i < suffixes.size(); ++i) {
    if (lcp[i] != extended_mark<Index>) continue;
    lcp[i] = static_cast<Index>(reach[suffixes[i]] - suffixes[i]);
  }
  return lcp;
}

template <class Index>
class LcpEntry : public testing::Test {};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(LcpEntry, Widths);

Context on_host() {
  Context context;
  context.backend = Backend::host;
  return context;
}

TYPED_TEST(LcpEntry, MakesTheArrayOfTrickyTexts) {
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    const auto suffixes = build<TypeParam>(on_host(), text.view());
    EXPECT_EQ(lcp_by_entries(text.view(), suffixes),
              test::lcp_by_definition(text.view(), suffixes));
  }
}

TYPED_TEST(LcpEntry, MakesTheArrayOfTextsOfEveryPacking) {
  // Alphabets of 1 to 256 letters are packed in 1 to 9 bits; repeats and records in each.
  for (const unsigned letters :
       {1U, 2U, 3U, 4U, 7U, 8U, 15U, 20U, 31U, 63U, 127U, 128U, 255U, 256U}) {
    const std::string unit = test::random_letters(300, letters, 0, letters);
    const test::NamedText text =
        test::joined("", {unit + unit, unit.substr(7) + unit.substr(1), unit, unit.substr(0, 90)});
    const auto suffixes = build<TypeParam>(on_host(), text.view());
    EXPECT_EQ(lcp_by_entries(text.view(), suffixes), test::lcp_by_definition(text.view(), suffixes))
        << letters << " letters";
  }
}

TYPED_TEST(LcpEntry, MakesTheArrayOfManyRepetitiveTexts) {
  // Copies with changes, cut by separators: chains of extended entries of all lengths.
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto letters = static_cast<unsigned>(1 + random.below(4));
    const std::string unit = test::random_letters(20 + random.below(150), letters, 'A', seed);
    std::vector<std::string> records(1);
    for (int copy = 0; copy < 6; ++copy) {
      std::string changed = unit.substr(random.below(unit.size()));
      changed[random.below(changed.size())] = static_cast<char>('A' + random.below(letters));
      if (random.below(3) == 0) records.emplace_back();
      records.back() += changed;
    }
    const test::NamedText text = test::joined("", records);
    const auto suffixes = build<TypeParam>(on_host(), text.view());
    ASSERT_EQ(lcp_by_entries(text.view(), suffixes), test::lcp_by_definition(text.view(), suffixes))
        << "seed " << seed;
  }
}

TYPED_TEST(LcpEntry, SeesNothingBehindTheText) {
  const test::NamedText text = test::single("", "ACGTACGT");
  const test::HostStream packed(text.view());
  const CommonSymbols symbols(packed.stream, text.view().size());
  EXPECT_EQ(symbols.common(0, 4), 4);
  EXPECT_EQ(symbols.common(4, 8), 0);
  EXPECT_EQ(symbols.common(8, 8), 0);
  EXPECT_EQ(symbols.common(3, 100000), 0);
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
