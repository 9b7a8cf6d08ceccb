// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/device_suffix_array.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

// The entry from device memory to device memory, which also reaches 64-bit positions on the device:
// the host entry takes those for texts that no test can hold.
namespace sortie::suffix_array::cuda {
namespace {

template <class Index>
class DeviceBuild : public testing::Test {};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceBuild, Widths);

template <Position Index>
std::vector<Index> build_on_device_of(const Context& given, const TextView& text,
                                      cudaStream_t stream = nullptr) {
  const DeviceCall context(given, stream);
  const DeviceBuffer<std::uint8_t> symbols(text.symbols, context.stream);
  const DeviceBuffer<std::uint64_t> separators(text.separators, context.stream);
  const DeviceBuffer<Index> built = build_on_device<Index>(
      context, {{symbols.data(), symbols.size()}, {separators.data(), separators.size()}},
      context.stream);
  std::vector<Index> suffixes(built.size());
  built.copy_to(suffixes);
  check_cuda(cudaStreamSynchronize(context.stream));
  return suffixes;
}

TYPED_TEST(DeviceBuild, EqualsReferenceOnTrickyTexts) {
  for (const test::NamedText& text : test::tricky_texts()) {
    SCOPED_TRACE(text.name);
    EXPECT_EQ(build_on_device_of<TypeParam>(test::context(), text.view()),
              test::reference<TypeParam>(text.view()));
  }
}

TYPED_TEST(DeviceBuild, OrdersTextsOfManyLetters) {
  // Sorted by the codes of letters: words, repeats of all lengths, runs, many records.
  std::vector<std::string> words;
  for (std::uint64_t i = 0; i < 300; ++i) {
    words.push_back(test::random_letters(2 + i % 9, 26, 'a', i) + (i % 5 == 0 ? "\n" : " "));
  }
  std::string letters;
  const std::string choice = test::random_letters(60000, 250, 1, 7);
  for (const char number : choice) letters += words[static_cast<unsigned char>(number)];
  letters += test::random_letters(3000, 256, 0, 8) + letters.substr(1000, 90000) +
             std::string(20000, ' ') + letters.substr(500, 90000) + std::string(3000, '-') +
             test::repeated("<td>", 5000) + letters.substr(7, 100);
  std::vector<std::string> records;
  for (std::size_t at = 0; at < letters.size(); at += 1 + at % 977) {
    records.push_back(letters.substr(at, 1 + at % 977));
  }
  records.insert(records.end(), {"", "", letters.substr(0, 50000), letters.substr(0, 50000)});
  for (const test::NamedText& text :
       {test::single("one", letters), test::joined("many", records)}) {
    SCOPED_TRACE(text.name);
    const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view());
    EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
  }
}

/// A text of 40 phrases of many letters in random order.
std::string phrases(std::uint64_t count, std::uint64_t seed) {
  std::vector<std::string> choice;
  for (std::uint64_t i = 0; i < 40; ++i)
    choice.push_back(test::random_letters(10 + i % 12, 60, '0', 100 + i));
  std::string letters;
  for (const char number : test::random_letters(count, 40, 0, seed))
    letters += choice[static_cast<unsigned char>(number)];
  return letters;
}

TYPED_TEST(DeviceBuild, OrdersShortTextsOfManyLetters) {
  for (const std::uint64_t count : {4, 40, 700}) {
    const std::string letters = phrases(count, count);
    for (const test::NamedText& text :
         {test::single("one", letters), test::single("twice", letters + letters),
          test::joined("many", {letters, "", letters.substr(letters.size() / 3), letters})}) {
      SCOPED_TRACE(text.name + ", " + std::to_string(count) + " phrases");
      EXPECT_EQ(build_on_device_of<TypeParam>(test::context(), text.view()),
                test::reference<TypeParam>(text.view()));
    }
  }
}

TYPED_TEST(DeviceBuild, OrdersLargeGroupsOfManyLetters) {
  // Phrases that repeat so often that the members of their groups are not compared by pairs.
  const test::NamedText text = test::single("", phrases(60000, 9));
  const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view());
  EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
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

TYPED_TEST(DeviceBuild, OrdersRunsOfShortPeriods) {
  // Periods with several runs each: of equal and different lengths, cut at every phase, followed by
  // smaller and larger letters, by ends of records and of the text, and by what repeats.
  for (const std::string unit : {"AC", "CA", "AAC", "ACGTTCA", "CCCCCCCCT", "ABBABAAB"}) {
    std::string letters;
    std::vector<std::string> records;
    for (std::size_t i = 0; i < 60; ++i) {
      const std::string run = test::repeated(unit, 1000 + i % 4 * 100);
      letters += run.substr(i % 7, run.size() - i % 9) + std::string(1, "ACGTN"[i % 5]);
      if (i % 11 == 0) letters += test::random_letters(500, 4, 'A', i / 22);
      if (i % 13 == 0) records.push_back(letters);
    }
    for (const test::NamedText& text :
         {test::single("", letters), test::joined("", records),
          test::single("", test::repeated(unit, 60000 / unit.size()))}) {
      SCOPED_TRACE(unit);
      const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view());
      EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
    }
  }
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

