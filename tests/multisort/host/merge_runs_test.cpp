// SPDX-License-Identifier: Apache-2.0

// Merging of any number of sorted runs, with values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/random.hpp"
#include "multisort/host/merge_runs.hpp"

namespace sortie::test {
namespace {

using multisort::Run;

void check(const std::vector<std::uint64_t>& lengths, std::uint64_t values) {
  Random random(lengths.size());
  struct Pair {
    std::uint32_t key;
    std::uint32_t value;
  };
  std::vector<std::vector<std::uint32_t>> keys;
  std::vector<std::vector<std::uint32_t>> tags;
  std::vector<Pair> expected;
  for (const std::uint64_t length : lengths) {
    auto& run = keys.emplace_back(length);
    for (std::uint32_t& key : run) key = static_cast<std::uint32_t>(random.below(values));
    std::sort(run.begin(), run.end());
    auto& tag = tags.emplace_back(length);
    for (std::size_t i = 0; i < length; ++i) {
      tag[i] = static_cast<std::uint32_t>(expected.size());
      expected.push_back({run[i], tag[i]});
    }
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Pair& a, const Pair& b) { return a.key < b.key; });
  std::vector<Run<std::uint32_t, std::uint32_t>> runs;
  for (std::size_t r = 0; r < keys.size(); ++r)
    runs.push_back({{keys[r].data(), tags[r].data()}, keys[r].size()});
  std::vector<std::uint32_t> merged(expected.size());
  std::vector<std::uint32_t> merged_tags(expected.size());
  multisort::merge_runs(runs,
                        Items<std::uint32_t, std::uint32_t>{merged.data(), merged_tags.data()});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(merged[i], expected[i].key) << i;
    ASSERT_EQ(merged_tags[i], expected[i].value) << i;
  }
}

TEST(MergeRuns, AnyNumberOfRunsOfAnyLength) {
  Random random(9);
  for (std::size_t count = 0; count <= 40; ++count) {
    for (const std::uint64_t values : {1, 3, 1'000'000}) {
      std::vector<std::uint64_t> lengths(count);
      for (std::uint64_t& length : lengths)
        length = random.below(4) == 0 ? random.below(2) : random.below(300);
      check(lengths, values);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(MergeRuns, RunsThatDoNotOverlapAndOneThatOutlastsAll) {
  check({1, 1, 1, 5'000}, 7);
  check({5'000, 1, 1, 1}, 7);
  check({0, 0, 17, 0}, 7);
}

}  // namespace
}  // namespace sortie::test
