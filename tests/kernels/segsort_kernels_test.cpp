// SPDX-License-Identifier: Apache-2.0

// The kernels of the tuned policy on the host: what they do between barriers is tested where there
// is no GPU, and sanitizers see it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <type_traits>
#include <vector>

#include "segsort/cuda/array_tile.cuh"
#include "segsort/cuda/batch_sort.cuh"
#include "segsort/cuda/block_sort.cuh"
#include "segsort/cuda/bucket_runs.cuh"
#include "segsort/cuda/double_buffers.hpp"
#include "segsort/cuda/few_keys.cuh"
#include "segsort/cuda/grid_partition.cuh"
#include "segsort/cuda/partition.cuh"
#include "segsort/cuda/radix_passes.cuh"
#include "segsort/cuda/short_digits.cuh"
#include "segsort/cuda/small_sort.cuh"

namespace sortie::segsort {
namespace {

using Lengths = std::vector<std::uint32_t>;

enum class Keys {
  random,
  half_greatest,
  two_fields,
  few,
  steep,
  few_random,
  few_and_greatest,
  high_bits,
  mostly_least,
  tiny,
  steep_above,
  three_random,
  steep_and_least,
  ascending,
  three_in_order
};

template <class Word>
std::vector<Word> make_keys(Keys kind, std::size_t count) {
  std::mt19937_64 random(17 + count);
  std::vector<Word> keys(count);
  for (Word& key : keys) {
    key = static_cast<Word>(random());
    if (kind == Keys::half_greatest && random() % 2 == 0) key = static_cast<Word>(~Word{0});
    // Many that are equal, and many that differ in low bits alone.
    if (kind == Keys::two_fields) key = static_cast<Word>((random() % 50) << 20 | random() % 50);
    if (kind == Keys::few) key = 1'000'000 + random() % 90;
    // A density of 1/x, and few that differ in all their bits.
    if (kind == Keys::steep)
      key = static_cast<Word>((random() | 1ULL << 63) >> (64 - 8 * sizeof(Word) + random() % 31));
    if (kind == Keys::few_and_greatest && random() % 3 != 0)
      key = static_cast<Word>(~Word{0});
    else if (kind == Keys::few_and_greatest)
      key = static_cast<Word>(std::mt19937_64(random() % 240)());
    if (kind == Keys::tiny && random() % 8 != 0) key = static_cast<Word>(random() % 3);
    if (kind == Keys::high_bits)
      key = static_cast<Word>(key >> (8 * sizeof(Word) - 8)) << (8 * sizeof(Word) - 8);
    if (kind == Keys::mostly_least) key = random() % 20 != 0 ? 3 : 3 + random() % 8;
    // As steep, above an offset: the base of a floating cut is not 0.
    if (kind == Keys::steep_above)
      key = static_cast<Word>(12'345'678 +
                              ((random() | 1ULL << 31) >> (2 + random() % 29)) % (1ULL << 30));
    // A floating cut has buckets of one key that exceed a tile.
    if (kind == Keys::steep_and_least)
      key = static_cast<Word>(random() % 3 != 0
                                  ? (random() % 6 == 0 ? 2 : 1)
                                  : (random() | 1ULL << 31) % (1ULL << 32) >> random() % 29);
    // Bins with hundreds of equal keys.
    if (kind == Keys::three_random || kind == Keys::three_in_order)
      key = static_cast<Word>(std::mt19937_64(random() % 3)());
    if (kind == Keys::few_random) key = static_cast<Word>(std::mt19937_64(random() % 90)());
  }
  if (kind == Keys::ascending || kind == Keys::three_in_order) std::sort(keys.begin(), keys.end());
  return keys;
}

/// Segments side by side, their keys and values, and what a sort of them may use.
template <class WordType, int ValueBytes>
class Problem {
 public:
  using Word = WordType;
  using Value = ValueWord<ValueBytes>;

