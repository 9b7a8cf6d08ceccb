// SPDX-License-Identifier: Apache-2.0

// Groups that a sample suggests, for 1 to 16 pretended devices: every key has one, they are in the
// order of the keys and small where they should be, and borders come to lie where they should.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "multisort/plan/moves.hpp"
#include "multisort/plan/sampled_groups.hpp"
#include "primitives/host/parallel.hpp"
#include "tests/multisort/plan/key_tree_lookup.hpp"
#include "tests/multisort/plan/pretended_devices.hpp"

namespace sortie::test {
namespace {

namespace plan = multisort::plan;

constexpr std::size_t most_groups = 1024;

std::uint64_t total(const Chunks& chunks) {
  const auto sizes = sizes_of(chunks);
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

/// As devices do: of each chunk evenly spaced keys, sorted, and of these `samples` again.
std::vector<plan::SampledKey> sample_of(const Chunks& chunks, std::uint64_t samples) {
  std::vector<std::vector<plan::SampledKey>> of_chunks;
  for (std::vector<std::uint64_t> keys : chunks) {
    if (keys.empty()) continue;
    std::sort(keys.begin(), keys.end());
    const std::uint64_t count = std::min<std::uint64_t>(samples, keys.size());
    std::vector<std::uint64_t> sample;
    for (std::uint64_t i = 0; i < count; ++i)
      sample.push_back(keys[count == 1 ? 0 : i * (keys.size() - 1) / (count - 1)]);
    of_chunks.push_back(plan::weigh_sample(sample, keys.size()));
  }
  return plan::merge_samples(std::move(of_chunks));
}

plan::SampledProblem problem_of(const Chunks& chunks, int key_bits) {
  const std::uint64_t n = total(chunks);
  return {key_bits, sizes_of(chunks), n / chunks.size() / 200, most_groups};
}

/// Groups tile the keys; a key is led to the group of its range.
void expect_sound(const plan::SampledGroups& groups, const Chunks& chunks, int key_bits) {
  const std::uint64_t greatest = ~std::uint64_t{0} >> (64 - key_bits);
  ASSERT_FALSE(groups.ranges.empty());
  ASSERT_LE(groups.ranges.size(), most_groups);
  ASSERT_LE(groups.tree.nodes.size(), plan::most_sampled_nodes);
  ASSERT_LE(groups.tree.entries.size(), plan::most_sampled_entries);
  ASSERT_EQ(groups.ranges.front().least, 0u);
  ASSERT_EQ(groups.ranges.back().greatest, greatest);
  for (std::size_t g = 0; g < groups.ranges.size(); ++g) {
    const plan::KeyRange range = groups.ranges[g];
    ASSERT_LE(range.least, range.greatest);
    if (g > 0) {
      ASSERT_EQ(range.least, groups.ranges[g - 1].greatest + 1);
    }
    // Keys that no sample knew of, too.
    for (const std::uint64_t key :
         {range.least, range.greatest, range.least + (range.greatest - range.least) / 2})
      ASSERT_EQ(group_of(groups.tree, key), g) << key;
  }
  for (const auto& chunk : chunks) {
    for (const std::uint64_t key : chunk) {
      const plan::KeyRange range = groups.ranges.at(group_of(groups.tree, key));
      ASSERT_GE(key, range.least);
      ASSERT_LE(key, range.greatest);
    }
  }
}

std::optional<plan::Division> division_by(const plan::SampledGroups& groups, const Chunks& chunks,
                                          const plan::BorderTolerance& tolerance) {
  std::vector<std::uint64_t> counts(chunks.size() * most_groups, 0);
  for (std::size_t d = 0; d < chunks.size(); ++d)
    for (const std::uint64_t key : chunks[d])
      ++counts[d * most_groups + group_of(groups.tree, key)];
  return plan::divide(groups.ranges, counts, most_groups, sizes_of(chunks), tolerance);
}

class SampledGroupsTest : public testing::TestWithParam<std::size_t> {};

TEST_P(SampledGroupsTest, PlaceBordersOfEveryDistribution) {
  for (const Distribution& distribution : distributions()) {
    for (const int key_bits : {32, 64}) {
      for (const Cut how : {Cut::equal, Cut::unequal}) {
        SCOPED_TRACE(distribution.name + ", " + std::to_string(key_bits) + " bits");
        const Chunks chunks = cut(draw_bits(distribution, key_bits, 30'011), GetParam(), how);
        const plan::SampledProblem problem = problem_of(chunks, key_bits);
        const auto sample = sample_of(chunks, 4096);
        const plan::SampledGroups groups = plan::groups_of_sample(sample, problem);
        expect_sound(groups, chunks, key_bits);
        if (HasFatalFailure()) return;
        const auto division = division_by(groups, chunks, {problem.padding, 0});
        ASSERT_TRUE(division.has_value());
        for (std::size_t d = 0; d < chunks.size(); ++d) {
          EXPECT_LE(division->destination_sizes[d], chunks[d].size() + 2 * problem.padding);
          EXPECT_GE(division->destination_sizes[d] + 2 * problem.padding, chunks[d].size());
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SampledGroupsTest,
                         testing::Range(std::size_t{1}, std::size_t{17}),
                         [](const auto& info) { return std::to_string(info.param); });

// What the local sort is spared: a group of several values is no longer than a few of the even
// ones.
TEST(SampledGroups, AreAboutEquallyLarge) {
  for (const std::size_t devices : {1, 2, 5, 16}) {
    for (const Distribution& distribution : distributions()) {
      SCOPED_TRACE(distribution.name + ", " + std::to_string(devices) + " devices");
      const Chunks chunks = cut(draw_bits(distribution, 32, 200'003), devices, Cut::equal);
      const auto groups = plan::groups_of_sample(sample_of(chunks, 8192), problem_of(chunks, 32));
      const auto division = division_by(groups, chunks, {total(chunks), 0});
      ASSERT_TRUE(division.has_value());
      for (const auto& range : division->ranges)
        if (range.keys.least < range.keys.greatest) {
          EXPECT_LE(range.size, 3 * total(chunks) / most_groups) << range.keys.least;
        }
    }
  }
}

TEST(SampledGroups, WhatFallsOffAsAPowerIsInOneTable) {
  for (const int key_bits : {32, 64}) {
    std::vector<std::uint64_t> keys;
    for (int i = 0; i < 100'000; ++i)
      keys.push_back(static_cast<std::uint64_t>(std::exp2(key_bits * (i + 0.5) / 100'000)));
    const Chunks chunks = cut(keys, 2, Cut::equal);
    const auto groups =
        plan::groups_of_sample(sample_of(chunks, 4096), problem_of(chunks, key_bits));
    EXPECT_NE(groups.tree.mantissa_bits, 0);
    EXPECT_LE(groups.tree.nodes.size(), 2u);
    expect_sound(groups, chunks, key_bits);
  }
}

TEST(SampledGroups, AValueOfManyKeysHasAGroupOfItsOwn) {
  for (const std::uint64_t crowded : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xabcdef},
                                      std::uint64_t{0xfffffffe}, std::uint64_t{0xffffffff}}) {
    std::vector<std::uint64_t> keys = draw_bits({"", Distribution::Kind::uniform}, 32, 20'000);
    for (std::size_t i = 0; i < keys.size(); i += 3) keys[i] = crowded;
    const Chunks chunks = cut(keys, 3, Cut::equal);
    const auto groups = plan::groups_of_sample(sample_of(chunks, 4096), problem_of(chunks, 32));
    expect_sound(groups, chunks, 32);
    EXPECT_EQ(groups.ranges[group_of(groups.tree, crowded)], (plan::KeyRange{crowded, crowded}));
  }
}

// A sample that misleads: keys come to groups all the same, and a border that it missed is told.
TEST(SampledGroups, ABorderThatTheSampleMissedIsNotPlaced) {
  const Chunks sampled{{1, 2, 3, 4}, {5, 6, 7, 8}};
  const auto groups = plan::groups_of_sample(sample_of(sampled, 4), problem_of(sampled, 32));
  const Chunks chunks =
      cut(draw_bits({"", Distribution::Kind::uniform}, 32, 10'000), 2, Cut::equal);
  expect_sound(groups, chunks, 32);
  EXPECT_FALSE(division_by(groups, chunks, {50, 0}).has_value());
}

TEST(SampledGroups, OneDeviceAndOneKeyAndEqualKeys) {
  for (const Chunks& chunks : {Chunks{{7}}, Chunks{{9, 9, 9}, {9, 9}}, Chunks{{0}, {~0u}}}) {
    const auto groups = plan::groups_of_sample(sample_of(chunks, 16), problem_of(chunks, 32));
    expect_sound(groups, chunks, 32);
    EXPECT_TRUE(division_by(groups, chunks, {0, 0}).has_value());
  }
}

TEST(SampledGroups, EvenlySpreadKeysNeedNone) {
  const auto bits_of = [](const Distribution& distribution, std::size_t devices) {
    const Chunks chunks = cut(draw_bits(distribution, 32, 200'000), devices, Cut::equal);
    return plan::evenly_spread_bits(sample_of(chunks, 8192 / devices), problem_of(chunks, 32), 10,
                                    0);
  };
  using Kind = Distribution::Kind;
  EXPECT_EQ(bits_of({"", Kind::uniform}, 2), 32);
  EXPECT_EQ(bits_of({"", Kind::sorted}, 4), 32);
  EXPECT_EQ(bits_of({"", Kind::entropy, 26}, 2), 26);
  EXPECT_EQ(bits_of({"", Kind::entropy, 3}, 2), 3);
  EXPECT_EQ(bits_of({"", Kind::zipf, 1}, 2), std::nullopt);
  EXPECT_EQ(bits_of({"", Kind::shared_digit}, 2), std::nullopt);
  EXPECT_EQ(bits_of({"", Kind::equal}, 2), std::nullopt);
}

TEST(SampledGroups, MergesSamplesInOrder) {
  EXPECT_TRUE(plan::merge_samples({}).empty());
  for (std::size_t count = 1; count <= 9; ++count) {
    std::vector<std::vector<plan::SampledKey>> samples(count);
    for (std::uint64_t key = 0; key < 50; ++key) samples[key * key % count].push_back({key, 1});
    const auto merged = plan::merge_samples(samples);
    ASSERT_EQ(merged.size(), 50u);
    for (std::uint64_t key = 0; key < 50; ++key) EXPECT_EQ(merged[key].key, key);
  }
}

// Digits of a partition, as such a tree.
TEST(KeyTree, OfAPartitionLeadsToTheBucketsOfKeys) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (const int key_bits : {32, 64}) {
      const Chunks chunks = cut(draw_bits(distribution, key_bits, 5'003), 5, Cut::unequal);
      plan::PartitionProblem problem;
      problem.key_bits = key_bits;
      problem.source_sizes = sizes_of(chunks);
      problem.destination_sizes = problem.source_sizes;
      problem.always_divide = true;
      plan::RadixPartition partition(problem);
      answer(partition, chunks);
      std::vector<std::uint16_t> groups(partition.buckets().size());
      std::iota(groups.begin(), groups.end(), std::uint16_t{0});
      const plan::KeyTree tree = plan::key_tree_of(partition, groups);
      for (const auto& chunk : chunks)
        for (const std::uint64_t key : chunk)
          ASSERT_EQ(group_of(tree, key), bucket_of(partition, key));
    }
  }
}

TEST(KeyTree, StepsOfALogarithmicScaleAscend) {
  for (const int mantissa_bits : {1, 5, 6}) {
    std::uint64_t before = 0;
    for (std::uint64_t x = 0; x < 3'000; ++x) {
      const std::uint64_t step = plan::logarithmic_step(x, mantissa_bits);
      ASSERT_GE(step, before);
      if (step > before) {
        ASSERT_EQ(plan::least_of_step(step, mantissa_bits), x);
      }
      before = step;
    }
    for (std::uint64_t step = before;
         step <= plan::logarithmic_step(~std::uint64_t{0}, mantissa_bits); ++step) {
      const std::uint64_t least = plan::least_of_step(step, mantissa_bits);
      ASSERT_EQ(plan::logarithmic_step(least, mantissa_bits), step);
      ASSERT_EQ(plan::logarithmic_step(least - 1, mantissa_bits), step - 1);
    }
  }
}

}  // namespace
}  // namespace sortie::test
