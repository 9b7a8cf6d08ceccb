// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/burrows_wheeler.hpp"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"
#include "sortie/lcp.hpp"
#include "tests/suffix_array/lcp_definition.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

// From a text and its suffix array in device memory: nothing is copied in between.
namespace sortie::suffix_array::cuda {
namespace {

template <class Index>
class DeviceLcp : public testing::Test {};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceLcp, Widths);

template <class T>
std::vector<T> to_host(const DeviceBuffer<T>& buffer) {
  std::vector<T> host(buffer.size());
  buffer.copy_to(host);
  if (!host.empty()) check_cuda(cudaStreamSynchronize(buffer.stream()));
  return host;
}

/// All arrays of a text, built one from another on the device.
template <Position Index>
struct Built {
  std::vector<Index> suffixes;
  std::vector<Index> lcp;
  std::vector<Index> inverse;
  std::vector<std::uint8_t> transform;

  Built(const Context& given, const TextView& view) {
    const DeviceCall context(given);
    const DeviceBuffer<std::uint8_t> symbols(view.symbols, context.stream);
    const DeviceBuffer<std::uint64_t> separators(view.separators, context.stream);
    const DeviceText text{{symbols.data(), symbols.size()}, {separators.data(), separators.size()}};
    const DeviceBuffer<Index> array = build_on_device<Index>(context, text, context.stream);
    const std::span<const Index> entries{array.data(), array.size()};
    suffixes = to_host(array);
    lcp = to_host(lcp_on_device<Index>(context, text, entries, context.stream));
    inverse = to_host(inverse_on_device<Index>(context, entries, context.stream));
    transform = to_host(burrows_wheeler_on_device<Index>(context, text, entries, context.stream));
  }
};

template <Position Index>
void expect_right(const Built<Index>& built, const TextView& text) {
  Context host;
  host.backend = Backend::host;
  EXPECT_EQ(built.lcp, lcp_array<Index>(host, text, built.suffixes));
  EXPECT_NO_THROW(check_lcp<Index>(host, text, built.suffixes, built.lcp));
  EXPECT_NO_THROW(check_burrows_wheeler<Index>(host, text, built.suffixes, built.transform));
  ASSERT_EQ(built.inverse.size(), built.suffixes.size());
  for (std::size_t i = 0; i < built.suffixes.size(); ++i) {
    ASSERT_EQ(built.inverse[built.suffixes[i]], i);
  }
}

TYPED_TEST(DeviceLcp, EqualsItsDefinitionOnTrickyTexts) {
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    const Built<TypeParam> built(test::context(), text.view());
    EXPECT_EQ(built.lcp, test::lcp_by_definition(text.view(), built.suffixes));
    expect_right(built, text.view());
  }
}

TYPED_TEST(DeviceLcp, EqualsItsDefinitionForEveryPacking) {
  for (const unsigned letters : {1U, 2U, 3U, 7U, 8U, 20U, 63U, 128U, 256U}) {
    SCOPED_TRACE(letters);
    const std::string unit = test::random_letters(3000, letters, 0, letters);
    const test::NamedText text =
        test::joined("", {unit + unit, unit.substr(7) + unit.substr(1), unit, unit.substr(0, 90)});
    const Built<TypeParam> built(test::context(), text.view());
    EXPECT_EQ(built.lcp, test::lcp_by_definition(text.view(), built.suffixes));
  }
}

// Repeats as long as what a thread, a warp and a block compare at a time, give or take a symbol:
// 20 + 4 * 21 bases by a thread, 32 * 32 * 21 more by a warp, 4 * 1024 * 21 a turn by a block.
TYPED_TEST(DeviceLcp, IsRightWhereOneStepHandsOverToTheNext) {
  const std::string letters = test::random_letters(200000, 4, 'A', 6);
  for (const std::size_t length : {20, 104, 104 + 21504, 104 + 21504 + 86016}) {
    for (const int difference : {-21, -2, -1, 0, 1, 2, 20, 21, 22}) {
      if (difference < 0 && length < 30) continue;
      const std::size_t repeat = length + static_cast<std::size_t>(difference);
      SCOPED_TRACE(repeat);
      const std::string unit = letters.substr(0, repeat);
      // The copies have different letters before and behind them; the last one ends the text.
      const test::NamedText text = test::single("", "A" + unit + "CG" + unit + "TT" + unit);
      const Built<TypeParam> built(test::context(), text.view());
      expect_right(built, text.view());
      EXPECT_GE(*std::max_element(built.lcp.begin(), built.lcp.end()), repeat);
    }
  }
}

TYPED_TEST(DeviceLcp, IsRightOnLongRepeatsAndRuns) {
  const std::string repeat = test::random_letters(150000, 4, 'A', 4);
  const auto run = [](char letter, std::size_t length) { return std::string(length, letter); };
  for (const test::NamedText& text :
       {test::single("one_letter", run('A', 1000000)),
        test::single(
            "runs", run('N', 300000) + repeat + run('N', 200000) + repeat + "A" + run('N', 200000)),
        test::single("fibonacci", test::fibonacci(400000)),
        test::single("period", test::repeated("ACCGT", 100000)),
        test::joined("genomes",
                     {repeat, repeat + "A", "C" + repeat, repeat.substr(1000), repeat})}) {
    SCOPED_TRACE(text.name);
    expect_right(Built<TypeParam>(test::context(), text.view()), text.view());
  }
}

TYPED_TEST(DeviceLcp, IsRightOnManyCopiesWithChanges) {
  // Most entries end at one of the changes, far more of them in warps than in threads.
  Random random(8);
  const std::string unit = test::random_letters(20000, 4, 'A', 8);
  std::string letters;
  for (int copy = 0; copy < 20; ++copy) {
    std::string changed = unit;
    for (int i = 0; i < 100; ++i) {
      changed[random.below(changed.size())] = "ACGT"[random.below(4)];
    }
    letters += changed;
  }
  const test::NamedText text = test::single("", letters);
  expect_right(Built<TypeParam>(test::context(), text.view()), text.view());
}

TYPED_TEST(DeviceLcp, RefusesWorkBeyondTheBudget) {
  const test::NamedText text = test::single("", test::random_letters(1 << 20, 4, 'A', 1));
  DeviceCall context(test::context());
  const DeviceBuffer<std::uint8_t> symbols(text.view().symbols, context.stream);
  const DeviceText device_text{{symbols.data(), symbols.size()}, {}};
  const DeviceBuffer<TypeParam> array =
      build_on_device<TypeParam>(context, device_text, context.stream);
  context.memory_budget = symbols.size() / 2;
  const std::span<const TypeParam> entries{array.data(), array.size()};
  const auto is_refused = [](const auto& work) {
    try {
      work();
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::out_of_memory;
    }
  };
  EXPECT_TRUE(is_refused(
      [&] { (void)lcp_on_device<TypeParam>(context, device_text, entries, context.stream); }));
  EXPECT_TRUE(
      is_refused([&] { (void)inverse_on_device<TypeParam>(context, entries, context.stream); }));
  EXPECT_TRUE(is_refused([&] {
    (void)burrows_wheeler_on_device<TypeParam>(context, device_text, entries, context.stream);
  }));
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
