// SPDX-License-Identifier: Apache-2.0

// The kernels of the radix partition on the host: counts of groups and of digits, samples, and the
// move of a tile's items to their groups.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "multisort/cuda/radix/count_kernels.cuh"
#include "multisort/cuda/radix/move_kernel.cuh"
#include "multisort/plan/key_tree.hpp"
#include "tests/multisort/plan/key_tree_lookup.hpp"

namespace sortie::multisort {
namespace {

constexpr KeyOrder plain_order{};
constexpr KeyOrder descending_floats{KeyKind::floating_point, Order::descending};

/// Random keys; `skewed`: three of four are one value.
template <class Word>
std::vector<Word> make_keys(std::size_t count, bool skewed) {
  std::mt19937_64 random(count);
  std::vector<Word> keys(count);
  for (Word& key : keys)
    key = skewed && random() % 4 != 0 ? static_cast<Word>(77) : static_cast<Word>(random());
  return keys;
}

/// A look-up by the topmost digit of 6 bits.
template <class Word>
GroupLookup leading_digit() {
  GroupLookup lookup;
  lookup.shift = 8 * static_cast<int>(sizeof(Word)) - 6;
  lookup.mask = 63;
  return lookup;
}

/// A look-up by tables: 16 ranges of all keys, the first of which is divided in 16 once more.
template <class Word>
struct TreeTables {
  plan::KeyTree tree;
  std::vector<std::uint16_t> entries;  ///< aligned as the kernels need them
  GroupLookup lookup;

  TreeTables() {
    constexpr int bits = 8 * static_cast<int>(sizeof(Word));
    tree.nodes = {{0, bits - 4, 15, 0}, {0, bits - 8, 15, 16}};
    tree.entries = {plan::KeyTree::node_flag | 1};
    for (std::uint16_t group = 16; group < 31; ++group) tree.entries.push_back(group);
    for (std::uint16_t group = 0; group < 16; ++group) tree.entries.push_back(group);
    lookup.direct = false;
    lookup.nodes = tree.nodes.data();
    lookup.entries = tree.entries.data();
    lookup.node_count = static_cast<std::uint32_t>(tree.nodes.size());
    lookup.entry_count = static_cast<std::uint32_t>(tree.entries.size());
    lookup.root = tree.nodes.front();
  }
};

/// The group of each key, by one of the two look-ups.
template <class Word>
struct Groups {
  const TreeTables<Word>* tables;  ///< null: the leading digit
  KeyCodec<Word> codec;

