// SPDX-License-Identifier: Apache-2.0

// The classic sorting algorithms, against std::sort.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/random.hpp"
#include "papers/classics/classics.hpp"
#include "tests/bench/device_arrays.hpp"

namespace sortie::test {
namespace {

namespace classics = papers::classics;

using Keys = std::vector<std::uint32_t>;

/// Keys whose order, multiplicity and extremes break what sorts carelessly.
std::vector<std::pair<std::string, Keys>> inputs(std::uint64_t n) {
  Random random(n + 1);
  std::vector<std::pair<std::string, Keys>> all;
  const auto add = [&](const char* name, auto key_of) {
    Keys keys(n);
    for (std::uint64_t i = 0; i < n; ++i) keys[i] = static_cast<std::uint32_t>(key_of(i));
    all.emplace_back(name, std::move(keys));
  };
  add("uniform", [&](std::uint64_t) { return random(); });
  add("seven values", [&](std::uint64_t) { return random.below(7); });
  add("equal", [](std::uint64_t) { return 42; });
  add("sorted", [](std::uint64_t i) { return i; });
  add("reverse", [&](std::uint64_t i) { return n - i; });
  add("extremes", [&](std::uint64_t) { return random.below(2) == 0 ? ~0ULL : random.below(3); });
  return all;
}

class Classics : public testing::TestWithParam<classics::Classic> {
 protected:
  void check(std::uint64_t n) {
    for (const auto& [name, keys] : inputs(n)) {
      SCOPED_TRACE(name + ", " + std::to_string(n) + " keys");
      DeviceBuffer<std::uint32_t> array(keys, nullptr);
      GetParam().sort({array.data(), n}, {nullptr, nullptr});
      Keys sorted(n);
      array.copy_to(sorted);
      check_cuda(cudaStreamSynchronize(nullptr));
      Keys expected = keys;
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(sorted, expected);
    }
  }

  void check_pairs(const Keys& keys) {
    const std::uint64_t n = keys.size();
    std::vector<std::uint64_t> pairs(n);
    // Values in order, so that a stable sort by key sorts the words too.
    for (std::uint64_t i = 0; i < n; ++i) pairs[i] = std::uint64_t{keys[i]} << 32 | i;
    DeviceBuffer<std::uint64_t> array(pairs, nullptr);
    GetParam().sort_pairs({array.data(), n}, {nullptr, nullptr});
    std::vector<std::uint64_t> sorted(n);
    array.copy_to(sorted);
    check_cuda(cudaStreamSynchronize(nullptr));
    std::sort(pairs.begin(), pairs.end());
    ASSERT_EQ(sorted, pairs);
  }
};

TEST_P(Classics, SortAnyLength) {
  for (const std::uint64_t n : {0, 1, 2, 3, 31, 255, 256, 257, 1000, 1023, 1024, 1025, 5000}) {
    check(n);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Classics, SortManyKeys) {
  if (GetParam().most_items >= 200'001) check(200'001);
  if (GetParam().most_items >= 5'000'001) check(5'000'001);
}

TEST_P(Classics, SortPairs) {
  for (const std::uint64_t n : {2, 1000, 1025, 40'000}) {
    if (n > GetParam().most_items) continue;
    for (const auto& [name, keys] : inputs(n)) {
      SCOPED_TRACE(name + ", " + std::to_string(n) + " pairs");
      check_pairs(keys);
      if (HasFatalFailure()) return;
    }
  }
}

// Every kernel of a sort by more than one block, with few launches and comparisons: for racecheck.
// Sorts that compare all keys with each other take fewer, those of a round for each key fewest.
TEST_P(Classics, OneSortOfPairs) {
  const std::uint64_t most = GetParam().most_items;
  check_pairs(inputs(most < (1U << 17) ? 401 : most < (1U << 20) ? 2'001 : 20'001)[0].second);
}

TEST_P(Classics, CountTransactions) {
  constexpr std::uint64_t n = 1 << 12;
  const Keys keys = inputs(n)[0].second;
  DeviceBuffer<std::uint32_t> array(keys, nullptr);
  const std::vector<unsigned long long> zero{0};
  DeviceBuffer<unsigned long long> counter(zero, nullptr);
  GetParam().sort({array.data(), n}, {nullptr, counter.data()});
  std::vector<unsigned long long> counted(1);
  counter.copy_to(counted);
  Keys sorted(n);
  array.copy_to(sorted);
  check_cuda(cudaStreamSynchronize(nullptr));
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_GE(counted[0], 2 * n / 32) << "every key is read and written once at least";
}

INSTANTIATE_TEST_SUITE_P(All, Classics,
                         testing::ValuesIn(classics::all().begin(), classics::all().end()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name)
                             if (c == ' ' || c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace sortie::test
