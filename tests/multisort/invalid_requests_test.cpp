// SPDX-License-Identifier: Apache-2.0

// What the sort of one array refuses, and in which words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "papers/papers.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "sortie/sort.hpp"
#include "sortie/sort_chunks.hpp"
#include "sortie/sort_records.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;

TEST(InvalidSort, AnotherNumberOfValuesThanKeys) {
  std::vector<float> keys(3);
  std::vector<double> values(2);
  expect_error([&] { sort(Context{}, std::span<float>(keys), std::span<double>(values)); },
               ErrorKind::usage, HasSubstr("found different numbers of keys and values"));
}

TEST(InvalidSort, ANumberOfDevicesThatIsNone) {
  std::vector<std::uint8_t> keys{2, 1};
  Context context;
  context.backend = Backend::host;
  SortOptions options;
  for (const int devices : {-1, 1025}) {
    options.devices = devices;
    expect_error([&] { sort(context, std::span<std::uint8_t>(keys), options); }, ErrorKind::usage,
                 HasSubstr("expected 1 to 1024"));
    expect_error(
        [&] {
          sort_records(
              context, std::span<std::uint8_t>(keys), [](auto a, auto b) { return a < b; },
              devices);
        },
        ErrorKind::usage, HasSubstr("expected 1 to 1024"));
  }
  EXPECT_EQ(keys, (std::vector<std::uint8_t>{2, 1}));
}

// Stable pairs, since no processor sorts them without a copy.
TEST(InvalidSort, ScratchBeyondTheBudget) {
  // In no order: what is in order needs no scratch.
  std::vector<std::uint64_t> keys(1'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i * 7 % 1'000;
  std::vector<std::uint64_t> values(1'000);
  Context context;
  context.backend = Backend::host;
  context.memory_budget = 15'999;
  for (const SortAlgorithm algorithm : {SortAlgorithm::radix, SortAlgorithm::merge}) {
    expect_error(
        [&] {
          sort(context, std::span<std::uint64_t>(keys), std::span<std::uint64_t>(values),
               {Order::ascending, true, algorithm, 2});
        },
        ErrorKind::out_of_memory, HasSubstr("scratch of the sort needs 15.62 KiB (16000 bytes)"));
  }
  context.memory_budget = 16'000;
  sort(context, std::span<std::uint64_t>(keys), std::span<std::uint64_t>(values),
       {Order::ascending, true});
  // Keys that are encoded while they are sorted are what they were.
  std::vector<double> numbers(1'000);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = 2.5 * static_cast<double>(i * 7 % 1'000) - 1'000;
  const std::vector<double> as_they_were = numbers;
  context.memory_budget = 1'000;
  for (const SortAlgorithm algorithm : {SortAlgorithm::radix, SortAlgorithm::merge}) {
    EXPECT_THROW(sort(context, std::span<double>(numbers), std::span<std::uint64_t>(values),
                      {Order::descending, true, algorithm, 2}),
                 Error);
    EXPECT_EQ(numbers, as_they_were);
  }
}

// Enough keys that three devices would divide them, if there were memory for that.
TEST(InvalidSort, KeysAloneOnManyDevicesNeedNoBudget) {
  if (!has_fast_word_sort()) GTEST_SKIP() << "no vector sort on this processor";
  std::vector<std::uint64_t> keys(200'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i * 77'777 % keys.size();
  Context context;
  context.backend = Backend::host;
  context.memory_budget = 1;
  sort(context, std::span<std::uint64_t>(keys), {.devices = 3});
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

// Keys alone need a copy where they are merged, and otherwise where there is no vector sort.
TEST(InvalidSort, ScratchOfKeysAloneBeyondTheBudget) {
  std::vector<double> numbers(1'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i * 7 % 1'000);
  Context context;
  context.backend = Backend::host;
  context.memory_budget = 7'999;
  const auto sort_by = [&](SortAlgorithm algorithm) {
    sort(context, std::span<double>(numbers), {Order::ascending, false, algorithm, 2});
  };
  const std::vector<double> as_they_were = numbers;
  expect_error([&] { sort_by(SortAlgorithm::merge); }, ErrorKind::out_of_memory,
               HasSubstr("scratch of the sort needs 7.81 KiB (8000 bytes)"));
  EXPECT_EQ(numbers, as_they_were);
  if (has_fast_word_sort()) {
    sort_by(SortAlgorithm::radix);
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  } else {
    EXPECT_THROW(sort_by(SortAlgorithm::radix), Error);
    EXPECT_EQ(numbers, as_they_were);
  }
}

TEST(InvalidSort, AComparatorOfTheHostOnAGpu) {
  std::vector<std::uint64_t> keys(10);
  Context context;
  context.backend = Backend::cuda;
  expect_error(
      [&] {
        sort_records(context, std::span<std::uint64_t>(keys),
                     [](std::uint64_t a, std::uint64_t b) { return a < b; });
      },
      ErrorKind::unavailable, HasSubstr("a comparator of the host cannot run on a GPU"));
}

TEST(InvalidSort, AnAlgorithmOfGpusOnTheHost) {
  std::vector<std::uint64_t> keys(10);
  Context context;
  context.backend = Backend::host;
  expect_error(
      [&] {
        sort(context, std::span<std::uint64_t>(keys), {Order::ascending, false, papers::rmg});
      },
      ErrorKind::unavailable,
      "sort: found algorithm rmg on backend host, expected auto, radix, merge");
}

TEST(InvalidSort, ChunksOnTheHost) {
  std::vector<float> keys(3);
  const std::vector<ArrayChunk<float>> chunks{{keys.data(), nullptr, keys.size(), 0}};
  Context context;
  context.backend = Backend::host;
  expect_error([&] { sort_chunks(context, std::span(chunks)); }, ErrorKind::unavailable,
               HasSubstr("the chunks lie on GPUs"));
  context.backend = Backend::cuda;
  const std::vector<ArrayChunk<float>> nowhere{{nullptr, nullptr, 3, 0}};
  expect_error([&] { sort_chunks(context, std::span(nowhere)); }, ErrorKind::usage,
               HasSubstr("found a null pointer for the 3 keys of chunk 0"));
}

TEST(InvalidSort, NamesThatAreNone) {
  EXPECT_EQ(parse_sort_algorithm("merge"), SortAlgorithm::merge);
  expect_error([] { static_cast<void>(parse_sort_algorithm("quick")); }, ErrorKind::usage,
               "sort algorithm: found \"quick\", expected auto, radix, merge, rmg, tanasic, het, "
               "bitonic or rmg-repair");
  EXPECT_EQ(parse_transport("staged"), Transport::staged);
  expect_error([] { static_cast<void>(parse_transport("mail")); }, ErrorKind::usage,
               "transport: found \"mail\", expected auto, peer or staged");
  EXPECT_EQ(parse_key_type("i16"), KeyType::i16);
  expect_error([] { static_cast<void>(parse_key_type("u128")); }, ErrorKind::usage,
               "key type: found \"u128\", expected one of u8, i8, u16, i16, u32, i32, f32, u64, "
               "i64, f64, f16, bf16");
}

}  // namespace
}  // namespace sortie::test
