// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/host_memory.hpp"
#include "core/spare_array.hpp"
#include "sortie/error.hpp"
#include "tests/support/expect_error.hpp"

namespace {

using sortie::format_bytes;
using sortie::parse_bytes;
using sortie::SpareArray;

class ParseBytes : public testing::TestWithParam<std::pair<const char*, std::uint64_t>> {};

TEST_P(ParseBytes, ReadsWhatUsersWrite) {
  const auto& [text, bytes] = GetParam();
  EXPECT_EQ(parse_bytes(text), bytes);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ParseBytes,
                         testing::Values(std::pair{"0", 0ULL}, std::pair{"1000", 1000ULL},
                                         std::pair{"7B", 7ULL}, std::pair{"1K", 1ULL << 10},
                                         std::pair{"1k", 1ULL << 10}, std::pair{"1.5K", 1536ULL},
                                         std::pair{"512M", 512ULL << 20},
                                         std::pair{"4G", 4ULL << 30}, std::pair{"4GB", 4ULL << 30},
                                         std::pair{"4GiB", 4ULL << 30},
                                         std::pair{"0.5G", 1ULL << 29}, std::pair{"2T", 2ULL << 40},
                                         std::pair{"1P", 1ULL << 50},
                                         std::pair{"9007199254740993", 9007199254740993ULL},
                                         std::pair{"18446744073709551615", ~0ULL}));

class ParseBytesInvalid : public testing::TestWithParam<const char*> {};

TEST_P(ParseBytesInvalid, NamesTheText) {
  sortie::test::expect_error(
      [] { static_cast<void>(parse_bytes(GetParam())); }, sortie::ErrorKind::usage,
      "found " + sortie::quoted(GetParam()) + ", expected a size such as 1000, 512M, 1.5G");
}

INSTANTIATE_TEST_SUITE_P(NotSizes, ParseBytesInvalid,
                         testing::Values("", "G", "-1", "+1", " 1", "1 ", "1 G", "1X", "1GG", "1iB",
                                         "1Gi", "1BB", "inf", "nan", "0x10", "1e3", "1.5",
                                         "99999999999999999999", "99999999P", "1,5G"));

TEST(FormatBytes, ChoosesTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(3ULL << 29), "1.50 GiB");
  EXPECT_EQ(format_bytes((1ULL << 30) - 1), "1.00 GiB");
  EXPECT_EQ(format_bytes(~0ULL), "16.00 EiB");
}

TEST(HostMemory, SomeIsAvailable) {
  EXPECT_GT(sortie::host_memory_available(), 1ULL << 20);
}

TEST(HostMemory, PeakFollowsWhatIsTouched) {
  const std::uint64_t before = sortie::peak_host_memory();
  EXPECT_GT(before, 0U);
  constexpr std::size_t large = std::size_t{256} << 20;
  const std::vector<char> touched(large, 1);
  const volatile char* last = &touched.back();  // Clang allocates nothing that is not read
  EXPECT_EQ(*last, 1);
  EXPECT_GE(sortie::peak_host_memory(), touched.size());
}

TEST(AllocateArray, BeginsAtACacheLineAndHoldsAllElements) {
  for (const std::uint64_t size : {0, 1, 7, 64, 1000, 1 << 20}) {
    const auto array = sortie::allocate_array<std::uint64_t>(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.get()) % 64, 0U);
    for (std::uint64_t i = 0; i < size; ++i) array[i] = i;
    for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(array[i], i);
  }
  EXPECT_EQ(sortie::HostArray<int>(), nullptr);
}

TEST(RequireMemory, NamesWhatDoesNotFitTheBudget) {
  sortie::HostContext context;
  context.memory_budget = 1000;
  EXPECT_EQ(sortie::host_memory_limit(context), 1000U);
  EXPECT_NO_THROW(sortie::require_memory(context, "a test", 1000));
  EXPECT_THROW(sortie::require_memory(context, "a test", 1001), sortie::Error);
  EXPECT_THROW(sortie::require_budget(context, "a test", 1001), sortie::Error);
  EXPECT_THROW(static_cast<void>(sortie::allocate_array<int>(context, "a test", 251)),
               sortie::Error);
  context.memory_budget = 0;
  EXPECT_NO_THROW(sortie::require_budget(context, "a test", ~std::uint64_t{0}));
  EXPECT_THROW(sortie::require_memory(context, "a test", ~std::uint64_t{0}), sortie::Error);
  EXPECT_EQ(sortie::bytes_of({{2, 8}, {3, 1}}), 19U);
  EXPECT_EQ(sortie::bytes_of({{std::int64_t{1} << 62, 8}}), ~std::uint64_t{0});
}

/// The state is one for the process and a type, so each test has a type of its own.
template <int Test>
struct Number {
  std::int64_t value = 0;
};

constexpr std::int64_t large = 1 << 20;

TEST(SpareArrays, GiveTheStorageThatWasKept) {
  using Item = Number<0>;
  std::vector<Item> array(large);
  const Item* const storage = array.data();
  SpareArray<Item>::keep(std::move(array));
  EXPECT_EQ(SpareArray<Item>::take(large + 1).capacity(), 0);
  std::vector<Item> taken = SpareArray<Item>::take(large / 2);
  EXPECT_EQ(taken.data(), storage);
  EXPECT_TRUE(taken.empty());
  EXPECT_EQ(SpareArray<Item>::take(large / 2).capacity(), 0) << "it was given twice";
  // All of it can be written and read, though the system may have taken its pages.
  taken.resize(large);
  std::int64_t next = 0;
  for (Item& item : taken) item.value = next++;
  for (std::int64_t i = 0; i < large; ++i) ASSERT_EQ(taken[i].value, i);
}

TEST(SpareArrays, TheLargestAreKept) {
  using Item = Number<1>;
  std::vector<const Item*> storage;
  for (const std::int64_t size : {2 * large, large, 3 * large, large + 1, large}) {
    std::vector<Item> array(static_cast<std::size_t>(size));
    storage.push_back(array.data());
    SpareArray<Item>::keep(std::move(array));
  }
  EXPECT_EQ(SpareArray<Item>::take(2 * large).data(), storage[0]) << "the smallest that suffices";
  EXPECT_EQ(SpareArray<Item>::take(large).data(), storage[3]);
  EXPECT_EQ(SpareArray<Item>::take(large).data(), storage[2]);
  EXPECT_EQ(SpareArray<Item>::take(large).capacity(), 0);
}

TEST(SpareArrays, SmallOnesAreFreed) {
  using Item = Number<2>;
  SpareArray<Item>::keep(std::vector<Item>(100));
  SpareArray<Item>::keep({});
  EXPECT_EQ(SpareArray<Item>::take(1).capacity(), 0);
  EXPECT_EQ(SpareArray<Item>::take(0).capacity(), 0);
}

TEST(SpareArrays, SmallResultsDoNotTakeThem) {
  using Item = Number<3>;
  SpareArray<Item>::keep(std::vector<Item>(large));
  EXPECT_EQ(SpareArray<Item>::take(1).capacity(), 0);
  EXPECT_EQ(SpareArray<Item>::take(large / 5).capacity(), 0) << "too much for so few";
  EXPECT_GE(SpareArray<Item>::take(large).capacity(), large);
}

}  // namespace
