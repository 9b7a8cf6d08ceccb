// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "papers/dc3/dc3.hpp"
#include "papers/pdss/pdss.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

namespace sortie::suffix_array::cuda {
namespace {

struct Construction {
  const char* name;
  BuildOnDevice<std::uint32_t> build;
  std::uint64_t (*bytes)(std::uint64_t symbols);
  const char* rounds;  ///< figure that counts them
};

class DeviceConstruction : public testing::TestWithParam<Construction> {};

std::vector<std::uint32_t> built_by(BuildOnDevice<std::uint32_t> build, const Context& given,
                                    const TextView& text) {
  const DeviceCall context(given);
  const DeviceBuffer<std::uint8_t> symbols(text.symbols, context.stream);
  const DeviceBuffer<std::uint64_t> separators(text.separators, context.stream);
  const DeviceBuffer<std::uint32_t> built =
      build(context, {{symbols.data(), symbols.size()}, {separators.data(), separators.size()}},
            context.stream);
  std::vector<std::uint32_t> suffixes(built.size());
  built.copy_to(suffixes);
  check_cuda(cudaStreamSynchronize(context.stream));
  return suffixes;
}

TEST_P(DeviceConstruction, EqualsReferenceOnTrickyTexts) {
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    EXPECT_EQ(built_by(GetParam().build, test::context(), text.view()),
              test::reference<std::uint32_t>(text.view()));
  }
}

// Lengths of every remainder of 3, so short that the recursion ends at strings of one symbol.
TEST_P(DeviceConstruction, EqualsReferenceOnShortTextsOfEveryLength) {
  for (std::size_t length = 1; length <= 20; ++length) {
    for (const test::NamedText& text :
         {test::single("one letter", std::string(length, 'A')),
          test::single("two letters", test::random_letters(length, 2, 'A', length)),
          test::joined("records", {test::random_letters(length, 2, 'A', 1), "", "A"})}) {
      SCOPED_TRACE(text.name + std::to_string(length));
      EXPECT_EQ(built_by(GetParam().build, test::context(), text.view()),
                test::reference<std::uint32_t>(text.view()));
    }
  }
}

TEST_P(DeviceConstruction, SortsDeepRecursionsAndManyNames) {
  const std::string repeat = test::random_letters(60000, 4, 'A', 1);
  for (const test::NamedText& text :
       {test::single("one letter", std::string(300000, 'A')),
        test::single("fibonacci", test::fibonacci(300001)),
        test::joined("equal records", {repeat, repeat, repeat + "A", repeat}),
        // More than 2^21 names, so that a triple of them takes two sorts.
        test::single("bytes", test::random_letters(4000000, 256, 0, 4))}) {
    SCOPED_TRACE(text.name);
    Context context = test::context();
    RunReport report;
    context.report = &report;
    const auto suffixes = built_by(GetParam().build, context, text.view());
    EXPECT_NO_THROW(check<std::uint32_t>(test::context(), text.view(), suffixes));
    ASSERT_FALSE(report.figures().empty());
    EXPECT_EQ(report.figures()[0].first, GetParam().rounds);
    EXPECT_GE(std::get<std::uint64_t>(report.figures()[0].second), 1u);
  }
}

TEST_P(DeviceConstruction, RefusesTextsBeyondItsBudgetAndItsPositions) {
  const test::NamedText text = test::single("", test::random_letters(100000, 4, 'A', 1));
  Context context = test::context();
  context.memory_budget = GetParam().bytes(text.symbols.size()) - 1;
  const auto kind_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::check;
  };
  EXPECT_EQ(kind_of([&] { (void)built_by(GetParam().build, context, text.view()); }),
            ErrorKind::out_of_memory);
  // Refused before anything is read.
  const DeviceText long_text{{static_cast<const std::uint8_t*>(nullptr), longest_dc3_text + 1}, {}};
  EXPECT_EQ(kind_of([&] { (void)GetParam().build(test::context(), long_text, nullptr); }),
            ErrorKind::unavailable);
}

INSTANTIATE_TEST_SUITE_P(
    Papers, DeviceConstruction,
    testing::Values(Construction{"dc3", build_dc3_on_device, dc3_bytes, "dc3_levels"},
                    Construction{"pdss", build_pdss_on_device, pdss_bytes, "pdss_rounds"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sortie::suffix_array::cuda
