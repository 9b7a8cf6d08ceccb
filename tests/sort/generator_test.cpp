// SPDX-License-Identifier: Apache-2.0

// Generated records: as many as asked for, the same for the same seed, distributed as they say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "apps/sort/record_generator.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using sorting::Distribution;
using sorting::GeneratedRecords;
using testing::HasSubstr;

/// All bytes that a generator gives, read by pieces of `piece` records.
std::string generate(const GeneratedRecords& wanted, const char* key, const char* value = "",
                     std::uint64_t piece = 100) {
  const auto format = sorting::parse_record_format(key, value);
  const auto source = sorting::generate_records(wanted, format);
  EXPECT_EQ(source->records(), wanted.records);
  std::string bytes;
  std::string buffer(piece * format.record_bytes(), '\0');
  while (const std::uint64_t got = source->read(buffer))
    bytes.append(buffer, 0, got * format.record_bytes());
  return bytes;
}

template <class Key>
std::vector<Key> keys_of(const std::string& bytes) {
  std::vector<Key> keys(bytes.size() / sizeof(Key));
  std::memcpy(keys.data(), bytes.data(), bytes.size());
  return keys;
}

TEST(RecordGenerator, GivesTheSameForTheSameSeedInAnyPieces) {
  for (const Distribution distribution :
       {Distribution::uniform, Distribution::normal, Distribution::zipf, Distribution::sorted,
        Distribution::reverse, Distribution::nearly_sorted, Distribution::entropy}) {
    const std::string bytes = generate({distribution, 1'001, 5, {}}, "f32", "u64");
    EXPECT_EQ(bytes.size(), 12'012u);
    EXPECT_EQ(bytes, generate({distribution, 1'001, 5, {}}, "f32", "u64", 7));
    EXPECT_NE(bytes, generate({distribution, 1'001, 6, {}}, "f32", "u64"));
    EXPECT_EQ(generate({distribution, 0, 5, {}}, "u8"), "");
  }
}

TEST(RecordGenerator, ValuesAreTheNumbersOfTheRecords) {
  const std::string bytes = generate({Distribution::uniform, 300, 1, {}}, "u16", "f64");
  for (int i = 0; i < 300; ++i) {
    double value = 0;
    std::memcpy(&value, bytes.data() + 10 * i + 2, sizeof value);
    ASSERT_EQ(value, i);
  }
}

template <class Key>
void expect_ascending(const char* type, std::uint64_t n) {
  const auto keys = keys_of<Key>(generate({Distribution::sorted, n, 2, {}}, type));
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end())) << type;
  auto reverse = keys_of<Key>(generate({Distribution::reverse, n, 2, {}}, type));
  EXPECT_TRUE(std::is_sorted(reverse.rbegin(), reverse.rend())) << type;
  EXPECT_NE(keys.front(), keys.back());
}

TEST(RecordGenerator, SortedKeysAscendInTheOrderOfEveryType) {
  expect_ascending<std::uint8_t>("u8", 5'000);
  expect_ascending<std::int8_t>("i8", 5'000);
  expect_ascending<std::int16_t>("i16", 5'000);
  expect_ascending<std::uint32_t>("u32", 5'000);
  expect_ascending<std::int32_t>("i32", 5'000);
  expect_ascending<float>("f32", 5'000);
  expect_ascending<std::uint64_t>("u64", 5'000);
  expect_ascending<std::int64_t>("i64", 5'000);
  expect_ascending<double>("f64", 5'000);
}

TEST(RecordGenerator, NearlySortedKeysAreDisplacedByAFewPlaces) {
  auto keys =
      keys_of<std::uint64_t>(generate({Distribution::nearly_sorted, 10'000, 3, 4.0}, "u64"));
  EXPECT_FALSE(std::is_sorted(keys.begin(), keys.end()));
  std::vector<std::uint64_t> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), keys[i]) - sorted.begin();
    ASSERT_NEAR(static_cast<double>(place), static_cast<double>(i), 60);
  }
}

TEST(RecordGenerator, EntropyFillsAsManyLowBits) {
  for (const int bits : {0, 1, 9, 31, 32, 40}) {
    const auto keys =
        keys_of<std::uint32_t>(generate({Distribution::entropy, 5'000, 1, double(bits)}, "u32"));
    const std::uint32_t all = std::accumulate(keys.begin(), keys.end(), 0U, std::bit_or<>());
    const int width = std::min(bits, 32);
    EXPECT_EQ(all, width == 0 ? 0U : ~0U >> (32 - width));
  }
}

TEST(RecordGenerator, ZipfFollowsItsLaw) {
  const auto keys = keys_of<std::uint64_t>(generate({Distribution::zipf, 200'000, 1, 2.0}, "u64"));
  // For exponent 2 the continuous law gives 1/2 of [1, 2), 1/6 of [2, 3).
  const auto share = [&](std::uint64_t value) {
    return static_cast<double>(std::count(keys.begin(), keys.end(), value)) / 200'000;
  };
  EXPECT_EQ(std::count(keys.begin(), keys.end(), 0U), 0);
  EXPECT_NEAR(share(1), 1.0 / 2, 0.01);
  EXPECT_NEAR(share(2), 1.0 / 6, 0.01);
  EXPECT_NEAR(share(3), 1.0 / 12, 0.01);
}

TEST(RecordGenerator, NormalHasItsMeanAndDeviation) {
  const auto keys = keys_of<float>(generate({Distribution::normal, 100'000, 1, 0.1}, "f32"));
  double mean = 0;
  double square = 0;
  for (const float key : keys) mean += key / 100'000.0;
  for (const float key : keys) square += (key - mean) * (key - mean) / 100'000.0;
  EXPECT_NEAR(mean, 0.5, 0.002);
  EXPECT_NEAR(std::sqrt(square), 0.1, 0.002);
}

TEST(RecordGenerator, RefusesParametersOutOfRange) {
  const auto format = sorting::parse_record_format("u32", "");
  for (const auto& [distribution, parameter] :
       std::map<Distribution, double>{{Distribution::entropy, 65.0},
                                      {Distribution::zipf, -1.0},
                                      {Distribution::uniform, 3.0},
                                      {Distribution::normal, std::nan("")}}) {
    expect_error(
        [&, d = distribution, p = parameter] {
          static_cast<void>(sorting::generate_records({d, 1, 1, p}, format));
        },
        ErrorKind::usage, HasSubstr("generator: found parameter"));
  }
}

TEST(RecordFormat, KnowsItsBytesAndRefusesNarrowValues) {
  const auto format = sorting::parse_record_format("i16", "f64");
  EXPECT_EQ(format.record_bytes(), 10u);
  EXPECT_EQ(sorting::describe(format), "i16 keys with f64 values");
  EXPECT_EQ(sorting::describe(sorting::parse_record_format("u8", "")), "u8 keys");
  expect_error([] { static_cast<void>(sorting::parse_record_format("u32", "u16")); },
               ErrorKind::usage, "values: found u16, expected a type of 4 or 8 bytes");
}

}  // namespace
}  // namespace sortie::test