  Problem(const Lengths& lengths, Keys kind, Order order = Order::ascending)
      : descending_(order == Order::descending) {
    for (const std::uint32_t length : lengths) offsets_.push_back(offsets_.back() + length);
    keys_ = make_keys<Word>(kind, items());
    values_.resize(items());
    for (std::size_t i = 0; i < items(); ++i) values_[i] = static_cast<Value>(i);
    keys_out.assign(items(), 77);
    keys_scratch_.resize(items());
    values_out.assign(items(), 77);
    values_scratch_.resize(items());
    constexpr KeyType type = sizeof(Word) == 4 ? KeyType::u32 : KeyType::u64;
    arguments.keys_in = keys_.data();
    arguments.keys_out = keys_out.data();
    arguments.keys_scratch = keys_scratch_.data();
    if (ValueBytes != 0) {
      arguments.values_in = values_.data();
      arguments.values_out = values_out.data();
      arguments.values_scratch = values_scratch_.data();
    }
    arguments.value_bytes = ValueBytes;
    arguments.begin_offsets = {offsets_.data(), false};
    arguments.end_offsets = {offsets_.data() + 1, false};
    arguments.num_segments = lengths.size();
    arguments.codec = BitRangeCodec<Word>::make(type, order, 0, 8 * sizeof(Word));

    lists.counters = &counters;
    for (int pair = 0; pair < long_classes / 2; ++pair) {
      segments_[pair].resize(lengths.size());
      lists.segments[pair] = segments_[pair].data();
      lists.capacity[pair] = static_cast<std::uint32_t>(lengths.size());
    }
    groups_.resize(100'000);
    lists.groups = groups_.data();
    lists.group_capacity = groups_.size();
    parts_.resize(1000);
    lists.parts = parts_.data();
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  [[nodiscard]] std::size_t items() const { return offsets_.back(); }
  [[nodiscard]] std::uint32_t segments() const {
    return static_cast<std::uint32_t>(offsets_.size() - 1);
  }
  [[nodiscard]] std::uint32_t length(std::uint32_t segment) const {
    return offsets_[segment + 1] - offsets_[segment];
  }
  /// As the first kernel does.
  template <class Tiles = LargeTiles>
  void list(std::uint32_t segment) {
    const int list = long_class<Tiles>(length(segment));
    lists.segment(list, counters.segments[list]++) = segment;
  }

  /// Sorts what a partition has left to the tiles.
  void sort_groups() {
    for (int group_class = 0; group_class < group_classes; ++group_class) {
      for (std::uint32_t i = 0; i < counters.groups[group_class]; ++i) {
        const Group& group = lists.group(group_class, i);
        const Word* const keys = arguments.keys_of(group.buffer());
        const auto* const values = static_cast<const Value*>(arguments.values_of(group.buffer()));
        const std::vector<std::uint64_t> order = order_of(
            keys, group.begin(), group.begin() + static_cast<std::uint64_t>(group.length()));
        std::vector<Word> sorted_keys;
        std::vector<Value> sorted_values;
        for (const std::uint64_t item : order) {
          sorted_keys.push_back(keys[item]);
          if (ValueBytes != 0) sorted_values.push_back(values[item]);
        }
        std::copy(sorted_keys.begin(), sorted_keys.end(), keys_out.begin() + group.begin());
        std::copy(sorted_values.begin(), sorted_values.end(), values_out.begin() + group.begin());
      }
    }
  }

  /// Makes a copy of the input, and lets passes alternate between it and a second buffer.
  void let_alternate(int bits) {
    is_in_input_ = passes_end_in_input(bits);
    keys_buffer_ = keys_;
    values_buffer_ = values_;
    arguments.keys_in = keys_buffer_.data();
    (is_in_input_ ? arguments.keys_out : arguments.keys_scratch) = keys_buffer_.data();
    if (ValueBytes == 0) return;
    arguments.values_in = values_buffer_.data();
    (is_in_input_ ? arguments.values_out : arguments.values_scratch) = values_buffer_.data();
  }
  void end_alternation() {
    if (!is_in_input_) return;
    keys_out = keys_buffer_;
    values_out = values_buffer_;
  }

  /// All segments that `counts` takes are sorted, stably.
  template <class Counts>
  void expect_sorted(const Counts& counts) const {
    for (std::uint32_t segment = 0; segment < segments(); ++segment) {
      if (!counts(length(segment))) continue;
      const std::uint64_t begin = offsets_[segment];
      const std::vector<std::uint64_t> order =
          order_of(keys_.data(), begin, begin + length(segment));
      for (std::uint64_t i = 0; i < order.size(); ++i) {
        ASSERT_EQ(keys_out[begin + i], keys_[order[i]])
            << "segment " << segment << " of " << length(segment) << ", key " << i;
        if (ValueBytes != 0) {
          ASSERT_EQ(values_out[begin + i], values_[order[i]])
              << "segment " << segment << " of " << length(segment) << ", value " << i;
        }
      }
    }
  }

  Arguments<Word> arguments{};
  WorkLists lists{};
  Counters counters{};
  std::vector<Word> keys_out;
  std::vector<Value> values_out;

 private:
  [[nodiscard]] std::vector<std::uint64_t> order_of(const Word* keys, std::uint64_t begin,
                                                    std::uint64_t end) const {
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = begin; i < end; ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) {
      return descending_ ? keys[a] > keys[b] : keys[a] < keys[b];
    });
    return order;
  }

