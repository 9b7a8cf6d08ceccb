// SPDX-License-Identifier: Apache-2.0

// The radix partition for 1 to 16 pretended devices: balance, order, and what is left to sort.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "multisort/plan/radix_partition.hpp"
#include "papers/rmg/bucket_plan.hpp"
#include "primitives/host/parallel.hpp"
#include "tests/multisort/plan/pretended_devices.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

namespace plan = multisort::plan;
using testing::HasSubstr;

plan::PartitionProblem problem_of(const Chunks& chunks, std::uint64_t padding, int key_bits = 32,
                                  int digit_bits = 8) {
  plan::PartitionProblem problem;
  problem.key_bits = key_bits;
  problem.digit_bits = digit_bits;
  problem.source_sizes = sizes_of(chunks);
  const std::uint64_t keys =
      std::accumulate(problem.source_sizes.begin(), problem.source_sizes.end(), std::uint64_t{0});
  problem.destination_sizes = EqualShares{keys, chunks.size()}.sizes();
  problem.padding = padding;
  return problem;
}

/// Buckets ascend, cover all keys of each source, and no two hold a common key.
void expect_sound_buckets(const plan::RadixPartition& partition) {
  const int key_bits = partition.problem().key_bits;
  std::vector<std::uint64_t> counts(partition.problem().source_sizes.size(), 0);
  const plan::Bucket* last = nullptr;
  for (const plan::Bucket& bucket : partition.buckets()) {
    ASSERT_GT(bucket.size, 0u);
    for (std::size_t s = 0; s < counts.size(); ++s) counts[s] += bucket.counts[s];
    if (last != nullptr) {
      // The largest key of the bucket before is less than the least one of this.
      const int shift = key_bits - last->prefix_bits;
      const std::uint64_t most =
          shift == 0 ? last->prefix : last->prefix << shift | ((std::uint64_t{1} << shift) - 1);
      const int low = key_bits - bucket.prefix_bits;
      ASSERT_LT(most, low == 64 ? 0 : bucket.prefix << low);
    }
    last = &bucket;
  }
  ASSERT_EQ(counts, partition.problem().source_sizes);
}

void expect_balance(const plan::RadixPartition& partition) {
  const auto sizes = partition.destination_sizes();
  const auto& wanted = partition.problem().destination_sizes;
  ASSERT_EQ(sizes.size(), wanted.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    ASSERT_LE(sizes[d], wanted[d] + 2 * partition.problem().padding) << "destination " << d;
    ASSERT_GE(sizes[d] + 2 * partition.problem().padding, wanted[d]) << "destination " << d;
  }
  ASSERT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}),
            std::accumulate(wanted.begin(), wanted.end(), std::uint64_t{0}));
  // Only a bucket of a single value may be split.
  std::vector<std::uint64_t> begins{0};
  for (const plan::Bucket& bucket : partition.buckets())
    begins.push_back(begins.back() + bucket.size);
  for (const std::uint64_t border : begins_of(sizes)) {
    const auto next = std::lower_bound(begins.begin(), begins.end(), border);
    if (*next == border) continue;
    const auto bucket = static_cast<std::size_t>(next - begins.begin()) - 1;
    ASSERT_EQ(partition.buckets().at(bucket).prefix_bits, partition.problem().key_bits);
  }
}

