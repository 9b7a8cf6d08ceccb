// SPDX-License-Identifier: Apache-2.0

// Kernels of the tuned policy on the host: tiles of a warp and of a block. What they do between
// barriers is tested where there is no GPU, and sanitizers see it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "segsort/cuda/batch_sort.cuh"
#include "segsort/cuda/block_sort.cuh"
#include "segsort/cuda/partition.cuh"
#include "segsort/cuda/small_sort.cuh"
#include "tests/kernels/segsort_problem.hpp"

namespace sortie::segsort {
namespace {

// Neighbours alone; with middling and long segments between them; middling ones alone.
template <class Word, int ValueBytes, class Tiles = LargeTiles>
void sort_batches() {
  std::mt19937 random(3);
  Lengths neighbours;
  Lengths gaps;
  Lengths middling;
  for (int i = 0; i < 120; ++i) neighbours.push_back(1 + random() % 40);
  for (int i = 0; i < 160; ++i)
    gaps.push_back(random() % 20 == 0   ? 65 + random() % 64
                   : random() % 30 == 0 ? 200
                                        : random() % 9);
  for (int i = 0; i < 24; ++i) middling.push_back(65 + random() % 64);
  with_keys([&](Keys kind, Order order) {
    for (const Lengths& lengths : {neighbours, gaps, middling}) {
      Problem<Word, ValueBytes> problem(lengths, kind, order);
      const ChunkPlan chunks{1'000'000, 40, 1};
      cuda_on_host::run_block(Tiles::batch_threads, [&] {
        batch_sort_kernel<Word, ValueBytes, std::uint32_t, longest_in_warp, Tiles>(
            problem.arguments, problem.lists, chunks);
      });
      problem.expect_sorted([](std::uint32_t length) { return length <= longest_in_warp; });
      std::uint32_t listed = 0;
      for (const unsigned int count : problem.counters.segments) listed += count;
      ASSERT_EQ(listed, std::count(lengths.begin(), lengths.end(), 200U));
    }
  });
}

TEST(Kernels, BatchSort) {
  sort_batches<std::uint32_t, 4>();
  sort_batches<std::uint64_t, 0>();
  sort_batches<std::uint64_t, 8, SmallTiles>();
}

// What exceeds the tiles of a row of the policy is listed for the partitions.
TEST(Kernels, ListsOfEachRowOfThePolicy) {
  EXPECT_EQ(long_class(2048), long_class<SmallTiles>(2048));
  EXPECT_EQ(long_class<SmallTiles>(2049), single_block_class);
  EXPECT_LT(long_class(8192), block_classes);
  EXPECT_EQ(long_class(8193), single_block_class);
  for (const std::uint64_t length : {65'536, 65'537}) {
    const int expected = length == 65'536 ? single_block_class : grid_partition_class;
    EXPECT_EQ(long_class(length), expected);
    EXPECT_EQ(long_class<SmallTiles>(length), expected);
  }
}

TEST(Tile, PaddedWordsAreDistinctAndSpreadStrides) {
  std::set<int> places;
  for (int i = 0; i < 1024; ++i) places.insert(banked(i));
  EXPECT_EQ(places.size(), 1024U);
  std::set<int> banks;  // of a column of a 32 x 32 array of words
  for (int row = 0; row < 32; ++row) banks.insert(banked(32 * row) % 32);
  EXPECT_EQ(banks.size(), 32U);
}

template <class Word, int ValueBytes, int BlockWarps>
void sort_classes_of_block(Keys kind = Keys::two_fields) {
  Lengths lengths;
  for (int block_class = 0; block_class < block_classes; ++block_class) {
    const auto shortest = static_cast<std::uint32_t>(shortest_of_block_class(block_class));
    const std::uint32_t longest = block_capacity(block_class);
    for (const std::uint32_t length : {shortest, longest}) lengths.push_back(length);
  }
  Problem<Word, ValueBytes> problem(lengths, kind);
  for (std::uint32_t segment = 0; segment < problem.segments(); ++segment) problem.list(segment);
  cuda_on_host::run_block(32 * BlockWarps, [&] {
    block_sort_kernel<Word, ValueBytes, BlockWarps>(problem.arguments, problem.lists, 227 * 1024);
  });
  problem.expect_sorted(
      [](std::uint32_t length) { return warps_of_block<Word>(block_class(length)) == BlockWarps; });
}

// Teams of several sizes, one after the other in one block.
TEST(Kernels, BlockSort) {
  sort_classes_of_block<std::uint32_t, 4, 16>();
  sort_classes_of_block<std::uint32_t, 4, 20>();
  sort_classes_of_block<std::uint32_t, 4, 24>();
}

// Keys alone of which a tile has no more values than bins are counted.
TEST(Kernels, BlockSortOfFewValues) {
  sort_classes_of_block<std::uint32_t, 0, 16>(Keys::few);
  sort_classes_of_block<std::uint64_t, 0, 20>(Keys::few);
  sort_classes_of_block<std::uint32_t, 4, 20>(Keys::few);
  for (const Keys keys :
       {Keys::steep, Keys::few_random, Keys::high_bits, Keys::mostly_least, Keys::random}) {
    sort_classes_of_block<std::uint32_t, 4, 24>(keys);
    sort_classes_of_block<std::uint64_t, 0, 20>(keys);
  }
}

template <class Word, int ValueBytes, int BlockWarps>
void sort_segment_of_block(std::uint32_t length, Keys kind, Order order) {
  Problem<Word, ValueBytes> problem({length}, kind, order);
  problem.list(0);
  cuda_on_host::run_block(32 * BlockWarps, [&] {
    block_sort_kernel<Word, ValueBytes, BlockWarps>(problem.arguments, problem.lists, 227 * 1024);
  });
  problem.expect_sorted(any_length);
}

// A few keys in order, or in the opposite one, as in the buckets of a partition.
TEST(Kernels, BlockSortOfKeysInOrder) {
  for (const Order order : {Order::ascending, Order::descending}) {
    sort_segment_of_block<std::uint32_t, 4, 24>(6000, Keys::three_in_order, order);
    sort_segment_of_block<std::uint64_t, 0, 20>(2048, Keys::three_in_order, order);
  }
}

// A hundred keys, of which some share a bin, in tiles of several sizes; whole tiles and others.
TEST(Kernels, BlockSortOfFewKeysThatShareBins) {
  for (const std::uint32_t length : {4096U, 3900U})
    for (const Order order : {Order::ascending, Order::descending})
      sort_segment_of_block<std::uint32_t, 4, 24>(length, Keys::few_random, order);
  sort_segment_of_block<std::uint32_t, 4, 20>(5100, Keys::few_random, Order::ascending);
  sort_segment_of_block<std::uint32_t, 4, 16>(8192, Keys::few_random, Order::ascending);
  sort_segment_of_block<std::uint32_t, 4, 16>(7000, Keys::few_random, Order::descending);
  sort_segment_of_block<std::uint64_t, 8, 16>(8192, Keys::few_random, Order::ascending);
}

// About half of the keys share a bin: of 4088, less than half of the first eighth, but more of all.
// No thread may write words that another has yet to read.
TEST(Kernels, BlockSortOfOneCrowdedBin) {
  for (const std::uint32_t length : {4096U, 4088U}) {
    sort_segment_of_block<std::uint32_t, 0, 24>(length, Keys::half_greatest, Order::ascending);
    sort_segment_of_block<std::uint64_t, 0, 18>(length, Keys::half_greatest, Order::descending);
  }
  sort_segment_of_block<std::uint32_t, 4, 16>(8192, Keys::half_greatest, Order::ascending);
}

struct BinOfTile {
  int words;
  int windows;
  bool is_parted;
  bool is_of_one_key = false;  ///< windows differ in bits of the index
};

/// Makes bins one after the other, in each of which words of several windows alternate, and sorts
/// the words of each thread. Each window of a bin is that of a key, unless the bin has one key.
/// Expects that part_shared_bins() orders the words of bins that it parts by their first windows,
/// and leaves all other words where they are.
void part_bins(const std::vector<BinOfTile>& bins) {
  using T = Tile<std::uint32_t, 4, 8, 16>;
  constexpr std::uint32_t window = T::index_mask + 1;
  T tile;
  std::vector<std::uint32_t> words;
  const auto bin_word = [](std::size_t bin) {
    return static_cast<std::uint32_t>(bin + 1) << (32 - T::bin_bits);
  };
  for (std::size_t bin = 0; bin < bins.size(); ++bin)
    for (int i = 0; i < bins[bin].words; ++i) {
      const auto place = static_cast<std::uint32_t>((7 * i + i / 5) % bins[bin].windows);
      tile.keys[words.size()] = bin_word(bin) | (bins[bin].is_of_one_key ? 0 : place * window);
      words.push_back(bin_word(bin) | place * window | static_cast<std::uint32_t>(words.size()));
    }
  ASSERT_EQ(words.size(), static_cast<std::size_t>(T::capacity));
  for (auto own = words.begin(); own != words.end(); own += T::items)
    std::sort(own, own + T::items);
  for (int i = 0; i < T::capacity; ++i) tile.words[banked(i)] = words[static_cast<std::size_t>(i)];
  cuda_on_host::run_block(T::threads, [&] {
    std::uint32_t own[T::items];
    for (int r = 0; r < T::items; ++r) own[r] = tile.blocked(r);
    part_shared_bins(tile, own);
  });
  auto begin = words.begin();
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    const auto end = begin + bins[bin].words;
    const auto counted_window = [&](std::uint32_t word) {
      return std::min((word - bin_word(bin)) / window,
                      static_cast<std::uint32_t>(most_windows_of_bin - 1));
    };
    if (bins[bin].is_parted)
      std::stable_sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
        return counted_window(a) < counted_window(b);
      });
    begin = end;
  }
  for (int i = 0; i < T::capacity; ++i)
    ASSERT_EQ(tile.word(i), words[static_cast<std::size_t>(i)]) << "word " << i;
}

