// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/suffix_array/construction.hpp"
#include "apps/suffix_array/cuda/ranges/ranges.hpp"
#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "apps/suffix_array/part_builder.hpp"
#include "apps/suffix_array/ranks/build_plan.hpp"
#include "apps/suffix_array/ranks/device_build.hpp"
#include "apps/suffix_array/row_stream.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

// Suffix arrays that are built in ranges, because memory is short.
namespace sortie::suffix_array::cuda {
namespace {

template <class Index>
class DeviceRanges : public testing::Test {};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceRanges, Widths);

struct Built {
  std::uint64_t ranges = 0;
  std::uint64_t largest = 0;
};

template <Position Index>
std::vector<Index> build_by_plan(const TextView& text, const RangePlan& plan, Built& built) {
  const DeviceCall context(test::context());
  std::vector<Index> suffixes;
  const auto sink = [&](DeviceBuffer<Index> range) {
    const std::size_t before = suffixes.size();
    suffixes.resize(before + range.size());
    range.copy_to(std::span(suffixes).subspan(before));
    check_cuda(cudaStreamSynchronize(context.stream));
    ++built.ranges;
    built.largest = std::max<std::uint64_t>(built.largest, range.size());
  };
  build_in_ranges<Index>(context, text, 0, sink, plan);
  return suffixes;
}

TYPED_TEST(DeviceRanges, EqualReferenceOnTrickyTexts) {
  for (const test::NamedText& text : test::tricky_texts()) {
    if (text.symbols.empty()) continue;
    SCOPED_TRACE(text.name);
    const TextView view = text.view();
    const auto expected = test::reference<TypeParam>(view);
    for (const RangePlan& plan : {RangePlan{0, view.size() / 3 + 1},
                                  RangePlan{1, view.size() / 20 + 1}, RangePlan{2, view.size()}}) {
      Built built;
      EXPECT_EQ(build_by_plan<TypeParam>(view, plan, built), expected)
          << plan.cover_order << ' ' << plan.members;
      EXPECT_LE(built.largest, plan.members);
    }
  }
}

TYPED_TEST(DeviceRanges, RowsAreThoseOfTheSuffixArray) {
  const std::vector<RowRequest> requests = {
      {.sample_step = 8, .sample_phase = 7, .first_letter = 4},
      {.descending = true, .sample_step = 16, .tail = 9, .first_letter = 3},
      {.descending = true}};
  for (const test::NamedText& text : test::tricky_texts()) {
    const TextView view = text.view();
    if (view.size() == 0 || !view.separators.empty()) continue;
    SCOPED_TRACE(text.name);
    for (const RowRequest& request : requests) {
      auto expected = test::reference<TypeParam>(view);
      if (request.descending) std::ranges::reverse(expected);
      std::uint64_t row = 0;
      std::vector<std::uint64_t> marks(1 + request.tail, no_row);
      const auto visit = [&](const RowBlock& block) {
        ASSERT_EQ(block.first, row);
        std::vector<std::uint64_t> samples;
        for (const std::uint8_t letter : block.letters) {
          const std::uint64_t position = expected.at(row);
          EXPECT_EQ(letter, position == 0 ? request.first_letter : view.symbols[position - 1]);
          if (row % request.sample_step == request.sample_phase) samples.push_back(position);
          if (position == 0) marks[0] = row;
          if (view.size() - position <= request.tail) marks[view.size() - position] = row;
          ++row;
        }
        EXPECT_TRUE(std::ranges::equal(block.samples, samples));
        for (std::size_t i = 0; i < marks.size(); ++i)
          if (marks[i] < row) {
            EXPECT_EQ(block.marks[i], marks[i]);
          }
      };
      const RangePlan plan{0, view.size() / 3 + 1};
      stream_rows<TypeParam>(test::context(), view, request, visit, &plan);
      EXPECT_EQ(row, view.size());
    }
  }
}

/// Rows of random letters and their reverse complement, which is made on the device or given.
template <Position Index>
void expect_rows_of_both_strands(std::uint64_t size) {
  SCOPED_TRACE(size);
  std::uint64_t state = 5;
  std::vector<std::uint8_t> both(2 * size);
  for (std::uint64_t i = 0; i < size; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    both[i] = static_cast<std::uint8_t>(state >> 62);
    both[2 * size - 1 - i] = static_cast<std::uint8_t>(3 - both[i]);
  }
  const auto rows_of = [&](std::span<const std::uint8_t> symbols, bool mirrored) {
    std::vector<std::uint64_t> rows;
    const auto visit = [&](const RowBlock& block) {
      rows.insert(rows.end(), block.letters.begin(), block.letters.end());
      rows.insert(rows.end(), block.samples.begin(), block.samples.end());
      rows.push_back(block.marks[0]);
    };
    const RangePlan plan{0, 2 * size / 3 + 1};
    stream_rows<Index>(
        test::context(), TextView(symbols),
        {.sample_step = 8, .sample_phase = 7, .first_letter = 4, .mirrored = mirrored}, visit,
        &plan);
    return rows;
  };
  const auto rows = rows_of(std::span(both).first(size), true);
  EXPECT_GE(rows.size(), 2 * size);
  EXPECT_EQ(rows, rows_of(both, false));
}

TYPED_TEST(DeviceRanges, MirroredTextsHaveTheRowsOfBothStrands) {
  for (const std::uint64_t size : {1U, 2U, 63U, 64U, 70001U})
    expect_rows_of_both_strands<TypeParam>(size);
}

// Short enough for racecheck, which takes minutes for the text above.
TYPED_TEST(DeviceRanges, MirroredTextsOfAFewHundredSymbols) {
  expect_rows_of_both_strands<TypeParam>(300);
}

/// Packs a text in parts, as several devices do, and builds the suffix array from them.
template <Position Index>
std::vector<Index> build_from_parts(const TextView& text, std::uint64_t parts) {
  const Context context = test::context();
  const DeviceCall call(context);
  const RangePlan plan{0, text.size()};
  std::vector<std::unique_ptr<TextPreparation>> packers;
  LetterSet letters{};
  for (std::uint64_t number = 0; number < parts; ++number) {
    packers.push_back(prepare_text<Index>(context, text, {number, parts}, {}, plan));
    const LetterSet found = packers.back()->find_letters();
    for (std::size_t byte = 0; byte < found.size(); ++byte) letters[byte] |= found[byte];
  }
  for (const auto& packer : packers) packer->pack(letters);
  const auto copy = [](std::span<std::byte> from, std::span<std::byte> to) {
    EXPECT_EQ(to.size(), from.size());
    check_cuda(cudaMemcpy(to.data(), from.data(), from.size(), cudaMemcpyDeviceToDevice));
  };
  for (std::uint64_t from = 0; from < parts; ++from)
    for (std::uint64_t to = 0; to < parts; ++to)
      if (to != from) copy(packers[from]->packed_part(from), packers[to]->packed_part(from));
  std::vector<CoverCounts> counts;
  for (const auto& packer : packers) counts.push_back(packer->sort_cover(packer->cover_order()));
  for (const auto& packer : packers) packer->join_cover(counts);
  for (std::uint64_t number = 1; number < parts; ++number) {
    const auto from = packers[number]->cover_part(number);
    const auto to = packers[0]->cover_part(number);
    EXPECT_EQ(to.size(), from.size());
    for (std::size_t array = 0; array < from.size(); ++array) copy(from[array], to[array]);
  }
  const auto builder = make_part_builder<Index>(context, std::move(packers[0]));
  const CandidateDraw draw{1, 0};
  std::vector<Index> suffixes(text.size());
  builder->build(context, draw, builder->count(context, draw, 0, text.size()), 0, suffixes)
      .arrive();
  return suffixes;
}

TYPED_TEST(DeviceRanges, ArePackedInParts) {
  std::vector<test::NamedText> texts = test::tricky_texts();
  for (const std::size_t size : {63, 64, 65, 128, 1000})
    texts.push_back(test::single("letters", test::random_letters(size, 4, 'A', size)));
  const std::string letters = test::random_letters(500, 4, 'A', 1);
  // Letters and separators that only some parts have.
  texts.push_back(test::joined("records", {letters, "N", "", letters, std::string(300, 'X')}));
  for (const test::NamedText& text : texts) {
    if (text.symbols.empty()) continue;
    SCOPED_TRACE(text.name + " " + std::to_string(text.symbols.size()));
    const auto expected = test::reference<TypeParam>(text.view());
    for (const std::uint64_t parts : {1, 2, 3, 5})
      EXPECT_EQ(build_from_parts<TypeParam>(text.view(), parts), expected) << parts;
  }
}

TYPED_TEST(DeviceRanges, CutWhateverRepeats) {
  // One letter repeated, periods of the cover's own length and of twice it, Fibonacci, and records
  // that are all the same: almost all windows are equal.
  const std::uint32_t period = DifferenceCover::period(least_cover_order);
  const std::string repeat = test::random_letters(60000, 4, 'A', 1);
  for (const test::NamedText& text :
       {test::single("one letter", std::string(300000, 'A')),
        test::single("period", test::repeated(repeat.substr(0, period), 1500)),
        test::single("two periods", test::repeated(repeat.substr(0, 2 * period), 700)),
        test::single("fibonacci", test::fibonacci(300000)),
        test::single("gaps", std::string(100000, 'N') + repeat + std::string(100000, 'N')),
        test::joined("equal records", {repeat, repeat, repeat, repeat + "A"}),
        test::joined("equal long records", std::vector<std::string>(100, repeat.substr(0, 2000))),
        test::single("all bytes", test::random_letters(300000, 256, 0, 4))}) {
    SCOPED_TRACE(text.name);
    for (const std::uint64_t parts : {2, 7, 60}) {
      Built built;
      const auto suffixes = build_by_plan<TypeParam>(
          text.view(), {least_cover_order, text.symbols.size() / parts}, built);
      EXPECT_GE(built.ranges, parts);
      EXPECT_LE(built.ranges, parts + parts / 4 + 2);
      EXPECT_LE(built.largest, text.symbols.size() / parts);
      EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
    }
  }
}

std::vector<test::NamedText> texts_of(std::size_t length) {
  const auto run = [](char letter, std::size_t letters) { return std::string(letters, letter); };
  const std::string half = test::random_letters(length / 2, 4, 'A', 11);
  std::string mutated = half;
  for (std::size_t i = 0; i < mutated.size(); i += 1000) mutated[i] = 'N';
  std::string runs;
  while (runs.size() < length) runs += run('A', 5000) + (runs.size() % 3 == 0 ? "C" : "G");
  std::string all_letters;
  for (int i = 0; i < 256; ++i) all_letters += static_cast<char>(i);
  return {
      test::single("one run", run('A', length)),
      test::single("many runs of one length", runs),
      test::single("period 2", test::repeated("AB", length / 2)),
      test::single("period 256", test::repeated(all_letters, length / 256)),
      test::single("Fibonacci", test::fibonacci(length)),
      test::single("nearly twice the same", half + mutated),
      test::single("random", test::random_letters(length, 4, 'A', 12)),
      test::single("proteins", test::random_letters(length, 20, 'A', 13)),
      test::single("bytes", test::random_letters(length, 256, 0, 14)),
      test::joined("many records", std::vector<std::string>(length / 128, half.substr(0, 127)))};
}

TYPED_TEST(DeviceRanges, HoldNoMoreMemoryThanGranted) {
  constexpr std::size_t length = std::size_t{1} << 22;
  // Wide positions differ in the copy to the host only.
  const std::vector<std::uint64_t> bounds = sizeof(TypeParam) == sizeof(std::uint32_t)
                                                ? std::vector<std::uint64_t>{3, 4, 6, 8, 12, 16}
                                                : std::vector<std::uint64_t>{4, 12};
  for (const test::NamedText& text : texts_of(length)) {
    SCOPED_TRACE(text.name);
    const TextView view = text.view();
    for (const std::uint64_t granted : bounds) {
      SCOPED_TRACE(granted);
      Context context = test::context();
      RunReport report;
      context.report = &report;
      context.memory_budget = granted * view.size();
      std::uint64_t before = 0;
      {
        const DeviceCall call(context);
        check_cuda(cudaStreamSynchronize(call.stream));
        before = device_memory_in_use();
      }
      reset_peak_device_memory(context.device);
      const auto suffixes = build<TypeParam>(context, view);
      const std::uint64_t peak = peak_device_memory(context.device) - before;
      EXPECT_LE(peak, context.memory_budget);
      EXPECT_GE(peak, context.memory_budget / 2) << "memory left unused";
      EXPECT_NO_THROW(check<TypeParam>(test::context(), view, suffixes));
      for (const auto& [key, value] : report.figures()) {
        if (key != "ranges") continue;
        std::printf("    %-24s %2d granted, %5.2f bytes a symbol held, %3d ranges\n",
                    text.name.c_str(), static_cast<int>(granted),
                    static_cast<double>(peak) / static_cast<double>(view.size()),
                    static_cast<int>(std::get<std::uint64_t>(value)));
      }
    }
  }
}

TYPED_TEST(DeviceRanges, HoldNoMoreMemoryThanPlannedWithPositionsOfTheirOwnWidth) {
  // Text of more than 2^32 symbols takes 64-bit positions on the device; they serve a short one.
  constexpr std::size_t length = std::size_t{1} << 21;
  for (const test::NamedText& text : texts_of(length)) {
    SCOPED_TRACE(text.name);
    DeviceCall context(test::context());
    context.memory_budget = 8 * text.symbols.size();
    check_cuda(cudaStreamSynchronize(context.stream));
    const std::uint64_t before = device_memory_in_use();
    reset_peak_device_memory(context.device);
    std::vector<TypeParam> suffixes;
    build_in_ranges<TypeParam>(context, text.view(), 0, [&](DeviceBuffer<TypeParam> range) {
      const std::size_t done = suffixes.size();
      suffixes.resize(done + range.size());
      range.copy_to(std::span(suffixes).subspan(done));
      check_cuda(cudaStreamSynchronize(context.stream));
    });
    EXPECT_LE(peak_device_memory(context.device) - before, context.memory_budget);
    EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
  }
}

TYPED_TEST(DeviceRanges, GiveTheSameAsOnePiece) {
  const std::string genome = test::random_letters(500000, 4, 'A', 21);
  std::string strain = genome;
  for (std::size_t i = 0; i < strain.size(); i += 777) strain[i] = 'A';
  const test::NamedText text =
      test::joined("", {genome, strain, std::string(50000, 'N') + genome.substr(1000)});
  Context context = test::context();
  const auto expected = build<TypeParam>(context, text.view());
  context.memory_budget = 8 * text.symbols.size();
  std::vector<std::uint64_t> shown;
  context.progress = [&](std::string_view, std::uint64_t done, std::uint64_t) {
    shown.push_back(done);
  };
  EXPECT_EQ(build<TypeParam>(context, text.view()), expected);
  EXPECT_GT(shown.size(), 3U);
  EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
  context.progress = {};
  const auto arriving = build_arriving_by<TypeParam>(parse_algorithm("auto"), context, text.view());
  arriving.await(arriving.size());
  EXPECT_TRUE(std::ranges::equal(arriving.items(), expected));
}

TYPED_TEST(DeviceRanges, TakeOverWhenRoundsDoNotFit) {
  // All suffixes are unresolved after the first sort, so that the rounds take more than everything
  // before them, which is only known then.
  const test::NamedText text = test::single("", test::repeated("AB", 1 << 21));
  Context context = test::context();
  RunReport report;
  context.report = &report;
  context.memory_budget = 22 * text.symbols.size();
  const auto suffixes = build<TypeParam>(context, text.view());
  EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
  const auto& figures = report.figures();
  EXPECT_TRUE(std::any_of(figures.begin(), figures.end(),
                          [](const auto& figure) { return figure.first == "ranges"; }));
}

TYPED_TEST(DeviceRanges, NameTheBytesWantedWhenEvenTheyDoNotFit) {
  const test::NamedText text = test::single("", test::random_letters(1 << 22, 4, 'A', 1));
  Context context = test::context();
  context.memory_budget = text.symbols.size();
  const std::uint64_t wanted =
      least_bytes<std::uint32_t>({text.symbols.size(), 0, 1, sizeof(TypeParam)});
  try {
    (void)build<TypeParam>(context, text.view());
    ADD_FAILURE() << "worked within one byte a symbol";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    EXPECT_NE(std::string(error.what()).find(std::to_string(wanted)), std::string::npos)
        << error.what() << ", expected " << wanted;
  }
}

TEST(DevicePlan, IsWhatGpusExchange) {
  const test::NamedText text = test::single("random", test::random_letters(3'000'000, 4, 'A', 5));
  std::vector<int> devices(static_cast<std::size_t>(cuda_device_count()));
  std::iota(devices.begin(), devices.end(), 0);
  const int ranks = static_cast<int>(devices.size());
  Context context = test::context();
  RunReport report;
  context.report = &report;
  const auto suffixes =
      on_ranks::build_arriving_on_devices<std::uint32_t>(context, devices, text.view());
  suffixes.await(suffixes.size());
  EXPECT_NO_THROW(check<std::uint32_t>(test::context(), text.view(), suffixes.items()));
  const cluster::RankPlan plan = plan_device_build(text.symbols.size(), ranks, ranks);
  double most = -1;
  for (const auto& [key, value] : report.figures())
    if (key == "most_exchange_bytes") most = static_cast<double>(std::get<std::uint64_t>(value));
  // Parts of the cover are equal within some per cent.
  EXPECT_NEAR(static_cast<double>(plan.sent_bytes()), most, 0.03 * most);
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