  std::uint32_t operator()(Word key) const {
    const Word word = codec.encoded(key);
    const GroupLookup digit = leading_digit<Word>();
    return tables != nullptr ? test::group_of(tables->tree, word)
                             : static_cast<std::uint32_t>(word >> digit.shift) & digit.mask;
  }
};

template <class Word, class Lookup>
void run_count(const CountArguments& arguments, std::uint32_t tile) {
  for (std::uint32_t batch = arguments.first_batch; batch < arguments.end_batch; ++batch)
    cuda_on_host::run_block(
        count_threads, [&] { count_kernel<Word, Lookup>(arguments, tile); },
        batch - arguments.first_batch);
}

/// Rows of counts: of batches, and of the tiles of each batch.
struct Counts {
  std::uint32_t tile;
  std::uint32_t tiles_per_batch;
  std::vector<std::uint64_t> batch_rows;
  std::vector<std::uint32_t> tile_rows;
  std::vector<std::uint64_t> range{~std::uint64_t{0}, 0};
};

template <class Word, class Lookup>
Counts count(const std::vector<Word>& keys, KeyOrder order, const GroupLookup& lookup,
             std::uint32_t tile, std::uint32_t tiles_per_batch) {
  const auto tiles = static_cast<std::uint32_t>((keys.size() - 1) / tile + 1);
  const std::uint32_t batches = (tiles - 1) / tiles_per_batch + 1;
  Counts counts{tile, tiles_per_batch, std::vector<std::uint64_t>(batches * most_groups, 7),
                std::vector<std::uint32_t>(batches * tiles_per_batch * most_groups, 7)};
  CountArguments arguments;
  arguments.keys = keys.data();
  arguments.size = keys.size();
  arguments.order = order;
  arguments.lookup = lookup;
  arguments.tiles_per_batch = tiles_per_batch;
  arguments.end_batch = batches;
  arguments.batch_rows = counts.batch_rows.data();
  arguments.tile_rows = counts.tile_rows.data();
  arguments.range = counts.range.data();
  run_count<Word, Lookup>(arguments, tile);
  return counts;
}

template <class T>
class PartitionKernelsOnHost : public ::testing::Test {};
// The two widths of the arithmetic on keys: 32 and 64 bits.
using Words = ::testing::Types<std::uint8_t, std::uint64_t>;
TYPED_TEST_SUITE(PartitionKernelsOnHost, Words);

template <class Word, class Lookup>
void expect_counts(std::size_t size, bool skewed, KeyOrder order, const TreeTables<Word>* tables) {
  const auto keys = make_keys<Word>(size, skewed);
  const Groups<Word> group_of{tables, order.codec<Word>()};
  constexpr std::uint32_t tile = 700;
  constexpr std::uint32_t tiles_per_batch = 2;
  const GroupLookup lookup = tables != nullptr ? tables->lookup : leading_digit<Word>();
  const Counts found = count<Word, Lookup>(keys, order, lookup, tile, tiles_per_batch);
  std::vector<std::uint64_t> expected(most_groups);
  for (std::size_t i = 0; i < size; ++i) {
    if (i % (tile * tiles_per_batch) == 0) std::fill(expected.begin(), expected.end(), 0);
    if (i % tile == 0) {
      for (std::uint32_t g = 0; g < most_groups; ++g)
        ASSERT_EQ(found.tile_rows[i / tile * most_groups + g], expected[g]) << "tile " << i / tile;
    }
    ++expected[group_of(keys[i])];
    if ((i + 1) % (tile * tiles_per_batch) == 0 || i + 1 == size) {
      const std::size_t batch = i / (tile * tiles_per_batch);
      for (std::uint32_t g = 0; g < most_groups; ++g)
        ASSERT_EQ(found.batch_rows[batch * most_groups + g], expected[g]) << "batch " << batch;
    }
  }
  Word least = std::numeric_limits<Word>::max();
  Word greatest = 0;
  for (const Word key : keys) {
    least = std::min(least, group_of.codec.encoded(key));
    greatest = std::max(greatest, group_of.codec.encoded(key));
  }
  EXPECT_EQ(found.range[0], least);
  EXPECT_EQ(found.range[1], greatest);
}

TYPED_TEST(PartitionKernelsOnHost, CountGroupsOfTilesAndBatches) {
  using Word = TypeParam;
  const TreeTables<Word> tables;
  for (const std::size_t size : {std::size_t{1}, std::size_t{1400}, std::size_t{3001}}) {
    expect_counts<Word, DirectLookup<Word>>(size, false, plain_order, nullptr);
    expect_counts<Word, TreeLookup<Word, true>>(size, true, plain_order, &tables);
  }
  expect_counts<Word, DirectLookup<Word>>(900, true, descending_floats, nullptr);
  expect_counts<Word, TreeLookup<Word, false>>(900, false, descending_floats, &tables);
}

TYPED_TEST(PartitionKernelsOnHost, CountDigitsBehindPrefixes) {
  using Word = TypeParam;
  const auto keys = make_keys<Word>(20'000, true);
  RefineArguments arguments;
  arguments.keys = keys.data();
  arguments.size = keys.size();
  arguments.shift = 8 * static_cast<int>(sizeof(Word)) - 8;
  arguments.digit_bits = 5;
  arguments.refinements = 2;
  arguments.prefixes[0] = 0;
  arguments.prefixes[1] = 6;
  std::vector<std::uint64_t> counts(2 << arguments.digit_bits);
  arguments.counts = counts.data();
  cuda_on_host::run_block(count_threads, [&] { refine_kernel<Word>(arguments); });

  std::vector<std::uint64_t> expected(counts.size());
  for (const Word key : keys) {
    const std::uint64_t leading = std::uint64_t{key} >> arguments.shift;
    for (std::size_t w = 0; w < 2; ++w)
      if (leading >> arguments.digit_bits == arguments.prefixes[w])
        ++expected[w * 32 + leading % 32];
  }
  EXPECT_EQ(counts, expected);
}

TYPED_TEST(PartitionKernelsOnHost, SampleKeysOfTheirRanges) {
  using Word = TypeParam;
  std::vector<Word> keys(100);
  std::iota(keys.begin(), keys.end(), Word{3});
  SampleArguments arguments;
  arguments.keys = keys.data();
  arguments.size = keys.size();
  arguments.samples = 12;
  std::vector<Word> sample(arguments.samples);
  arguments.sample = sample.data();
  const auto run = [&] {
    cuda_on_host::run_block(count_threads, [&] { sample_kernel<Word>(arguments); });
  };
  run();
  for (std::size_t i = 0; i < sample.size(); ++i) EXPECT_EQ(sample[i], keys[99 * i / 11]);
  arguments.scattered = true;
  run();
  for (std::size_t i = 0; i < sample.size(); ++i) {
    EXPECT_GE(sample[i], keys[100 * i / 12]);
    EXPECT_LT(sample[i], keys[0] + 100 * (i + 1) / 12);
  }
}

/// Moves all tiles and compares the groups: pairs stay in order within a group, keys alone need not.
template <class Word, int ValueBytes, class Lookup>
void expect_moves(std::size_t tiles, std::size_t missing, bool skewed, KeyOrder order,
                  const TreeTables<Word>* tables, std::uint32_t heavy_hitter = no_group) {
  using Value = segsort::ValueWord<ValueBytes>;
  constexpr MoveShape shape = move_shape<Word, ValueBytes>;
  constexpr auto tile = static_cast<std::uint32_t>(shape.tile());
  const std::size_t size = tiles * tile - missing;
  const auto keys = make_keys<Word>(size, skewed);
  std::vector<Value> values(size);
  std::iota(values.begin(), values.end(), Value{0});
  const GroupLookup lookup = tables != nullptr ? tables->lookup : leading_digit<Word>();
  const Groups<Word> group_of{tables, order.codec<Word>()};

  Counts counts = count<Word, Lookup>(keys, order, lookup, tile, 2);
  // Exclusive prefix sums over the batches, and where each group begins.
  std::vector<std::uint64_t> begins(most_groups + 1);
  for (std::uint32_t g = 0; g < most_groups; ++g) {
    std::uint64_t sum = 0;
    for (std::size_t row = g; row < counts.batch_rows.size(); row += most_groups)
      sum += std::exchange(counts.batch_rows[row], sum);
    begins[g + 1] = begins[g] + sum;
  }
  ASSERT_EQ(begins.back(), size);

  std::vector<Word> keys_out(size);
  std::vector<Value> values_out(size);
  std::vector<std::uint64_t> key_places(most_groups);
  std::vector<std::uint64_t> value_places(most_groups);
  for (std::uint32_t g = 0; g < most_groups; ++g) {
    key_places[g] = reinterpret_cast<std::uint64_t>(keys_out.data() + begins[g]);
    value_places[g] = reinterpret_cast<std::uint64_t>(values_out.data() + begins[g]);
  }
  MoveArguments arguments;
  arguments.keys = keys.data();
  arguments.values = values.data();
  arguments.size = size;
  arguments.end_tile = tiles;
  arguments.order = order;
  arguments.lookup = lookup;
  arguments.heavy_hitter = heavy_hitter;
  arguments.tiles_per_batch = counts.tiles_per_batch;
  arguments.key_places = key_places.data();
  arguments.value_places = value_places.data();
  arguments.batch_rows = counts.batch_rows.data();
  arguments.tile_rows = counts.tile_rows.data();
  for (unsigned block = 0; block < tiles; ++block)
    cuda_on_host::run_block(
        static_cast<unsigned>(shape.threads),
        [&] {
          if constexpr (ValueBytes == 0) {
            move_keys_kernel<Word, Lookup>(arguments);
          } else {
            move_pairs_kernel<Word, ValueBytes, Lookup>(arguments);
          }
        },
        block);

  std::vector<std::size_t> sources(size);
  std::iota(sources.begin(), sources.end(), std::size_t{0});
  std::stable_sort(sources.begin(), sources.end(), [&](std::size_t a, std::size_t b) {
    return group_of(keys[a]) < group_of(keys[b]);
  });
  std::vector<Word> expected(size);
  for (std::size_t i = 0; i < size; ++i) expected[i] = keys[sources[i]];
  if constexpr (ValueBytes == 0) {
    for (std::uint32_t g = 0; g < most_groups; ++g) {
      std::sort(expected.data() + begins[g], expected.data() + begins[g + 1]);
      std::sort(keys_out.data() + begins[g], keys_out.data() + begins[g + 1]);
    }
  } else {
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(values_out[i], sources[i]) << "place " << i;
  }
  EXPECT_EQ(keys_out, expected);
}

TYPED_TEST(PartitionKernelsOnHost, MoveKeysToTheirGroups) {
  using Word = TypeParam;
  const TreeTables<Word> tables;
  expect_moves<Word, 0, DirectLookup<Word>>(2, 100, false, plain_order, nullptr);
  expect_moves<Word, 0, DirectLookup<Word>>(1, 33, true, descending_floats, nullptr);
  expect_moves<Word, 0, TreeLookup<Word, true>>(2, 31, true, plain_order, &tables);
  expect_moves<Word, 0, TreeLookup<Word, false>>(1, 1, true, plain_order, &tables,
                                                 test::group_of(tables.tree, Word{77}));
}

TYPED_TEST(PartitionKernelsOnHost, MovePairsToTheirGroupsStably) {
  using Word = TypeParam;
  const TreeTables<Word> tables;
  expect_moves<Word, 4, DirectLookup<Word>>(3, 500, false, plain_order, nullptr);
  expect_moves<Word, 8, TreeLookup<Word, true>>(1, 0, true, descending_floats, &tables);
}

}  // namespace
}  // namespace sortie::multisort
