// SPDX-License-Identifier: Apache-2.0

// Kernels of the tuned policy on the host: partitions by one block and by the grid.

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "segsort/cuda/grid_partition.cuh"
#include "segsort/cuda/partition.cuh"
#include "tests/kernels/segsort_problem.hpp"

namespace sortie::segsort {
namespace {

template <class Word>
void floating_buckets_ascend() {
  constexpr std::uint64_t most = static_cast<Word>(~Word{0});
  const auto codec = BitRangeCodec<Word>::make(sizeof(Word) == 4 ? KeyType::u32 : KeyType::u64,
                                               Order::ascending, 0, 8 * sizeof(Word));
  for (const std::uint64_t least : {std::uint64_t{0}, std::uint64_t{77}, most / 2})
    for (const std::uint64_t greatest : {std::uint64_t{1} << 11, most / 3, most - least})
      for (const int buckets : {fewest_buckets, cheap_buckets, most_buckets}) {
        if (greatest > most - least) continue;
        const RangeCut cut =
            RangeCut::floating(static_cast<Word>(least), static_cast<Word>(greatest), buckets);
        ASSERT_TRUE(cut.is_floating());
        ASSERT_FALSE(cut.exact());
        const Digits<Word> digits(codec, cut);
        const auto bucket_of = [&](std::uint64_t key) {
          return digits.template of_compared<true>(static_cast<Word>(key));
        };
        EXPECT_EQ(bucket_of(0), 0U);
        EXPECT_EQ(bucket_of(least), 0U);
        EXPECT_EQ(bucket_of(least + greatest), static_cast<std::uint32_t>(buckets - 1));
        EXPECT_EQ(bucket_of(most), static_cast<std::uint32_t>(buckets - 1));
        std::uint32_t before = 0;
        for (int bit = 0; bit < bits_of(static_cast<Word>(greatest)) - 1; ++bit)
          for (const std::uint64_t eighths : {0, 1, 3, 7}) {
            const std::uint64_t power = std::uint64_t{1} << bit;
            const std::uint32_t bucket = bucket_of(least + power + power / 8 * eighths);
            EXPECT_LE(before, bucket) << least << ' ' << greatest << ' ' << bit;
            before = bucket;
          }
        // The ranges of the buckets.
        const Part whole{0, 1, least, greatest, Buffer::input, LowKeys::found};
        std::uint64_t next = least;
        for (int b = 0; b < buckets; ++b) {
          const Part part = cut.part_of_floating<Word>(b, whole);
          if (part.span == most) continue;  // no key is in the bucket
          EXPECT_EQ(part.base, next) << b;
          EXPECT_EQ(bucket_of(part.base), static_cast<std::uint32_t>(b));
          EXPECT_EQ(bucket_of(part.base + part.span), static_cast<std::uint32_t>(b));
          next = part.base + part.span + 1;
        }
        EXPECT_EQ(next, least + greatest + 1);
      }
}

// Also of keys beyond those of the sample.
TEST(RangeCut, FloatingBucketsAscend) {
  floating_buckets_ascend<std::uint32_t>();
  floating_buckets_ascend<std::uint64_t>();
}

template <class Tiles>
void partition_by_one_block() {
  with_keys([&](Keys kind, Order order) {
    Problem<std::uint32_t, 8> problem({20'000, 9'300}, kind, order);
    for (std::uint32_t segment = 0; segment < problem.segments(); ++segment)
      problem.list<Tiles>(segment);
    cuda_on_host::run_block(Tiles::template single_block_shape<std::uint32_t, 8>.threads, [&] {
      single_block_partition_kernel<std::uint32_t, 8, Tiles>(problem.arguments, {problem.lists});
    });
    problem.sort_groups();
    problem.expect_sorted(any_length);
    if constexpr (std::is_same_v<Tiles, SmallTiles>) {
      ASSERT_EQ(problem.counters.groups[1], 0U) << "groups for tiles beyond 48 KiB";
    }
  });
}

TEST(Kernels, LonePartition) {
  partition_by_one_block<LargeTiles>();
}

TEST(Kernels, LonePartitionInSmallTiles) {
  partition_by_one_block<SmallTiles>();
}

// The caller knows the range of each segment's keys: exactly, and roughly.
TEST(Kernels, LonePartitionOfKnownRanges) {
  for (const Order order : {Order::ascending, Order::descending}) {
    Problem<std::uint32_t, 4> problem({20'000, 9'300}, Keys::few, order);
    const bool descends = order == Order::descending;
    const std::uint64_t least = descends ? 0xffffffff - 1'000'089 : 1'000'000;
    const std::vector<SegmentRange> ranges = {{least, least + 89}, {least / 2, 0xffffffff}};
    problem.arguments.ranges = ranges.data();
    for (std::uint32_t segment = 0; segment < problem.segments(); ++segment) problem.list(segment);
    cuda_on_host::run_block(LargeTiles::single_block_shape<std::uint32_t, 4>.threads, [&] {
      single_block_partition_kernel<std::uint32_t, 4>(problem.arguments, {problem.lists});
    });
    problem.sort_groups();
    problem.expect_sorted(any_length);
  }
}

template <class Tiles>
void partition_by_grid() {
  constexpr std::uint64_t tiles = 170'000 / Tiles::smallest_partition_tile + 2;
  for (const Keys kind : {Keys::random, Keys::steep, Keys::steep_and_least}) {
    const bool has_rows_in_scratch = kind == Keys::random;
    Problem<std::uint32_t, 4> problem({100'000, 70'000}, kind,
                                      has_rows_in_scratch ? Order::descending : Order::ascending);
    for (std::uint32_t segment = 0; segment < problem.segments(); ++segment)
      problem.list<Tiles>(segment);
    std::vector<SharedPart> shared_parts[2];
    for (int round = 0; round < 2; ++round) {
      shared_parts[round].resize(1000);
      problem.lists.shared_parts[round] = shared_parts[round].data();
    }
    std::vector<std::uint64_t> histograms(most_histogram_rows<Tiles>(problem.items(), 2) *
                                          most_buckets);
    problem.lists.histograms = histograms.data();
    std::vector<std::uint32_t> rows(tiles * most_buckets);
    problem.lists.tile_group_rows = rows.data();
    problem.lists.tile_group_row_capacity = tiles;
    problem.lists.tile_group_rows_in_scratch = has_rows_in_scratch;
    cuda_on_host::run_block(Tiles::template grid_shape<std::uint32_t, 4>.threads, [&] {
      grid_partition_kernel<std::uint32_t, 4, Tiles>(problem.arguments, {problem.lists});
    });
    cuda_on_host::run_block(Tiles::template single_block_shape<std::uint32_t, 4>.threads, [&] {
      single_block_partition_kernel<std::uint32_t, 4, Tiles>(problem.arguments, {problem.lists});
    });
    problem.sort_groups();
    problem.expect_sorted(any_length);
  }
}

TEST(Kernels, GridPartition) {
  partition_by_grid<LargeTiles>();
}

/// An array: the rows of the first partition are in the scratch buffer, those of others are few.
void partition_array(std::uint32_t length, Keys kind) {
  using Tiles = LargeTiles;
  Problem<std::uint32_t, 4> problem({length}, kind);
  problem.lists.segment(grid_partition_class, 0) = 0;
  problem.lists.counters->segments[grid_partition_class] = 1;
  std::vector<SharedPart> shared_parts[2];
  for (int round = 0; round < 2; ++round) {
    shared_parts[round].resize(most_shared_parts(problem.items(), true, Tiles::longest_group));
    problem.lists.shared_parts[round] = shared_parts[round].data();
  }
  const std::uint64_t tiles = problem.items() / Tiles::smallest_partition_tile + 1;
  const ArrayRows rows(problem.items(), tiles);
  std::vector<std::uint64_t> histograms(rows.histograms * most_buckets);
  std::vector<std::uint32_t> tile_group_rows(rows.tile_groups * most_buckets);
  problem.lists.histograms = histograms.data();
  problem.lists.input_histograms =
      reinterpret_cast<std::uint64_t*>(problem.arguments.keys_scratch) + tiles * most_buckets / 2;
  problem.lists.part_capacity = rows.parts;
  problem.lists.chunk_capacity = rows.chunks;
  problem.lists.tile_group_rows = tile_group_rows.data();
  problem.lists.tile_group_row_capacity = rows.tile_groups;
  problem.lists.tile_group_rows_in_scratch = true;
  cuda_on_host::run_block(Tiles::grid_shape<std::uint32_t, 4>.threads, [&] {
    grid_partition_kernel<std::uint32_t, 4, Tiles>(problem.arguments, {problem.lists});
  });
  cuda_on_host::run_block(Tiles::single_block_shape<std::uint32_t, 4>.threads, [&] {
    single_block_partition_kernel<std::uint32_t, 4, Tiles>(problem.arguments, {problem.lists});
  });
  problem.sort_groups();
  problem.expect_sorted(any_length);
}

TEST(Kernels, GridPartitionOfAnArray) {
  for (const std::uint32_t length : {8193, 20'000, 65'536, 65'537, 270'000})
    for (const Keys kind : {Keys::random, Keys::steep, Keys::half_greatest})
      partition_array(length, kind);
}

TEST(Kernels, GridPartitionInSmallTiles) {
  partition_by_grid<SmallTiles>();
}

}  // namespace
}  // namespace sortie::segsort