// The first bin ends with a warp's words, others cross their bounds; one has more words than a
// warp.
TEST(WordSort, SharedBinsAreParted) {
  part_bins({{512, 2, true},
             {164, 2, true},
             {200, 3, true},
             {9, 4, false},
             {80, 1, false},
             {400, 2, true},
             {31, 2, true},
             {600, 2, false},
             {100, 10, true},
             {412, 3, true},
             {1588, 1, false}});
  part_bins({{4096, 2, false}});
  part_bins({{1, 1, false}, {512, 2, true}, {511, 6, true}, {512, 4, true}, {2560, 2, false}});
}

// A bin of one key is nearly in order, whatever bits of the index its windows have.
TEST(WordSort, BinsOfOneKeyAreNotParted) {
  part_bins({{500, 6, false, true}, {512, 2, true}, {3084, 12, false, true}});
}

// Fewer tiles than teams have room in shared memory, more segments than teams.
template <class Word, int ValueBytes>
void sort_by_three_teams() {
  using T = Tile<Word, ValueBytes, 2, 16, true>;
  constexpr int teams = 3;
  const Lengths lengths = {1024, 600, 700, 1000, 513, 1023, 900};
  with_keys([&](Keys kind, Order order) {
    Problem<Word, ValueBytes> problem(lengths, kind, order);
    cuda_on_host::run_block(T::threads * teams, [&] {
      sort_by_teams<T>(2 * sizeof(T), problem.arguments, problem.segments(),
                       [&](unsigned int i) -> TileRange {
                         const auto [begin, length] = extent(problem.arguments, i);
                         return {begin, static_cast<std::uint32_t>(length), Buffer::input};
                       });
    });
    problem.expect_sorted(any_length);
  });
}

TEST(Kernels, Teams) {
  sort_by_three_teams<std::uint32_t, 8>();
  sort_by_three_teams<std::uint64_t, 0>();
}

TEST(Kernels, SmallSort) {
  const Lengths mixed = {40, 20, 0, 5, 300, 100, 1, 64, 65, 600, 3000, 33, 12, 2000, 17};
  const Lengths partitioned = {9000, 20, 5000};
  with_keys([&](Keys kind, Order order) {
    for (const bool has_long_ones : {false, true}) {
      Problem<std::uint32_t, 4> problem(has_long_ones ? partitioned : mixed, kind, order);
      cuda_on_host::run_block(small_partition_shape.threads, [&] {
        small_sort_kernel<std::uint32_t, 4>(problem.arguments, has_long_ones ? 1 : 3);
      });
      problem.expect_sorted(any_length);
    }
  });
}

}  // namespace
}  // namespace sortie::segsort
