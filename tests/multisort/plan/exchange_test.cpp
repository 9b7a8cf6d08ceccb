// SPDX-License-Identifier: Apache-2.0

// Exchanges applied to the keys of pretended devices: every key moves once, destinations are tiled
// without gaps, and what they get is in order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "multisort/plan/multi_sequence.hpp"
#include "papers/rmg/bucket_plan.hpp"
#include "primitives/host/parallel.hpp"
#include "tests/multisort/plan/pretended_devices.hpp"

namespace sortie::test {
namespace {

namespace plan = multisort::plan;

/// Carries out an exchange, and checks that it moves each item once to a place of its own.
Chunks carry_out(const plan::Exchange& exchange, const Chunks& chunks) {
  Chunks received;
  std::vector<std::vector<bool>> filled;
  for (const std::uint64_t size : exchange.destination_sizes) {
    received.emplace_back(size);
    filled.emplace_back(size, false);
  }
  EXPECT_EQ(exchange.by_source.size(), chunks.size());
  for (std::size_t source = 0; source < chunks.size(); ++source) {
    std::vector<bool> sent(chunks[source].size(), false);
    for (const plan::Transfer& transfer : exchange.by_source[source]) {
      EXPECT_EQ(transfer.source, source);
      EXPECT_GT(transfer.size, 0u);
      for (std::uint64_t i = 0; i < transfer.size; ++i) {
        const std::uint64_t from = transfer.source_begin + i;
        const std::uint64_t to = transfer.destination_begin + i;
        EXPECT_FALSE(sent.at(from)) << "sent twice";
        EXPECT_FALSE(filled.at(transfer.destination).at(to)) << "filled twice";
        sent.at(from) = true;
        filled.at(transfer.destination).at(to) = true;
        received.at(transfer.destination).at(to) = chunks[source].at(from);
      }
    }
    EXPECT_EQ(std::count(sent.begin(), sent.end(), false), 0) << "not sent";
  }
  for (const auto& places : filled)
    EXPECT_EQ(std::count(places.begin(), places.end(), false), 0) << "not filled";
  return received;
}

/// A source sends to itself, then to the devices behind it, around.
void expect_rotated(const plan::Exchange& exchange) {
  const std::size_t devices = exchange.destination_sizes.size();
  for (std::size_t source = 0; source < exchange.by_source.size(); ++source) {
    std::size_t last = 0;
    for (const plan::Transfer& transfer : exchange.by_source[source]) {
      const std::size_t turn = (transfer.destination + devices - source % devices) % devices;
      ASSERT_GE(turn, last);
      last = turn;
    }
  }
}

plan::RadixPartition partition_of(const Chunks& chunks, std::uint64_t n, std::uint64_t padding) {
  plan::PartitionProblem problem;
  problem.source_sizes = sizes_of(chunks);
  problem.destination_sizes = EqualShares{n, chunks.size()}.sizes();
  problem.padding = padding;
  plan::RadixPartition partition(problem);
  answer(partition, chunks);
  return partition;
}

class ExchangeTest : public testing::TestWithParam<std::size_t> {
 protected:
  template <class Check>
  static void for_each_case(Check check) {
    for (const Distribution& distribution : distributions()) {
      for (const Cut how : {Cut::equal, Cut::unequal}) {
        for (const std::uint64_t n : {0, 3, 4'001}) {
          SCOPED_TRACE(distribution.name + (how == Cut::equal ? ", equal" : ", unequal") +
                       " chunks, " + std::to_string(n) + " keys");
          std::vector<std::uint64_t> keys = draw_bits(distribution, 32, n);
          check(cut(keys, GetParam(), how), keys);
          if (HasFatalFailure() || HasNonfatalFailure()) return;
        }
      }
    }
  }
};

TEST_P(ExchangeTest, OfBucketsSortsOnceEachDestinationIsSorted) {
  for_each_case([](const Chunks& chunks, std::vector<std::uint64_t> keys) {
    for (const std::uint64_t padding : {0, 10}) {
      const plan::RadixPartition partition = partition_of(chunks, keys.size(), padding);
      const plan::Exchange exchange = plan::exchange_of_buckets(partition);
      EXPECT_EQ(exchange.destination_sizes, partition.destination_sizes());
      expect_rotated(exchange);
      Chunks received = carry_out(exchange, in_order_of_buckets(partition, chunks));
      const auto tasks = plan::sort_tasks(partition, 0);
      std::vector<std::uint64_t> result;
      for (std::size_t d = 0; d < received.size(); ++d) {
        // Each task by itself, by the bits that it says.
        for (const plan::SortTask& task : tasks[d]) {
          const auto begin = received[d].begin() + static_cast<std::ptrdiff_t>(task.begin);
          const std::uint64_t mask = (std::uint64_t{1} << task.remaining_bits) - 1;
          std::sort(begin, begin + static_cast<std::ptrdiff_t>(task.size),
                    [&](std::uint64_t a, std::uint64_t b) { return (a & mask) < (b & mask); });
        }
        result.insert(result.end(), received[d].begin(), received[d].end());
      }
      std::sort(keys.begin(), keys.end());
      ASSERT_EQ(result, keys);
    }
  });
}

TEST(SplitTask, PartsCoverTheTask) {
  for (const std::uint64_t size : {0U, 1U, 7U, 8U, 9U, 1000U}) {
    for (const std::uint64_t most : {1U, 3U, 8U, 125U, 2000U}) {
      const auto parts = plan::split_task({5, size, 12}, most);
      std::uint64_t end = 5;
      for (const plan::SortTask& part : parts) {
        EXPECT_EQ(part.begin, end);
        EXPECT_LE(part.size, most);
        EXPECT_EQ(part.remaining_bits, 12);
        end += part.size;
      }
      EXPECT_EQ(end, 5 + size);
      EXPECT_EQ(parts.size(), std::max<std::uint64_t>(1, (size + most - 1) / most));
    }
  }
  EXPECT_EQ(plan::split_task({0, 100, 0}, 10).size(), 1U) << "equal keys";
}

// Upper halves are keys, lower halves tell where a key came from.
TEST_P(ExchangeTest, OfBucketsKeepsTheOrderOfEqualKeys) {
  for_each_case([](Chunks chunks, std::vector<std::uint64_t> keys) {
    const plan::RadixPartition partition = partition_of(chunks, keys.size(), 0);
    std::uint64_t number = 0;
    for (auto& chunk : chunks) {
      for (std::uint64_t& key : chunk) key = key << 32 | number++;
      std::stable_sort(chunk.begin(), chunk.end(), [&](std::uint64_t a, std::uint64_t b) {
        return bucket_of(partition, a >> 32) < bucket_of(partition, b >> 32);
      });
    }
    const Chunks received = carry_out(plan::exchange_of_buckets(partition), chunks);
    std::vector<std::uint64_t> result;
    for (const auto& chunk : received) result.insert(result.end(), chunk.begin(), chunk.end());
    std::stable_sort(result.begin(), result.end(),
                     [](std::uint64_t a, std::uint64_t b) { return a >> 32 < b >> 32; });
    for (std::size_t i = 1; i < result.size(); ++i) ASSERT_LT(result[i - 1], result[i]);
  });
}

TEST_P(ExchangeTest, OfRunsSortsOnceEachDestinationIsMerged) {
  for_each_case([](Chunks chunks, std::vector<std::uint64_t> keys) {
    for (auto& chunk : chunks) std::sort(chunk.begin(), chunk.end());
    const std::vector<std::uint64_t> sizes = sizes_of(chunks);
    const auto wanted = EqualShares{keys.size(), chunks.size()}.sizes();
    const auto splits = plan::split_for_destinations(
        sizes, wanted, [&](std::size_t s, std::uint64_t i) { return chunks[s][i]; }, std::less<>{});
    const plan::Exchange exchange = plan::exchange_of_runs(splits);
    EXPECT_EQ(exchange.destination_sizes, wanted);
    expect_rotated(exchange);
    Chunks received = carry_out(exchange, chunks);
    std::vector<std::uint64_t> result;
    for (auto& chunk : received) {
      std::sort(chunk.begin(), chunk.end());
      result.insert(result.end(), chunk.begin(), chunk.end());
    }
    std::sort(keys.begin(), keys.end());
    ASSERT_EQ(result, keys);
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, ExchangeTest, testing::Range(std::size_t{1}, std::size_t{17}),
                         [](const auto& info) { return std::to_string(info.param); });

TEST(Exchange, TransfersThatTouchAreOne) {
  // One source: what its destinations get lies in a row.
  const Chunks chunks = cut(draw_bits({"", Distribution::Kind::uniform}, 32, 1'000), 1, Cut::equal);
  plan::PartitionProblem problem;
  problem.source_sizes = {1'000};
  problem.destination_sizes = {250, 750};
  plan::RadixPartition partition(problem);
  answer(partition, chunks);
  EXPECT_GT(partition.buckets().size(), 100u);
  EXPECT_EQ(plan::exchange_of_buckets(partition).by_source[0].size(), 2u);
}

TEST(Mirrored, ReverseKeysOnly) {
  constexpr std::uint64_t n = 30'000;
  for (const std::size_t devices : {1, 2, 3, 8}) {
    SCOPED_TRACE(devices);
    for (const bool reverse : {false, true}) {
      Chunks chunks;
      std::uint64_t next = 0;
      for (const std::uint64_t size : EqualShares{n, devices}.sizes()) {
        chunks.emplace_back();
        for (std::uint64_t i = 0; i < size; ++i, ++next)
          chunks.back().push_back((reverse ? n - 1 - next : next) << 16);
      }
      const plan::RadixPartition partition = partition_of(chunks, n, n / devices / 200);
      // One device keeps its items in both orders.
      EXPECT_EQ(plan::is_mirrored(plan::exchange_of_buckets(partition)), reverse && devices > 1);
    }
  }
}

}  // namespace
}  // namespace sortie::test