TYPED_TEST(DeviceBuild, OrdersVeryLongRepeatsByFewSamples) {
  // Half a million samples that are still equal after three rounds: periods, one of them with a
  // change here and there, and one of many letters, which is sorted by codes.
  std::string dna = test::repeated(test::random_letters(1000, 4, 'A', 5), 12000);
  const std::string bytes = test::repeated(test::random_letters(3000, 200, 1, 6), 3000);
  for (std::size_t i = 70000; i < dna.size() / 2; i += 99991) dna[i] = 'N';
  const DeviceCall context(test::context());
  for (const std::string& letters : {dna, bytes}) {
    const DeviceBuffer<std::uint8_t> symbols(
        {reinterpret_cast<const std::uint8_t*>(letters.data()), letters.size()}, context.stream);
    const DeviceText text{{symbols.data(), symbols.size()}, {}};
    const auto built = build_on_device<TypeParam>(context, text, context.stream);
    EXPECT_NO_THROW(
        check_on_device<TypeParam>(context, text, {built.data(), built.size()}, context.stream));
  }
}

TYPED_TEST(DeviceBuild, OrdersRunsOfManyLengths) {
  // Thousands of runs of each letter with smaller and larger letters behind them, many of equal
  // length, so that every place in the formula of a member's slot counts; N is a rare letter.
  std::string letters;
  const std::string numbers = test::random_letters(12000, 200, 1, 6);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<unsigned char>(numbers[i]);
    const char letter = "ACGTACGTACGTACGTACGTN"[(i + number) % 21];
    letters += std::string(number % 3 == 0 ? 40 : number, letter);
  }
  for (const test::NamedText& text :
       {test::single("", letters), test::joined("", {letters, letters.substr(100)})}) {
    const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view());
    EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
  }
}

TYPED_TEST(DeviceBuild, OrdersGroupsOfEverySize) {
  // Long repeats with 2 to 5000 copies: small groups, large ones that stay in place and such that
  // are sorted.
  std::string letters;
  for (const std::size_t copies : {2, 31, 32, 33, 63, 64, 65, 66, 100, 1000, 5000, 20000}) {
    const std::string unit = test::random_letters(40 + 40000 / copies, 4, 'A', 1000 + copies);
    for (std::size_t i = 0; i < copies; ++i) letters += unit;
    letters += test::random_letters(100, 4, 'A', copies);
  }
  const test::NamedText text = test::single("", letters);
  const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view());
  EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
}

TYPED_TEST(DeviceBuild, GivesListsUpWhileMemoryIsShort) {
  // Samples at every second position: with the list they would take more than is stated, so that it
  // is made again from the suffix array, that of runs as well.
  std::string runs;
  for (int i = 0; i < 20; ++i) runs += std::string(5000, 'A') + (i % 3 == 0 ? "C" : "G");
  for (const std::string& letters :
       {test::repeated("AB", 100000), runs + test::repeated("AC", 100000) + runs,
        test::repeated("AC", 100000) + "T" + runs,
        test::random_letters(5000, 256, 0, 5) + test::repeated("\x10\x90\xf0", 70000) +
            test::random_letters(5000, 256, 0, 6)}) {
    const test::NamedText text = test::single("", letters);
    const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view());
    EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
  }
}

TYPED_TEST(DeviceBuild, OrdersLongRepeatsWithRareLetters) {
  // A rare letter ends what the first sort sees of a suffix, so that members of different groups
  // agree in different numbers of symbols when samples are chosen.
  std::string repeat = test::random_letters(30000, 4, 'A', 8);
  const std::string places = test::random_letters(300, 100, 1, 9);
  std::size_t at = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto place = static_cast<unsigned char>(places[i]);
    at += place;
    repeat[at] = i % 5 == 0 ? 'R' : 'N';
    if (place % 4 == 0) repeat.replace(at, place % 7 + 1, std::string(place % 7 + 1, 'N'));
    if (place % 9 == 0) repeat.replace(at, 18, std::string(17, 'T') + 'N');
  }
  const test::NamedText text =
      test::joined("", {repeat, repeat + "A", "G" + repeat.substr(500), repeat.substr(0, 20000)});
  const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view());
  EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
}