class RadixPartitionTest : public testing::TestWithParam<std::size_t> {
 protected:
  /// Every distribution in equal and unequal chunks, with numbers of keys that no number divides.
  template <class Check>
  static void for_each_case(Check check) {
    for (const Distribution& distribution : distributions()) {
      for (const Cut how : {Cut::equal, Cut::unequal}) {
        for (const std::uint64_t n : {0, 1, 5, 20'011}) {
          SCOPED_TRACE(distribution.name + (how == Cut::equal ? ", equal" : ", unequal") +
                       " chunks, " + std::to_string(n) + " keys");
          check(cut(draw_bits(distribution, 32, n), GetParam(), how));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
};

TEST_P(RadixPartitionTest, BalancesEveryDistributionWithinItsPadding) {
  for_each_case([](const Chunks& chunks) {
    std::uint64_t n = 0;
    for (const auto& chunk : chunks) n += chunk.size();
    for (const std::uint64_t padding : {std::uint64_t{0}, n / chunks.size() / 200}) {
      plan::RadixPartition partition(problem_of(chunks, padding));
      const int rounds = answer(partition, chunks);
      EXPECT_LE(rounds, 4);
      if (n > 0) expect_sound_buckets(partition);
      expect_balance(partition);
      EXPECT_LE(partition.buckets().size(), 1 + 256 * (1 + (chunks.size() - 1) * 3));
    }
  });
}

TEST_P(RadixPartitionTest, TasksTileTheDestinationsAndSayWhatIsLeftToSort) {
  for_each_case([](const Chunks& chunks) {
    plan::RadixPartition partition(problem_of(chunks, 10));
    answer(partition, chunks);
    // The sorted keys, from which each destination gets its share in order.
    std::vector<std::uint64_t> keys;
    for (const auto& chunk : chunks) keys.insert(keys.end(), chunk.begin(), chunk.end());
    std::sort(keys.begin(), keys.end());
    const auto sizes = partition.destination_sizes();
    for (const std::uint64_t small : {0, 100, 1'000'000}) {
      const auto tasks = plan::sort_tasks(partition, small);
      ASSERT_EQ(tasks.size(), sizes.size());
      std::uint64_t begin = 0;
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        std::uint64_t end = 0;
        for (const plan::SortTask& task : tasks[d]) {
          ASSERT_EQ(task.begin, end);
          ASSERT_GT(task.size, 0u);
          end += task.size;
          // Whatever the order within the task, its keys agree above the bits to be sorted.
          const std::uint64_t differing = keys.at(begin + task.begin) ^ keys.at(begin + end - 1);
          ASSERT_EQ(differing >> task.remaining_bits, 0u);
        }
        ASSERT_EQ(end, sizes[d]);
        ASSERT_TRUE(small < 1'000'000 || tasks[d].size() <= 1);
        begin += sizes[d];
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, RadixPartitionTest,
                         testing::Range(std::size_t{1}, std::size_t{17}),
                         [](const auto& info) { return std::to_string(info.param); });

TEST(RadixPartition, EqualSecondDigitsInTwoSpanningBucketsAreTwoBuckets) {
  // Three devices; the borders fall into 0x00AA.... and into 0x01AA.....
  Chunks chunks(3);
  for (std::uint64_t i = 0; i < 300; ++i) {
    chunks[i % 3].push_back(0x00aa0000 + i);
    chunks[i % 3].push_back(0x01aa0000 + i);
  }
  plan::RadixPartition partition(problem_of(chunks, 0));
  EXPECT_EQ(answer(partition, chunks), 4);
  expect_sound_buckets(partition);
  EXPECT_EQ(partition.destination_sizes(), (std::vector<std::uint64_t>{200, 200, 200}));
}

TEST(RadixPartition, UniformKeysTakeOneRound) {
  for (const std::size_t devices : {1, 2, 4, 8}) {
    const Chunks chunks =
        cut(draw_bits({"", Distribution::Kind::uniform}, 64, 1'000'000), devices, Cut::equal);
    plan::RadixPartition partition(problem_of(chunks, 1'000'000 / devices / 100, 64));
    EXPECT_EQ(answer(partition, chunks), devices == 1 ? 0 : 1) << devices;
  }
}

TEST(RadixPartition, CommonPrefixesAreNotCountedAgain) {
  const Chunks chunks =
      cut(draw_bits({"", Distribution::Kind::entropy, 9}, 64, 10'000), 4, Cut::equal);
  plan::PartitionProblem problem = problem_of(chunks, 0, 64);
  problem.common_prefix_bits = 55;
  plan::RadixPartition partition(problem);
  ASSERT_EQ(partition.refinements().size(), 1u);
  EXPECT_EQ(partition.refinements()[0].prefix_bits, 55);
  EXPECT_EQ(answer(partition, chunks), 2);
  for (const plan::Bucket& bucket : partition.buckets()) EXPECT_GE(bucket.prefix_bits, 63);
  expect_balance(partition);
}

TEST(RadixPartition, DigitsThatDoNotDivideTheKey) {
  for (const int digit_bits : {1, 3, 5, 7, 11, 16}) {
    for (const int key_bits : {1, 8, 13, 16, 33, 64}) {
      const Chunks chunks =
          cut(draw_bits({"", Distribution::Kind::zipf, 1}, key_bits, 3'001), 5, Cut::unequal);
      plan::RadixPartition partition(problem_of(chunks, 0, key_bits, digit_bits));
      EXPECT_LE(answer(partition, chunks), (key_bits + digit_bits - 1) / digit_bits);
      expect_sound_buckets(partition);
      expect_balance(partition);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RadixPartition, DestinationsMayDifferInSizeAndNumberFromSources) {
  const Chunks chunks =
      cut(draw_bits({"", Distribution::Kind::uniform}, 32, 10'000), 3, Cut::equal);
  plan::PartitionProblem problem = problem_of(chunks, 0);
  problem.destination_sizes = {1, 0, 7'000, 2'999, 0};
  plan::RadixPartition partition(problem);
  answer(partition, chunks);
  EXPECT_EQ(partition.destination_sizes(), problem.destination_sizes);
}

TEST(RadixPartition, CountsBeyond32Bits) {
  plan::PartitionProblem problem;
  problem.source_sizes = {std::uint64_t{1} << 40, std::uint64_t{1} << 40};
  problem.destination_sizes = problem.source_sizes;
  plan::RadixPartition partition(problem);
  std::vector<std::uint64_t> counts(512, std::uint64_t{1} << 32);
  partition.refine(counts);
  EXPECT_TRUE(partition.refinements().empty());
  EXPECT_EQ(partition.destination_sizes(), problem.source_sizes);
}

TEST(RadixPartition, RefusesProblemsThatMakeNoSense) {
  const auto expect_refused = [](auto change, const std::string& message) {
    plan::PartitionProblem problem;
    problem.source_sizes = {3, 4};
    problem.destination_sizes = {4, 3};
    change(problem);
    expect_error([&] { plan::RadixPartition{problem}; }, ErrorKind::usage, HasSubstr(message));
  };
  expect_refused([](auto& p) { p.source_sizes = {}; }, "found 0 sources and 2 destinations");
  expect_refused([](auto& p) { p.destination_sizes = {}; }, "found 2 sources and 0 destinations");
  expect_refused([](auto& p) { p.destination_sizes = {9}; }, "found 9 places for 7 keys");
  expect_refused([](auto& p) { p.key_bits = 65; }, "found keys of 65 bits");
  expect_refused([](auto& p) { p.digit_bits = 0; }, "found digits of 0 bits");
  expect_refused([](auto& p) { p.digit_bits = 17; }, "found digits of 17 bits");
  expect_refused([](auto& p) { p.common_prefix_bits = 33; }, "found a common prefix of 33 bits");
}

TEST(RadixPartition, RefusesCountsThatDoNotAddUp) {
  plan::PartitionProblem problem;
  problem.source_sizes = {3, 4};
  problem.destination_sizes = {4, 3};
  plan::RadixPartition partition(problem);
  std::vector<std::uint64_t> counts(512, 0);
  counts[7] = 3;
  counts[256 + 9] = 5;
  expect_error([&] { partition.refine(counts); }, ErrorKind::usage,
               HasSubstr("found 5 keys counted on source 1, expected the 4 keys of the bucket"));
  plan::RadixPartition other(problem);
  counts.resize(300);
  expect_error([&] { other.refine(counts); }, ErrorKind::usage, HasSubstr("found 300 counts"));
}

}  // namespace
}  // namespace sortie::test
