#include <gtest/gtest.h>

#include "sortie/apps/suffix_array/cuda/device_build.hpp"
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
  // some 6 bytes a symbol, 24 MiB, more than everything before them; 3 MiB are granted.
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