TYPED_TEST(DeviceBuild, HoldsNoMoreMemoryThanStated) {
  // What the rounds, the runs and the samples take most for: everything in groups of runs, in few
  // large groups, in many, with samples at every second position, with wide symbols.
  constexpr std::size_t length = std::size_t{1} << 23;
  constexpr std::uint64_t constant = 2 << 20;
  const auto run = [](char letter, std::size_t letters) { return std::string(letters, letter); };
  const std::string half = test::random_letters(length / 2, 4, 'A', 11);
  std::string runs;
  while (runs.size() < length) runs += run('A', 5000) + (runs.size() % 3 == 0 ? "C" : "G");
  const auto cycles = [&](std::string_view unit, std::size_t letters) {
    return test::repeated(unit, letters / unit.size());
  };
  std::string all_letters;
  for (int i = 0; i < 256; ++i) all_letters += static_cast<char>(i);
  const test::NamedText texts[] = {
      test::single("one run", run('A', length)),
      test::single("two runs", run('A', length / 2) + "C" + run('A', length / 2) + "C"),
      test::single("many runs of one length", runs),
      test::single("period 2", cycles("AB", length)),
      test::single("period 3", cycles("ABC", length)),
      test::single("period 5", cycles("AABAB", length)),
      test::single("runs and periods", runs.substr(0, length / 2) + cycles("AC", length / 2)),
      test::single("period 256", cycles(all_letters, length)),
      test::single("period 2 of 256 letters",
                   all_letters + cycles("\x10\xf0", length) + all_letters),
      test::single("Fibonacci", test::fibonacci(length)),
      test::single("twice the same", half + half),
      test::single("random", test::random_letters(length, 4, 'A', 12)),
      test::joined("many records", std::vector<std::string>(length / 128, half.substr(0, 127)))};
  const DeviceCall context(test::context());
  for (const test::NamedText& text : texts) {
    SCOPED_TRACE(text.name);
    const TextView view = text.view();
    const DeviceBuffer<std::uint8_t> symbols(view.symbols, context.stream);
    const DeviceBuffer<std::uint64_t> separators(view.separators, context.stream);
    const DeviceText device_text{{symbols.data(), symbols.size()},
                                 {separators.data(), separators.size()}};
    check_cuda(cudaStreamSynchronize(context.stream));
    const std::uint64_t before = device_memory_in_use();
    reset_peak_device_memory(context.device);
    const auto built = build_on_device<TypeParam>(context, device_text, context.stream);
    check_cuda(cudaStreamSynchronize(context.stream));
    const std::uint64_t peak = peak_device_memory(context.device) - before;
    const double symbol_bytes = static_cast<double>(peak) / static_cast<double>(view.size());
    EXPECT_LE(peak, view.size() * most_bytes_a_symbol<TypeParam> + constant) << symbol_bytes;
    std::printf("    %-24s %5.1f bytes a symbol\n", text.name.c_str(), symbol_bytes);
    EXPECT_NO_THROW(check_on_device<TypeParam>(context, device_text, {built.data(), built.size()},
                                               context.stream));
  }
}

TYPED_TEST(DeviceBuild, IsCheckedOnTheDevice) {
  const test::NamedText text =
      test::joined("", {test::random_letters(70000, 4, 'A', 5), "", "ACGT"});
  const DeviceCall context(test::context());
  auto suffixes = build_on_device_of<TypeParam>(context, text.view());
  const DeviceBuffer<std::uint8_t> symbols(text.view().symbols, context.stream);
  const DeviceBuffer<std::uint64_t> separators(text.view().separators, context.stream);
  const DeviceText device_text{{symbols.data(), symbols.size()},
                               {separators.data(), separators.size()}};
  const auto is_right = [&] {
    const DeviceBuffer<TypeParam> on_device(std::span<const TypeParam>(suffixes), context.stream);
    try {
      check_on_device<TypeParam>(context, device_text, {on_device.data(), on_device.size()},
                                 context.stream);
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
  const DeviceScope scope(test::context());
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const auto suffixes = build_on_device_of<TypeParam>(test::context(), text.view(), stream);
  EXPECT_NO_THROW(check<TypeParam>(test::context(), text.view(), suffixes));
  check_cuda(cudaStreamDestroy(stream));
}

TYPED_TEST(DeviceBuild, ChecksTheMemoryOfTheRoundsWhenItIsKnown) {
  // All suffixes of a period of 64 letters are unresolved after the first sort, so that the rounds
  // take some 7 bytes a symbol, 28 MiB, more than everything before them; 3 MiB are granted.
  const test::NamedText text =
      test::single("", test::repeated(test::random_letters(64, 4, 'A', 5), 1 << 16));
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
