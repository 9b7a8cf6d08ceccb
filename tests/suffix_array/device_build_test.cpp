#include <gtest/gtest.h>

#include <algorithm>

#include "sortie/apps/suffix_array/cuda/device_build.hpp"
#include "sortie/apps/suffix_array/cuda/device_check.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"
#include "suffix_array/texts.hpp"
#include "support/backend.hpp"

// The entry from device memory to device memory, which also reaches 64-bit positions on the device:
// the host entry takes those for texts that no test can hold.
namespace sortie::suffix_array::cuda {
namespace {

template <class Index>
class DeviceBuild : public testing::Test {};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceBuild, Widths);

template <Position Index>
std::vector<Index> build_on_device_of(const Context& context, const TextView& text) {
  const DeviceScope scope(context);
  const DeviceBuffer<std::uint8_t> symbols(text.symbols, context.stream);
  const DeviceBuffer<std::uint64_t> separators(text.separators, context.stream);
  const DeviceBuffer<Index> built = build_on_device<Index>(
      context, {{symbols.data(), symbols.size()}, {separators.data(), separators.size()}});
  std::vector<Index> suffixes(built.size());
  built.copy_to(suffixes);
  check_cuda(cudaStreamSynchronize(context.stream));
  return suffixes;
}

TYPED_TEST(DeviceBuild, EqualsReferenceOnTrickyTexts) {
  Context host;
  host.backend = Backend::host;
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    EXPECT_EQ(build_on_device_of<TypeParam>(test::context(), text.view()),
              build<TypeParam>(host, text.view(), Algorithm::reference));
  }
}

TYPED_TEST(DeviceBuild, OrdersLongRunsOfSeveralLetters) {
  // Runs with smaller, larger, equal and no letters behind them, all long enough to be sorted by
  // length, some of equal length, one cut off by a separator and one by the end of the text.
  const auto run = [](char letter, std::size_t length) { return std::string(length, letter); };
  const test::NamedText text = test::joined(
      "", {run('C', 9000) + "A" + run('C', 9000) + "G" + run('C', 7000) + "G" + run('G', 5000),
           run('G', 5000) + run('A', 20000) + run('C', 9000) + "A", run('C', 12000),
           run('A', 20000) + "G" + run('A', 6000)});
  const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view());
  EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
}

TYPED_TEST(DeviceBuild, OrdersRunsOfEqualLengthByWhatFollowsThem) {
  // Runs of one length, some of a rare letter, between stretches that repeat, so that only what
  // comes far behind a run decides; samples have to step over the runs.
  const std::string stretches[] = {test::random_letters(3000, 4, 'A', 2),
                                   test::random_letters(3000, 4, 'A', 3)};
  std::string letters;
  for (int i = 0; i < 40; ++i) {
    letters += stretches[i * i % 3 % 2];
    letters += std::string(5000, i % 4 == 0 ? 'A' : 'N');
  }
  const test::NamedText text = test::single("", letters);
  const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view());
  EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
}

TYPED_TEST(DeviceBuild, OrdersLongRepeats) {
  // Groups of few and of many members that agree in thousands of symbols.
  const std::string repeat = test::random_letters(20000, 4, 'A', 4);
  std::string letters;
  for (int i = 0; i < 5; ++i) letters += repeat + std::string(1, static_cast<char>('A' + i % 4));
  for (int i = 0; i < 100; ++i) letters += repeat.substr(0, 2000);
  for (const test::NamedText& text :
       {test::single("", letters), test::single("", test::repeated("ACCGT", 40000)),
        test::joined("", {letters, repeat, letters})}) {
    const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view());
    EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
  }
}

TYPED_TEST(DeviceBuild, IsCheckedOnTheDevice) {
  const test::NamedText text =
      test::joined("", {test::random_letters(70000, 4, 'A', 5), "", "ACGT"});
  const Context context = test::context();
  auto suffixes = build_on_device_of<TypeParam>(context, text.view());
  const DeviceScope scope(context);
  const DeviceBuffer<std::uint8_t> symbols(text.view().symbols, context.stream);
  const DeviceBuffer<std::uint64_t> separators(text.view().separators, context.stream);
  const DeviceText device_text{{symbols.data(), symbols.size()},
                               {separators.data(), separators.size()}};
  const auto is_right = [&] {
    const DeviceBuffer<TypeParam> on_device(std::span<const TypeParam>(suffixes), context.stream);
    try {
      check_on_device<TypeParam>(context, device_text, {on_device.data(), on_device.size()});
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::check) << error.what();
      return false;
    }
  };
  EXPECT_TRUE(is_right());
  for (const std::size_t at : {std::size_t{0}, suffixes.size() / 2, suffixes.size() - 2}) {
    SCOPED_TRACE(at);
    std::swap(suffixes[at], suffixes[at + 1]);  // two out of order
    EXPECT_FALSE(is_right());
    std::swap(suffixes[at], suffixes[at + 1]);
    const TypeParam right = suffixes[at];
    suffixes[at] = suffixes[at + 1];  // one twice
    EXPECT_FALSE(is_right());
    suffixes[at] = static_cast<TypeParam>(suffixes.size());  // none of the text
    EXPECT_FALSE(is_right());
    suffixes[at] = right;
  }
  EXPECT_TRUE(is_right());
}

TYPED_TEST(DeviceBuild, SharesAStreamWithItsCaller) {
  const test::NamedText text = test::single("", test::random_letters(50000, 4, 'A', 1));
  Context context = test::context();
  const DeviceScope scope(context);
  check_cuda(cudaStreamCreateWithFlags(&context.stream, cudaStreamNonBlocking));
  const auto suffixes = build_on_device_of<TypeParam>(context, text.view());
  EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
  check_cuda(cudaStreamDestroy(context.stream));
}

TYPED_TEST(DeviceBuild, ChecksTheMemoryOfTheRoundsWhenItIsKnown) {
  // All suffixes of an alternation are unresolved after the first sort, so that the rounds take
  // some 7 bytes a symbol, 28 MiB, more than everything before them; 3 MiB are granted.
  const test::NamedText text = test::single("", test::repeated("AB", 1 << 21));
  Context context = test::context();
  {
    const DeviceScope scope(context);
    context.memory_budget = bytes_before_rounds<TypeParam>(text.symbols.size()) + (3 << 20);
  }
  try {
    (void)build_on_device_of<TypeParam>(context, text.view());
    ADD_FAILURE() << "worked beyond its budget";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("rounds"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
