// SPDX-License-Identifier: Apache-2.0

// Moves applied to the keys of pretended devices: every key comes to a place of its own at its
// destination, straight or by way of parking; groups stay in order and do not reach over borders.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "multisort/plan/moves.hpp"
#include "primitives/host/parallel.hpp"
#include "tests/multisort/plan/pretended_devices.hpp"

namespace sortie::test {
namespace {

namespace plan = multisort::plan;

using Reaches = std::function<bool(std::size_t, std::size_t)>;

constexpr int key_bits = 32;

plan::RadixPartition partition_of(const Chunks& chunks, int digit_bits, std::uint64_t padding) {
  plan::PartitionProblem problem;
  problem.key_bits = key_bits;
  problem.digit_bits = digit_bits;
  problem.source_sizes = sizes_of(chunks);
  problem.destination_sizes = problem.source_sizes;
  problem.padding = padding;
  problem.always_divide = true;
  plan::RadixPartition partition(std::move(problem));
  answer(partition, chunks);
  return partition;
}

/// Carries out the moves, as the devices do, and returns what each destination has.
Chunks carry_out(const plan::RadixPartition& partition, const plan::MovePlan& moves,
                 const Chunks& chunks) {
  std::vector<std::size_t> group_of(partition.buckets().size());
  for (std::size_t g = 0; g < moves.groups.size(); ++g)
    for (std::size_t b = moves.groups[g].first_bucket; b < moves.groups[g].end_bucket; ++b)
      group_of[b] = g;
  Chunks received;
  std::vector<std::vector<bool>> filled;
  for (std::size_t d = 0; d < chunks.size(); ++d) {
    const std::uint64_t size = moves.destination_begins[d + 1] - moves.destination_begins[d];
    received.emplace_back(size);
    filled.emplace_back(size, false);
  }
  const auto put = [&](std::size_t destination, std::uint64_t place, std::uint64_t key) {
    EXPECT_FALSE(filled.at(destination).at(place)) << "filled twice";
    filled[destination][place] = true;
    received[destination][place] = key;
  };
  for (std::size_t source = 0; source < chunks.size(); ++source) {
    std::vector<std::uint64_t> staged(moves.staged[source]);
    std::vector<std::uint64_t> taken(moves.groups.size(), 0);
    for (const std::uint64_t key : chunks[source]) {
      const std::size_t group = group_of[bucket_of(partition, key)];
      const plan::MovePlace& place = moves.places[source][group];
      EXPECT_GT(place.size, 0u);
      const std::uint64_t at = place.begin + taken[group]++;
      if (place.is_staged) {
        staged.at(at) = key;
      } else {
        put(place.destination, at, key);
      }
    }
    std::uint64_t sent = 0;
    for (const plan::Transfer& transfer : moves.transfers[source]) {
      EXPECT_EQ(transfer.source, source);
      sent += transfer.size;
      for (std::uint64_t i = 0; i < transfer.size; ++i)
        put(transfer.destination, transfer.destination_begin + i,
            staged.at(transfer.source_begin + i));
    }
    EXPECT_EQ(sent, moves.staged[source]);
  }
  for (const auto& places : filled)
    EXPECT_EQ(std::count(places.begin(), places.end(), false), 0) << "not filled";
  return received;
}

/// Each group of the sorted array, and the range of its keys.
void expect_groups(const plan::MovePlan& moves, const Chunks& received, std::size_t most_groups) {
  std::vector<std::uint64_t> all;
  for (const auto& keys : received) all.insert(all.end(), keys.begin(), keys.end());
  EXPECT_LE(moves.groups.size(), most_groups);
  std::uint64_t position = 0;
  std::uint64_t greatest_before = 0;
  for (const plan::MoveGroup& group : moves.groups) {
    EXPECT_EQ(group.begin, position);
    position += group.size;
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(group.begin);
    const auto [least, greatest] =
        std::minmax_element(begin, begin + static_cast<std::ptrdiff_t>(group.size));
    EXPECT_GE(*least, greatest_before);
    greatest_before = *greatest;
    EXPECT_GE(*least, group.keys.least);
    EXPECT_LE(*greatest, group.keys.greatest);
  }
  EXPECT_EQ(position, all.size());
}

void check(const Distribution& distribution, std::size_t devices, Cut how, const Reaches& reaches) {
  SCOPED_TRACE(distribution.name + ", " + std::to_string(devices) + " devices");
  const std::uint64_t n = 2'000 + 7 * devices;
  const Chunks chunks = cut(draw_bits(distribution, key_bits, n), devices, how);
  for (const std::size_t most_groups : {4 * devices, std::size_t{1024}}) {
    const plan::RadixPartition partition = partition_of(chunks, 6, n / devices / 100);
    if (partition.buckets().size() < 2) continue;  // nothing is moved then
    const plan::MovePlan moves =
        plan::plan_moves(plan::division_of(partition), most_groups, n, reaches);
    const Chunks received = carry_out(partition, moves, chunks);
    expect_groups(moves, received, most_groups);
  }
}

TEST(Moves, ToDevicesThatAreReached) {
  for (const Distribution& distribution : distributions())
    for (std::size_t devices = 1; devices <= 16; ++devices)
      for (const Cut how : {Cut::equal, Cut::unequal})
        check(distribution, devices, how, [](std::size_t, std::size_t) { return true; });
}

TEST(Moves, ByWayOfParkingWhereNoOtherDeviceIsReached) {
  for (const Distribution& distribution : distributions())
    for (const std::size_t devices : {2, 3, 8})
      check(distribution, devices, Cut::unequal,
            [](std::size_t source, std::size_t destination) { return source == destination; });
}

TEST(Moves, ByWayOfParkingWhereSomeAreReached) {
  for (const Distribution& distribution : distributions())
    check(distribution, 6, Cut::equal, [](std::size_t source, std::size_t destination) {
      return source / 2 == destination / 2;
    });
}

// A bucket of one value that a border splits cannot go straight: its items of a source may belong
// to two destinations.
TEST(Moves, ASplitBucketIsParked) {
  const Chunks chunks{{5, 5, 9, 9}, {1, 5, 5, 5}};
  const plan::RadixPartition partition = partition_of(chunks, 8, 0);
  const plan::MovePlan moves = plan::plan_moves(plan::division_of(partition), 1024, 100,
                                                [](std::size_t, std::size_t) { return true; });
  const Chunks received = carry_out(partition, moves, chunks);
  EXPECT_EQ(received[0], (std::vector<std::uint64_t>{1, 5, 5, 5}));
  EXPECT_EQ(received[1], (std::vector<std::uint64_t>{5, 5, 9, 9}));
  EXPECT_EQ(moves.staged, (std::vector<std::uint64_t>{0, 3}));
}

TEST(Moves, ALargeBucketIsLookedIntoRatherThanMovedWhole) {
  // The border lies within the padding of an end of a bucket that holds nearly all keys.
  std::vector<std::uint64_t> keys(1'000);
  for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = i < 499 ? i << 8 : (1u << 31) + i;
  const Chunks chunks = cut(keys, 2, Cut::equal);
  plan::PartitionProblem problem;
  problem.key_bits = key_bits;
  problem.digit_bits = 1;
  problem.source_sizes = sizes_of(chunks);
  problem.destination_sizes = problem.source_sizes;
  problem.padding = 5;
  plan::RadixPartition coarse(problem);
  answer(coarse, chunks);
  EXPECT_EQ(coarse.buckets().size(), 2u);
  problem.largest_moved = 50;
  plan::RadixPartition fine(problem);
  answer(fine, chunks);
  EXPECT_GT(fine.buckets().size(), 2u);
}

}  // namespace
}  // namespace sortie::test