  bool descending_;
  bool is_in_input_ = false;
  std::vector<Word> keys_buffer_;
  std::vector<Value> values_buffer_;
  std::vector<std::uint32_t> offsets_{0};
  std::vector<Word> keys_;
  std::vector<Word> keys_scratch_;
  std::vector<Value> values_;
  std::vector<Value> values_scratch_;
  std::vector<std::uint32_t> segments_[long_classes / 2];
  std::vector<Group> groups_;
  std::vector<Part> parts_;
};

bool any_length(std::uint32_t) {
  return true;
}

/// Calls test(kind of keys, order).
template <class Test>
void with_keys(const Test& test) {
  test(Keys::half_greatest, Order::ascending);
  if (!testing::Test::HasFatalFailure()) test(Keys::two_fields, Order::descending);
  for (const Order order : {Order::ascending, Order::descending})
    if (!testing::Test::HasFatalFailure()) test(Keys::steep, order);
  for (const Keys kind : {Keys::few_random, Keys::high_bits, Keys::mostly_least, Keys::steep_above,
                          Keys::three_random, Keys::steep_and_least})
    if (!testing::Test::HasFatalFailure()) test(kind, Order::ascending);
}

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

// About half of the keys share a bin: of 4088, less than half of the first eighth, but more of all. No
// thread may write words that another has yet to read.
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
};

/// Words whose windows alternate within bins, side by side, in order within threads; afterwards, those
/// of bins that are parted are in the order of their windows, as far as these are counted, and else
/// as before.
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

// The first bin ends with a warp's words, others cross their bounds; one has more words than a warp.
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

/// Sorts an array by its digits, in two portions. Of narrow keys, it is a segment with others beside
/// it, and the kernels are told the number of all items.
template <class Word, int ValueBytes>
void sort_by_digits(Keys kind, Order order, bool alternates = false) {
  constexpr int end_bit = 8 * sizeof(Word);
  using Shared = radix::PassShared<Word, ValueBytes>;
  constexpr std::uint32_t own_length = 3 * Shared::tile + 1234;
  constexpr bool is_narrow = sizeof(Word) < 4;
  Problem<Word, ValueBytes> problem(
      is_narrow ? Lengths{1001, own_length, 500} : Lengths{own_length}, kind, order);
  const auto length = static_cast<std::uint32_t>(problem.items());
  if (is_narrow) {
    for (DeviceOffsets* offsets :
         {&problem.arguments.begin_offsets, &problem.arguments.end_offsets})
      offsets->data = static_cast<const std::uint32_t*>(offsets->data) + 1;
    problem.arguments.num_segments = 1;
  }
  problem.arguments.codec = BitRangeCodec<Word>::make(KeyKind::unsigned_integer, order, 0, end_bit);
  if (alternates) problem.let_alternate(end_bit);
  const ArrayDecision decision{InputKind::other, ArrayMethod::digits, 0};
  radix::Passes passes{};
  std::vector<radix::Status> statuses(4 * radix::digits, 0xdeadbeef);
  cuda_on_host::run_block(radix::count_threads, [&] {
    radix::count_digits_kernel(problem.arguments, &decision, ArrayMethod::digits, &passes,
                               statuses.data(), statuses.size(), nullptr, 0, length);
  });
  std::uint32_t number = 0;
  for (std::uint32_t pass = 0; pass < sizeof(Word); ++pass) {
    for (const std::uint32_t begin : {0, 2 * Shared::tile}) {
      const radix::Portion portion{pass, number++, begin,
                                   begin == 0 ? 2 * Shared::tile : length - begin};
      cuda_on_host::run_block(Shared::threads, [&] {
        const auto run = [&]<bool IsPlain>() {
          radix::pass_kernel<Word, ValueBytes, IsPlain>(problem.arguments, &decision, &passes,
                                                        statuses.data(), portion);
        };
        problem.arguments.codec.plain ? run.template operator()<true>()
                                      : run.template operator()<false>();
      });
    }
  }
  if (alternates) problem.end_alternation();
  problem.expect_sorted([](std::uint32_t items) { return items == own_length; });
}

/// Sorts an array by its digits in one kernel.
template <class Word, int ValueBytes>
void sort_by_short_digits(Keys kind, Order order = Order::ascending, bool alternates = false) {
  constexpr int end_bit = 8 * sizeof(Word);
  using Shared = radix::PassShared<Word, ValueBytes, radix::short_shape<Word, ValueBytes>>;
  constexpr std::uint32_t length = 2 * Shared::tile + 1234;
  Problem<Word, ValueBytes> problem({length}, kind, order);
  problem.arguments.codec = BitRangeCodec<Word>::make(KeyKind::unsigned_integer, order, 0, end_bit);
  if (alternates) problem.let_alternate(end_bit);
  radix::ShortPasses<Word> passes;
  std::vector<radix::Status> statuses(radix::short_status_words<Word, ValueBytes>(length));
  std::memset(&passes, 0xab, sizeof(passes));
  std::fill(statuses.begin(), statuses.end(), 0xdeadbeef);
  cuda_on_host::run_block(Shared::threads, [&] {
    const auto run = [&]<bool IsPlain>() {
      radix::short_digits_kernel<Word, ValueBytes, IsPlain>(
          problem.arguments, nullptr, &passes, statuses.data(),
          static_cast<std::uint32_t>(statuses.size()), length);
    };
    problem.arguments.codec.plain ? run.template operator()<true>()
                                  : run.template operator()<false>();
  });
  if (alternates) problem.end_alternation();
  problem.expect_sorted(any_length);
}

TEST(Kernels, ShortDigits) {
  sort_by_short_digits<std::uint32_t, 0>(Keys::random);
  sort_by_short_digits<std::uint32_t, 4>(Keys::few_random);
  sort_by_short_digits<std::uint64_t, 0>(Keys::steep);
  sort_by_short_digits<std::uint64_t, 4>(Keys::half_greatest, Order::descending);
  sort_by_short_digits<std::uint32_t, 4>(Keys::ascending);
  sort_by_short_digits<std::uint64_t, 8>(Keys::ascending, Order::descending);
  sort_by_short_digits<std::uint32_t, 2>(Keys::random);
  sort_by_short_digits<std::uint64_t, 1>(Keys::half_greatest);
}

// Few digits that differ, so that a pass is added.
TEST(Kernels, ShortDigitsOfDoubleBuffers) {
  sort_by_short_digits<std::uint32_t, 4>(Keys::few, Order::ascending, true);
  sort_by_short_digits<std::uint64_t, 0>(Keys::two_fields, Order::descending, true);
  sort_by_short_digits<std::uint32_t, 0>(Keys::ascending, Order::ascending, true);
  sort_by_short_digits<std::uint8_t, 4>(Keys::random, Order::ascending, true);
  sort_by_short_digits<std::uint16_t, 8>(Keys::high_bits, Order::descending, true);
  sort_by_short_digits<std::uint8_t, 2>(Keys::random, Order::descending, true);
}

/// Sorts an array by buckets, with the cuts `stride` items apart.
/// \return whether all runs fit a tile
template <class Word, int ValueBytes>
bool sort_by_buckets(Keys kind, std::uint64_t stride, Order order = Order::ascending,
                     ArrayMethod method = ArrayMethod::buckets) {
  using Shared = radix::PassShared<Word, ValueBytes>;
  constexpr std::uint32_t length = 2 * Shared::tile + 4321;
  Problem<Word, ValueBytes> problem({length}, kind, order);
  std::vector<Group> groups(length / stride + 1);
  WorkLists lists = problem.lists;
  lists.groups = groups.data();
  lists.group_capacity = groups.size();
  ArrayDecision decision{InputKind::other, method, 0};
  radix::Passes passes{};
  std::vector<radix::Status> statuses(3 * radix::digits);
  cuda_on_host::run_block(radix::count_threads, [&] {
    radix::count_digits_kernel(problem.arguments, &decision, ArrayMethod::buckets, &passes,
                               statuses.data(), statuses.size(), nullptr, 0, length);
  });
  for (std::uint32_t pass = 0; pass < radix::bucket_passes; ++pass) {
    cuda_on_host::run_block(Shared::threads, [&] {
      const radix::Portion portion{pass, pass, 0, length};
      if constexpr (!radix::shares_bucket_passes<Word>)
        radix::magnitude_pass_kernel<Word, ValueBytes>(problem.arguments, &decision, &passes,
                                                       statuses.data(), portion);
      radix::bucket_pass_kernel<Word, ValueBytes, false>(problem.arguments, &decision, &passes,
                                                         statuses.data(), portion);
    });
  }
  cuda_on_host::run_block(32 * buckets::run_warps, [&] {
    buckets::list_runs_kernel(problem.arguments, lists, &decision, length, stride,
                              stride <= longest_of_group_class(0) / 2);
  });
  if (decision.method != method) return false;
  const auto sort_groups = [&]<int Class>() {
    constexpr int warps = warps_of_block<Word>(block_class_of_groups(Class));
    cuda_on_host::run_block(32 * warps, [&] {
      block_sort_kernel<Word, ValueBytes, warps>(problem.arguments, lists, 227 * 1024);
    });
  };
  sort_groups.template operator()<0>();  // and runs
  sort_groups.template operator()<1>();
  problem.expect_sorted(any_length);
  return true;
}

TEST(Kernels, Buckets) {
  EXPECT_TRUE((sort_by_buckets<std::uint32_t, 4>(Keys::random, 8000)));
  EXPECT_TRUE((sort_by_buckets<std::uint64_t, 0>(Keys::random, 511)));
  EXPECT_TRUE((sort_by_buckets<std::uint32_t, 0>(Keys::few_random, 3000)));
  EXPECT_FALSE((sort_by_buckets<std::uint32_t, 0>(Keys::half_greatest, 3000)));
  EXPECT_FALSE((sort_by_buckets<std::uint32_t, 4>(Keys::steep, 8000)));
  EXPECT_TRUE((sort_by_buckets<std::uint64_t, 0>(Keys::random, 500, Order::descending)));
  EXPECT_TRUE((sort_by_buckets<std::uint32_t, 1>(Keys::random, 8000)));
  EXPECT_TRUE((sort_by_buckets<std::uint64_t, 2>(Keys::few_random, 3000)));
}

TEST(Kernels, Magnitudes) {
  constexpr ArrayMethod method = ArrayMethod::magnitudes;
  EXPECT_TRUE((sort_by_buckets<std::uint32_t, 4>(Keys::steep, 4000, Order::ascending, method)));
  EXPECT_TRUE((sort_by_buckets<std::uint64_t, 0>(Keys::steep, 5000, Order::ascending, method)));
  // Most keys are one.
  EXPECT_TRUE((sort_by_buckets<std::uint32_t, 0>(Keys::tiny, 5000, Order::ascending, method)));
  EXPECT_TRUE((sort_by_buckets<std::uint64_t, 4>(Keys::tiny, 511, Order::ascending, method)));
  EXPECT_FALSE(
      (sort_by_buckets<std::uint32_t, 4>(Keys::half_greatest, 4000, Order::ascending, method)));
}

/// Sorts an array of few distinct keys by their ranks, in two portions.
/// \return whether there were few enough
/// \param alternates  the values are moved to the scratch buffer, and the keys counted only
template <class Word, int ValueBytes>
bool sort_by_ranks(Keys kind, Order order = Order::ascending, bool alternates = false) {
  using Shared = radix::PassShared<Word, ValueBytes>;
  constexpr std::uint32_t length = 2 * Shared::tile + 1234;
  Problem<Word, ValueBytes> problem({length}, kind, order);
  few::FewKeys table;
  few::Shared<Word> shared;
  std::uint32_t failed = 0;
  cuda_on_host::run_block(few::threads, [&] { few::clear(table); });
  cuda_on_host::run_block(few::threads, [&] {
    few::count(shared, problem.arguments.keys_in, length, few::most_keys_with_values - 1, table,
               failed);
  });
  if (failed != 0) return false;
  cuda_on_host::run_block(few::threads,
                          [&] { few::order(shared, table, problem.arguments.codec); });
  radix::Passes passes{};
  passes.count = 1;
  for (unsigned int d = 0; d < radix::digits; ++d)
    passes.starts[d] = d < table.used ? static_cast<std::uint32_t>(table.positions[d]) : length;
  std::vector<radix::Status> statuses(2 * radix::digits);
  const ArrayDecision decision{InputKind::few_keys, ArrayMethod::ranges, 0};
  for (const std::uint32_t begin : {0, 2 * Shared::tile}) {
    const radix::Portion portion{0, begin == 0 ? 0u : 1u, begin,
                                 begin == 0 ? 2 * Shared::tile : length - begin};
    cuda_on_host::run_block(Shared::threads, [&] {
      const auto run = [&]<bool WritesKeys>() {
        radix::rank_pass_kernel<Word, ValueBytes, WritesKeys>(problem.arguments, &decision, &table,
                                                              &passes, statuses.data(), portion);
      };
      alternates ? run.template operator()<false>() : run.template operator()<true>();
    });
  }
  if (alternates) {
    EXPECT_TRUE(std::all_of(problem.keys_out.begin(), problem.keys_out.end(),
                            [](Word key) { return key == 77; }));
    for (unsigned int rank = 0; rank < table.used; ++rank)
      std::fill(problem.keys_out.begin() + static_cast<std::ptrdiff_t>(table.positions[rank]),
                problem.keys_out.end(),
                problem.arguments.codec.decode(static_cast<Word>(table.sorted[rank])));
    std::memcpy(problem.values_out.data(), problem.arguments.values_scratch,
                length * sizeof(typename decltype(problem)::Value));
  }
  problem.expect_sorted(any_length);
  return true;
}

TEST(Kernels, RanksOfFewKeys) {
  EXPECT_TRUE((sort_by_ranks<std::uint32_t, 4>(Keys::few)));
  EXPECT_TRUE((sort_by_ranks<std::uint32_t, 8>(Keys::few_and_greatest, Order::descending)));
  EXPECT_TRUE((sort_by_ranks<std::uint64_t, 4>(Keys::few_and_greatest)));
  EXPECT_TRUE((sort_by_ranks<std::uint64_t, 8>(Keys::few_random, Order::descending)));
  EXPECT_FALSE((sort_by_ranks<std::uint64_t, 4>(Keys::two_fields)));
  EXPECT_TRUE((sort_by_ranks<std::uint32_t, 1>(Keys::few_random)));
}

TEST(Kernels, RanksOfFewKeysInDoubleBuffers) {
  EXPECT_TRUE((sort_by_ranks<std::uint32_t, 4>(Keys::few, Order::descending, true)));
  EXPECT_TRUE((sort_by_ranks<std::uint64_t, 8>(Keys::few_and_greatest, Order::ascending, true)));
}

/// Sorts an array in one tile, and gathers values of `Units` units.
template <class Word, int Warps, int Items, class Unit, unsigned int Units>
void sort_in_array_tile(std::uint32_t length, Keys kind, Order order = Order::ascending) {
  Problem<Word, 4> problem({length}, kind, order);
  std::vector<Unit> values(length * Units);
  std::vector<Unit> moved(length * Units);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Unit>(i * 7);
  cuda_on_host::run_block(32 * Warps, [&] {
    array_tile_kernel<Word, Warps, Items>(
        problem.arguments, PackedField{values.data(), moved.data(), sizeof(Unit), Units}, length);
  });
  // Positions are the values that the problem expects.
  Arguments<Word> positions = problem.arguments;
  positions.keys_out = nullptr;
  cuda_on_host::run_block(32 * Warps, [&] {
    array_tile_kernel<Word, Warps, Items>(
        positions, PackedField{nullptr, problem.values_out.data(), 4, 1}, length);
  });
  problem.expect_sorted(any_length);
  for (std::uint32_t i = 0; i < length * Units; ++i)
    ASSERT_EQ(moved[i], values[problem.values_out[i / Units] * Units + i % Units]);
}

TEST(Kernels, ArrayTile) {
  sort_in_array_tile<std::uint32_t, 8, 8, std::uint8_t, 1>(1, Keys::random);
  sort_in_array_tile<std::uint32_t, 8, 8, std::uint16_t, 3>(2047, Keys::few);
  sort_in_array_tile<std::uint64_t, 8, 8, std::uint64_t, 2>(2048, Keys::steep, Order::descending);
  sort_in_array_tile<std::uint32_t, 16, 8, std::uint32_t, 1>(4001, Keys::two_fields);
  sort_in_array_tile<std::uint64_t, 16, 8, std::uint8_t, 5>(3000, Keys::half_greatest);
  sort_in_array_tile<std::uint32_t, 16, 16, std::uint32_t, 1>(8192, Keys::random,
                                                              Order::descending);
  sort_in_array_tile<std::uint64_t, 16, 16, std::uint64_t, 1>(5000, Keys::few_random);
  sort_in_array_tile<std::uint8_t, 16, 8, std::uint8_t, 1>(4000, Keys::random);
  sort_in_array_tile<std::uint16_t, 8, 8, std::uint16_t, 3>(2001, Keys::random, Order::descending);
}

TEST(Kernels, Digits) {
  sort_by_digits<std::uint32_t, 4>(Keys::random, Order::ascending);
  sort_by_digits<std::uint32_t, 0>(Keys::half_greatest, Order::descending);
  sort_by_digits<std::uint32_t, 0>(Keys::random, Order::ascending);
  sort_by_digits<std::uint64_t, 0>(Keys::few, Order::ascending);
  sort_by_digits<std::uint64_t, 4>(Keys::two_fields, Order::descending);
  sort_by_digits<std::uint64_t, 8>(Keys::few, Order::ascending);
  sort_by_digits<std::uint16_t, 4>(Keys::random, Order::descending);
  sort_by_digits<std::uint8_t, 8>(Keys::half_greatest, Order::descending);
  sort_by_digits<std::uint8_t, 4>(Keys::random, Order::ascending);
  sort_by_digits<std::uint8_t, 1>(Keys::random, Order::descending);
  sort_by_digits<std::uint16_t, 2>(Keys::half_greatest, Order::ascending);
}

TEST(Kernels, DigitsOfDoubleBuffers) {
  sort_by_digits<std::uint32_t, 4>(Keys::few, Order::ascending, true);
  sort_by_digits<std::uint32_t, 0>(Keys::high_bits, Order::descending, true);
  sort_by_digits<std::uint64_t, 8>(Keys::two_fields, Order::ascending, true);
  sort_by_digits<std::uint64_t, 0>(Keys::few, Order::descending, true);
}

}  // namespace
}  // namespace sortie::segsort
