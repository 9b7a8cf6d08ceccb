// SPDX-License-Identifier: Apache-2.0

// Exact splits of sorted sequences, against a stable merge of them all.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "core/random.hpp"
#include "multisort/plan/multi_sequence.hpp"
#include "primitives/host/parallel.hpp"
#include "tests/multisort/distributions.hpp"
#include "tests/multisort/plan/pretended_devices.hpp"

namespace sortie::test {
namespace {

namespace plan = multisort::plan;

/// How many items of each sequence are among the `rank` first of a stable merge, for every rank.
std::vector<std::vector<std::uint64_t>> all_splits(const Chunks& sequences) {
  struct Item {
    std::uint64_t key;
    std::size_t sequence;
  };
  std::vector<Item> items;
  for (std::size_t s = 0; s < sequences.size(); ++s)
    for (const std::uint64_t key : sequences[s]) items.push_back({key, s});
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.key < b.key; });
  std::vector<std::vector<std::uint64_t>> splits{std::vector<std::uint64_t>(sequences.size(), 0)};
  for (const Item& item : items) {
    splits.push_back(splits.back());
    ++splits.back()[item.sequence];
  }
  return splits;
}

void check_ranks(const Chunks& sequences, std::uint64_t step) {
  const std::vector<std::uint64_t> sizes = sizes_of(sequences);
  const auto expected = all_splits(sequences);
  const auto read = [&](std::size_t s, std::uint64_t i) { return sequences.at(s).at(i); };
  for (std::uint64_t rank = 0; rank < expected.size(); rank += step)
    ASSERT_EQ(plan::split_at_rank(sizes, rank, read, std::less<>{}), expected[rank])
        << "rank " << rank;
  ASSERT_EQ(plan::split_at_rank(sizes, expected.size() - 1, read, std::less<>{}), expected.back());
}

TEST(MultiSequence, EveryRankOfShortSequencesWithManyEqualKeys) {
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    Chunks sequences(1 + random.below(16));
    const std::uint64_t values = 1 + random.below(6);
    for (auto& sequence : sequences) {
      sequence.resize(random.below(8));
      for (std::uint64_t& key : sequence) key = random.below(values);
      std::sort(sequence.begin(), sequence.end());
    }
    check_ranks(sequences, 1);
    if (HasFatalFailure()) return;
  }
}

TEST(MultiSequence, UnequalLengthsOfEveryDistribution) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (std::size_t count = 1; count <= 16; ++count) {
      Chunks sequences;
      for (std::size_t s = 0; s < count; ++s) {
        sequences.push_back(draw_bits(distribution, 32, s == 1 ? 1000 : 3 * s * s, s));
        std::sort(sequences.back().begin(), sequences.back().end());
      }
      check_ranks(sequences, 37);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(MultiSequence, OrderIsTheComparators) {
  const Chunks sequences{{9, 5, 1}, {8, 5, 5, 2}};
  const auto sizes = sizes_of(sequences);
  const auto read = [&](std::size_t s, std::uint64_t i) { return sequences[s][i]; };
  const auto split = plan::split_at_rank(sizes, 4, read, std::greater<>{});  // 9 8 5 5
  EXPECT_EQ(split, (std::vector<std::uint64_t>{2, 2}));
}

TEST(MultiSequence, NoSequencesAndEmptyOnes) {
  const auto read = [](std::size_t, std::uint64_t) { return 0; };
  EXPECT_TRUE(plan::split_at_rank({}, 0, read, std::less<>{}).empty());
  const std::vector<std::uint64_t> sizes(3, 0);
  EXPECT_EQ(plan::split_at_rank(sizes, 0, read, std::less<>{}), sizes);
}

// Chunks that exist only as functions: positions beyond 32 bits, and how many reads it takes.
TEST(MultiSequence, SixteenSequencesOf2To34ItemsTakeFewReads) {
  constexpr std::uint64_t length = std::uint64_t{1} << 34;
  const std::vector<std::uint64_t> sizes(16, length);
  std::uint64_t reads = 0;
  const auto read = [&](std::size_t s, std::uint64_t i) {
    ++reads;
    return (i << 4 | s) ^ (s % 2 == 0 ? 0 : 6);  // distinct keys, interleaved
  };
  for (const std::uint64_t rank : {length / 3, 8 * length + 5, 16 * length - 1}) {
    reads = 0;
    const auto split = plan::split_at_rank(sizes, rank, read, std::less<>{});
    EXPECT_EQ(std::accumulate(split.begin(), split.end(), std::uint64_t{0}), rank);
    std::uint64_t last = 0;
    std::uint64_t first = ~std::uint64_t{0};
    for (std::size_t s = 0; s < 16; ++s) {
      if (split[s] > 0) last = std::max(last, read(s, split[s] - 1));
      if (split[s] < length) first = std::min(first, read(s, split[s]));
    }
    EXPECT_LT(last, first);
    EXPECT_LT(reads, 10'000u);
  }
}

TEST(MultiSequence, DestinationsTileTheSequences) {
  Random random(2);
  for (std::size_t destinations = 1; destinations <= 16; ++destinations) {
    Chunks sequences(destinations);
    std::uint64_t items = 0;
    for (auto& sequence : sequences) {
      sequence.resize(random.below(100));
      items += sequence.size();
      for (std::uint64_t& key : sequence) key = random.below(20);
      std::sort(sequence.begin(), sequence.end());
    }
    const auto sizes = sizes_of(sequences);
    const auto wanted = EqualShares{items, destinations}.sizes();
    const auto read = [&](std::size_t s, std::uint64_t i) { return sequences.at(s).at(i); };
    const auto splits = plan::split_for_destinations(sizes, wanted, read, std::less<>{});
    ASSERT_EQ(splits.size(), destinations + 1);
    EXPECT_EQ(splits.front(), std::vector<std::uint64_t>(destinations, 0));
    EXPECT_EQ(splits.back(), sizes);
    for (std::size_t d = 0; d < destinations; ++d) {
      std::uint64_t got = 0;
      for (std::size_t s = 0; s < destinations; ++s) {
        ASSERT_LE(splits[d][s], splits[d + 1][s]);
        got += splits[d + 1][s] - splits[d][s];
      }
      EXPECT_EQ(got, wanted[d]);
    }
  }
}

TEST(Shares, DifferByOneAtMostAndLoseNothing) {
  for (const std::uint64_t items : {0, 1, 15, 16, 17, 1000, 1'000'003}) {
    for (std::size_t count = 1; count <= 17; ++count) {
      const auto sizes = EqualShares{items, count}.sizes();
      const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
      EXPECT_LE(*most - *least, 1u);
      EXPECT_EQ(begins_of(sizes).back(), items);
    }
  }
}

}  // namespace
}  // namespace sortie::test
