// SPDX-License-Identifier: Apache-2.0

// The kernels of DeviceTopK on the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "segsort/cuda/narrow_long.cuh"
#include "segsort/cuda/narrow_teams.cuh"
#include "segsort/cuda/narrow_threads.cuh"
#include "segsort/cuda/top_k_blocks.cuh"
#include "segsort/cuda/top_k_least.cuh"
#include "segsort/cuda/top_k_plan.cuh"
#include "segsort/cuda/top_k_stream.cuh"
#include "segsort/cuda/top_k_teams.cuh"
#include "segsort/cuda/top_k_threads.cuh"
#include "segsort/cuda/top_k_tiles.cuh"
#include "segsort/cuda/top_k_warps.cuh"

namespace sortie::segsort {
namespace {

enum class Keys {
  random,
  equal,
  few,
  ascending,
  descending,
  least_last  ///< those of the last eighth are less than all others
};

template <class Word>
std::vector<Word> keys_of(Keys kind, std::size_t count) {
  std::mt19937_64 random(17 + count);
  std::vector<Word> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    switch (kind) {
      case Keys::random:
        keys[i] = static_cast<Word>(random());
        break;
      case Keys::equal:
        keys[i] = ~Word{0};
        break;
      case Keys::few:
        keys[i] = static_cast<Word>(random() % 7);
        break;
      case Keys::ascending:
        keys[i] = static_cast<Word>(i / 3);
        break;
      case Keys::descending:
        keys[i] = static_cast<Word>((count - i) / 2);
        break;
      case Keys::least_last:
        keys[i] = static_cast<Word>(random() % 7 + (i < count / 8 * 7 ? 7 : 0));
        break;
    }
  }
  return keys;
}

/// Runs the kernels one after the other and compares with a sort.
/// \param carries  values are loaded, not positions, and the results of a
/// segment begin where the
///                 segment does
template <class Word>
void expect_top(const std::vector<std::uint64_t>& lengths, std::uint64_t k, Keys kind, bool sorted,
                std::uint64_t gap = 0, unsigned int chunk = 32, bool by_threads = true,
                int tile_longest = 0, std::uint64_t warp_longest = longest_of_warp,
                bool carries = false) {
  SCOPED_TRACE(testing::Message() << "k " << k << ", keys " << static_cast<int>(kind) << ", "
                                  << sizeof(Word) << " bytes");
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> ends;
  std::uint64_t items = 0;
  for (const std::uint64_t length : lengths) {
    begins.push_back(items);
    ends.push_back(items + length);
    items += length + gap;
  }
  const std::vector<Word> keys = keys_of<Word>(kind, items);
  constexpr std::uint64_t poison = 77;
  std::vector<std::uint64_t> places;  // of the results
  for (std::size_t s = 0; s < lengths.size(); ++s) places.push_back(carries ? begins[s] : s * k);
  places.push_back(carries ? items : lengths.size() * k);
  std::vector<Word> keys_out(places.back(), poison);
  std::vector<std::uint64_t> positions(places.back(), poison);
  std::vector<std::uint64_t> values(items);
  std::iota(values.begin(), values.end(), std::uint64_t{0});

  const std::uint64_t parts = items / shortest_part + lengths.size();
  TopKCounters counters{};
  std::vector<unsigned int> parts_done(parts);
  std::vector<unsigned int> groups_done(lengths.size());
  std::vector<std::uint64_t> warp_segments(lengths.size());
  std::vector<std::uint64_t> block_segments(lengths.size());
  std::vector<LongSegment> long_segments(lengths.size());
  std::vector<std::uint32_t> part_owner(parts);
  std::vector<Word> candidates(2 * parts * k);
  std::vector<std::uint64_t> candidate_positions(2 * parts * k);
  std::vector<std::uint32_t> candidate_counts(2 * parts);
  TopKArguments<Word> arguments{};
  arguments.keys_in = keys.data();
  arguments.keys_out = keys_out.data();
  arguments.values_out = positions.data();
  arguments.value_bytes = 8;
  arguments.begin_offsets = {begins.data(), true};
  arguments.end_offsets = {ends.data(), true};
  if (carries) {
    arguments.values_in = values.data();
    arguments.output_offsets = {places.data(), true};
    if (gap == 0) {
      arguments.begin_offsets = arguments.output_offsets;
      arguments.end_offsets = {places.data() + 1, true};
    }
  }
  arguments.num_items = items;
  arguments.num_segments = lengths.size();
  arguments.k = k;
  arguments.sorted = sorted;
  arguments.chunk = chunk;
  arguments.warp_longest = warp_longest;
  arguments.capacity = buffer_capacity(static_cast<std::int64_t>(k));
  arguments.lists = {&counters,
                     parts_done.data(),
                     groups_done.data(),
                     by_threads || tile_longest != 0 ? warp_segments.data() : nullptr,
                     block_segments.data(),
                     long_segments.data(),
                     part_owner.data(),
                     candidates.data(),
                     candidate_positions.data(),
                     candidate_counts.data(),
                     parts};
  std::vector<unsigned long long> bounds(lengths.size());
  if (items >= shortest_sampled) arguments.lists.bounds = bounds.data();
  if (tile_longest != 0) {
    TopKArguments<Word> of_tiles = arguments;
    of_tiles.tile_longest = tile_longest;
    std::vector<std::uint64_t> team_segments[team_lists];
    for (int list = 0; list < team_lists; ++list) {
      team_segments[list].resize(lengths.size());
      of_tiles.lists.team_segments[list] = team_segments[list].data();
    }
    if (k >= most_sorted_in_kernel) of_tiles.team_longest = longest_of_teams;
    const ChunkPlan chunks{1'000'000, chunk * 5, 1};
    if (k == 1 && tile_longest == longest_of_least)
      cuda_on_host::run_block(32 * top_k_warps, [&] { top_k_least_kernel<Word>(of_tiles); });
    else
      cuda_on_host::run_block(top_k_tile_threads,
                              [&] { top_k_tile_kernel<Word, 8, std::uint32_t>(of_tiles, chunks); });
    cuda_on_host::run_block(32 * top_k_team_warps,
                            [&] { top_k_team_kernel<Word, 8, false>(of_tiles, 227 * 1024); });
    cuda_on_host::run_block(32 * top_k_team_warps,
                            [&] { top_k_team_kernel<Word, 8, true>(of_tiles, 227 * 1024); });
  } else if (by_threads) {
    cuda_on_host::run_block(32 * top_k_warps, [&] {
      chunk == 32 ? top_k_thread_kernel<Word, longest_of_thread<WordOf<Word>>>(arguments)
                  : top_k_thread_kernel<Word, longest_of_any_thread>(arguments);
    });
  }
  cuda_on_host::run_block(32 * top_k_warps, [&] { top_k_warp_kernel(arguments); });
  if (arguments.lists.bounds != nullptr)
    cuda_on_host::run_block(top_k_block, [&] { top_k_sample_kernel(arguments); });
  cuda_on_host::run_block(top_k_block, [&] { top_k_block_kernel(arguments); });

  for (std::size_t s = 0; s < lengths.size(); ++s) {
    std::vector<std::uint64_t> order(lengths[s]);
    std::iota(order.begin(), order.end(), begins[s]);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return keys[a] < keys[b]; });
    order.resize(std::min(k, lengths[s]));
    const auto first = positions.begin() + static_cast<std::ptrdiff_t>(places[s]);
    const auto place_end = positions.begin() + static_cast<std::ptrdiff_t>(places[s + 1]);
    const auto last = first + static_cast<std::ptrdiff_t>(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(keys_out[places[s] + i], keys[first[static_cast<std::ptrdiff_t>(i)]])
          << "result " << i << " of a segment of " << lengths[s];
    }
    if (!sorted) {
      std::sort(first, last);
      std::sort(order.begin(), order.end());
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(first[static_cast<std::ptrdiff_t>(i)], order[i])
          << "result " << i << " of a segment of " << lengths[s];
    }
    ASSERT_TRUE(std::all_of(last, place_end, [](std::uint64_t place) { return place == poison; }))
        << "a segment of " << lengths[s];
  }
}

const std::vector<std::uint64_t> short_lengths = [] {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t length = 0; length <= 34; ++length) lengths.insert(lengths.end(), 9, length);
  for (const std::uint64_t border : {64, 128, 256, 512, 1024})
    for (const std::uint64_t length : {border - 1, border, border + 1}) lengths.push_back(length);
  std::mt19937 random(3);
  std::shuffle(lengths.begin() + 200, lengths.end(), random);
  return lengths;
}();

template <class Word>
void expect_short() {
  for (const Keys kind : {Keys::random, Keys::equal, Keys::few, Keys::ascending, Keys::descending})
    for (const std::uint64_t k : {1, 3, 8, 16, 32}) expect_top<Word>(short_lengths, k, kind, true);
  expect_top<Word>(short_lengths, 100, Keys::few, false, 2);
  expect_top<Word>(short_lengths, 5, Keys::random, true, 1, 7);
  expect_top<Word>(short_lengths, 5, Keys::few, true, 0, 7, false);
}
template <class Word>
void expect_tiles() {
  for (const Keys kind : {Keys::random, Keys::equal, Keys::few, Keys::ascending, Keys::descending})
    for (const std::uint64_t k : {1, 8, 32})
      expect_top<Word>(short_lengths, k, kind, true, 0, 32, false, k == 8 ? 64 : 512);
  for (const Keys kind : {Keys::random, Keys::equal, Keys::few, Keys::ascending})
    for (const std::uint64_t gap : {0, 2})
      expect_top<Word>(short_lengths, 1, kind, true, gap, 32, false, longest_of_least);
  expect_top<Word>(short_lengths, 20, Keys::few, true, 2, 7, false, 200);
  // With teams for the longer ones.
  for (const Keys kind : {Keys::random, Keys::few})
    expect_top<Word>(short_lengths, 32, kind, true, 1, 32, false, longest_in_warp);
  expect_top<Word>({0, 0, 700, 0}, 3, Keys::random, true, 0, 32, false, 512);
  std::vector<std::uint64_t> of_tiles = short_lengths;
  std::erase_if(of_tiles, [](std::uint64_t length) { return length > longest_of_tile; });
  for (const Keys kind : {Keys::random, Keys::few, Keys::ascending})
    for (const std::uint64_t k : {100, 448, 6000})
      expect_top<Word>({0, 3, 600, 513, 1024, 1025, 2048, 2049, 4000, 5120}, k, kind, true, 0, 32,
                       false, longest_of_tile, longest_of_warp, k == 6000);
  for (const std::uint64_t k : {5, 600})  // the first of each segment, or all
    for (const std::uint64_t gap : {0, 3})
      expect_top<Word>(of_tiles, k, Keys::few, true, gap, 32, false, longest_of_tile,
                       longest_of_warp, true);
}
TEST(TopKKernels, SegmentsOfTiles32) {
  expect_tiles<std::uint32_t>();
}
TEST(TopKKernels, SegmentsOfTiles64) {
  expect_tiles<std::uint64_t>();
}

TEST(TopKKernels, SegmentsOfTiles8) {
  expect_tiles<std::uint8_t>();
}
TEST(TopKKernels, SegmentsOfTiles16) {
  expect_tiles<std::uint16_t>();
}

TEST(TopKKernels, ShortSegments8) {
  expect_short<std::uint8_t>();
}
TEST(TopKKernels, ShortSegments16) {
  expect_short<std::uint16_t>();
}
TEST(TopKKernels, ShortSegments32) {
  expect_short<std::uint32_t>();
}
TEST(TopKKernels, ShortSegments64) {
  expect_short<std::uint64_t>();
}

TEST(TopKKernels, SegmentsOfBlocks) {
  const std::vector<std::uint64_t> lengths{1025, 2047, 5, 2048, 9000, 0, 40'000};
  for (const Keys kind : {Keys::random, Keys::equal, Keys::few, Keys::descending}) {
    for (const std::uint64_t k : {1, 30}) {
      expect_top<std::uint32_t>(lengths, k, kind, true, 0, 32, true, 0, longest_of_streaming_warp);
      expect_top<std::uint64_t>(lengths, k, kind, true, 0, 7, true, 0, longest_of_streaming_warp);
    }
  }
  for (const Keys kind : {Keys::random, Keys::equal, Keys::few, Keys::descending}) {
    for (const std::uint64_t k : {1, 32}) {
      expect_top<std::uint8_t>(lengths, k, kind, true);
      expect_top<std::uint32_t>(lengths, k, kind, true);
      expect_top<std::uint64_t>(lengths, k, kind, true);
    }
    for (const std::uint64_t k : {128, 129, 257, 2048})
      expect_top<std::uint32_t>(lengths, k, kind, false);
    expect_top<std::uint16_t>(lengths, 257, kind, false);
  }
}

TEST(TopKKernels, SegmentsInParts) {
  // The last group of the second is a part of one item.
  const std::vector<std::uint64_t> lengths{70'000, 32 * shortest_part + 1, 3};
  expect_top<std::uint32_t>(lengths, 20, Keys::random, true);
  expect_top<std::uint32_t>(lengths, 300, Keys::few, false);
  expect_top<std::uint64_t>(lengths, 7, Keys::descending, true);
  expect_top<std::uint8_t>(lengths, 300, Keys::random, false);
  expect_top<std::uint8_t>(lengths, 1, Keys::random, true);
  expect_top<std::uint8_t>(lengths, 30, Keys::descending, true);
  expect_top<std::uint8_t>(lengths, 30, Keys::few, true);
  expect_top<std::uint16_t>(lengths, 20, Keys::few, true);
}

/// Whether whole segments are to be sorted.
bool sorts_whole(const std::vector<std::uint64_t>& lengths, std::uint64_t longest,
                 std::optional<std::int64_t> device_count = {}) {
  std::vector<std::uint64_t> offsets{0};
  for (const std::uint64_t length : lengths) offsets.push_back(offsets.back() + length);
  TopKPlan plan{-1, -1};
  const PlannedSegments segments{
      {offsets.data(), true}, {offsets.data() + 1, true},
      lengths.size(),         device_count.has_value() ? &*device_count : nullptr,
      offsets.back(),         longest};
  std::vector<std::uint32_t> zeroed(1'500, 7);
  const ZeroedByPlan all_but_last{zeroed.data(), zeroed.size() - 1};
  cuda_on_host::run_block(plan_threads, [&] { top_k_plan_kernel(segments, &plan, all_but_last); });
  EXPECT_EQ(std::count(zeroed.begin(), zeroed.end() - 1, 0U), 1'499);
  EXPECT_EQ(zeroed.back(), 7U);
  EXPECT_EQ(std::min(plan.selected, plan.sorted), 0);
  EXPECT_EQ(plan.selected + plan.sorted,
            device_count.value_or(static_cast<std::int64_t>(lengths.size())));
  return plan.sorted != 0;
}
TEST(TopKKernels, PlanByLengths) {
  for (const std::uint64_t count : {1, 1000, 16'384, 16'385, 70'001}) {
    std::vector<std::uint64_t> lengths(count, 10);
    EXPECT_TRUE(sorts_whole(lengths, 10)) << count;
    EXPECT_FALSE(sorts_whole(lengths, 9)) << count;
    lengths[count / 2] += 20 * count;  // rarely in the sample
    EXPECT_FALSE(sorts_whole(lengths, 10)) << count;
  }
  EXPECT_TRUE(sorts_whole(std::vector<std::uint64_t>(1000, 3), 8, 900));
  EXPECT_FALSE(sorts_whole(std::vector<std::uint64_t>(1000, 3), 8, 10));
  EXPECT_FALSE(sorts_whole(std::vector<std::uint64_t>(1000, 3), 8, 0));
}

/// Streams one segment, or leaves it to other kernels if `is_streamed` is false.
template <class Word>
void expect_streamed(std::uint64_t k, Keys kind, bool is_streamed) {
  SCOPED_TRACE(testing::Message() << "k " << k << ", keys " << static_cast<int>(kind) << ", "
                                  << sizeof(Word) << " bytes");
  constexpr std::uint64_t begin = 3;  // not at a 16-byte word
  const std::uint64_t end = begin + shortest_sampled + 1'001;
  const std::vector<Word> keys = keys_of<Word>(kind, end + 5);
  std::vector<Word> keys_out(k, 77);
  std::vector<std::uint64_t> positions(k, 77);
  TopKCounters counters{};
  std::vector<unsigned long long> bounds(1);
  std::vector<WordOf<Word>> minima(stream_minima);
  std::vector<WordOf<Word>> words(stream_capacity);
  std::vector<std::uint32_t> places(stream_capacity);
  std::uint64_t begins = 1;
  std::uint64_t ends = 2;
  TopKArguments<Word> arguments{};
  arguments.keys_in = keys.data();
  arguments.keys_out = keys_out.data();
  arguments.values_out = positions.data();
  arguments.value_bytes = 8;
  arguments.begin_offsets = {&begin, true};
  arguments.end_offsets = {&end, true};
  arguments.num_items = keys.size();
  arguments.num_segments = 1;
  arguments.k = k;
  arguments.lists.counters = &counters;
  arguments.lists.bounds = bounds.data();
  arguments.lists.begins = &begins;
  arguments.lists.ends = &ends;
  arguments.lists.stream_minima = minima.data();
  arguments.lists.stream_words = words.data();
  arguments.lists.stream_positions = places.data();
  cuda_on_host::run_block(stream_sample_threads, [&] { top_k_stream_sample_kernel(arguments); });
  cuda_on_host::run_block(stream_threads, [&] { top_k_stream_kernel(arguments); });
  cuda_on_host::run_block(stream_threads, [&] { top_k_stream_rank_kernel(arguments); });
  ASSERT_EQ(counters.is_streamed, is_streamed ? 1 : 0) << counters.streamed << " items";
  if (!is_streamed) {
    EXPECT_TRUE(std::all_of(positions.begin(), positions.end(), [](auto p) { return p == 77; }));
    EXPECT_EQ(begins, 1U);
    std::uint64_t within = 0;
    for (std::uint64_t i = begin; i < end; ++i)
      within += keys[i] <= loaded_bound<WordOf<Word>>(bounds[0]) ? 1 : 0;
    EXPECT_GE(within, k);
    return;
  }
  EXPECT_EQ(begins, ends);
  std::vector<std::uint64_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                    [&](std::uint64_t a, std::uint64_t b) {
                      return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
                    });
  order.resize(k);
  EXPECT_EQ(positions, order);
  for (std::uint64_t i = 0; i < k; ++i) ASSERT_EQ(keys_out[i], keys[order[i]]);
}
TEST(TopKKernels, StreamedSegment) {
  expect_streamed<std::uint32_t>(1, Keys::random, true);
  expect_streamed<std::uint32_t>(1000, Keys::random, true);
  expect_streamed<std::uint64_t>(2048, Keys::random, true);
  expect_streamed<std::uint32_t>(500, Keys::ascending, true);
  expect_streamed<std::uint64_t>(40, Keys::descending, true);
  expect_streamed<std::uint16_t>(33, Keys::random, true);
}
TEST(TopKKernels, StreamedSegmentOfEqualKeys) {
  expect_streamed<std::uint8_t>(1, Keys::random, true);
  expect_streamed<std::uint8_t>(1000, Keys::random, true);
  expect_streamed<std::uint8_t>(2048, Keys::few, true);
  expect_streamed<std::uint8_t>(33, Keys::least_last, false);
  expect_streamed<std::uint16_t>(2048, Keys::random, true);
  expect_streamed<std::uint16_t>(1000, Keys::few, true);
  expect_streamed<std::uint16_t>(1000, Keys::least_last, false);
  expect_streamed<std::uint32_t>(1000, Keys::few, true);
  expect_streamed<std::uint32_t>(33, Keys::equal, true);
}

/// The filter of vectors against a comparison of each key, for keys of all types and orders.
template <class Key>
void expect_filter(KeyKind kind, Order order) {
  SCOPED_TRACE(testing::Message() << sizeof(Key) << " bytes, kind " << static_cast<int>(kind));
  const WordCodec<Key> codec{KeyCodec<Key>(kind, order)};
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    KeyVector<Key> vectors[2];
    const int spread = static_cast<int>(random() % (8 * sizeof(Key)));
    const auto base = static_cast<Key>(random());
    WordOf<Key> least = ~WordOf<Key>{0};
    for (KeyVector<Key>& vector : vectors) {
      for (Key& key : vector.keys) {
        key = static_cast<Key>(base + (random() >> (63 - spread)));
        least = std::min(least, codec.encoded(key));
      }
    }
    const bool is_high = least >= WordOf<Key>{1} << (8 * sizeof(Key) - 1);
    cuda_on_host::run_block(32, [&] {
      const VectorFilter<Key> filter(codec);
      EXPECT_TRUE(filter.any_within(vectors, least));
      if (least != 0 && !is_high) {
        EXPECT_FALSE(filter.any_within(vectors, least - 1));
      }
    });
    if (testing::Test::HasFailure()) return;
  }
}
TEST(TopKKernels, FilterOfVectors) {
  for (const Order order : {Order::ascending, Order::descending}) {
    for (const KeyKind kind : {KeyKind::unsigned_integer, KeyKind::signed_integer}) {
      expect_filter<std::uint8_t>(kind, order);
      expect_filter<std::uint16_t>(kind, order);
    }
    expect_filter<std::uint16_t>(KeyKind::floating_point, order);
    expect_filter<std::uint32_t>(KeyKind::floating_point, order);
  }
}

/// Segments of narrow keys in tiles; longer ones are listed, and converted
/// there and back.
template <class Narrow>
void expect_narrow(Keys kind, std::uint64_t gap, Order order, int value_bytes = 4,
                   bool by_words = false, bool by_threads = false) {
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> ends;
  std::uint64_t items = 0;
  std::vector<std::uint64_t> lengths(100, longest_narrow_thread);
  lengths.insert(lengths.end(), short_lengths.begin(), short_lengths.end());
  for (const std::uint64_t length : {2048, 2049, 4097, 8191, 8192, 8193, 30'000})
    lengths.push_back(length);
  for (const std::uint64_t length : lengths) {
    begins.push_back(items);
    ends.push_back(items + length);
    items += length + gap;
  }
  if (gap != 0) {
    std::reverse(begins.begin(), begins.end());
    std::reverse(ends.begin(), ends.end());
  }
  const std::vector<Narrow> keys = keys_of<Narrow>(kind, items);
  std::vector<std::uint32_t> values(items);
  std::iota(values.begin(), values.end(), 0);
  std::vector<Narrow> keys_out(items, 77);
  std::vector<std::uint32_t> values_out(items, 77);
  const std::size_t segments = begins.size();
  NarrowCounters counters{};
  std::vector<std::vector<SegmentExtent>> of_team(digit_lists,
                                                  std::vector<SegmentExtent>(segments));
  std::vector<std::uint64_t> listed_begins(segments);
  std::vector<std::uint64_t> listed_ends(segments);
  std::vector<std::uint64_t> first_piece(segments);
  std::vector<std::uint32_t> owner(2 * segments);
  std::vector<unsigned long long> starts(segments * sizeof(Narrow) * narrow_digits);
  std::vector<unsigned long long> statuses(2 * segments * narrow_digits);
  std::vector<Narrow> keys_scratch(items);
  std::vector<std::uint32_t> values_scratch(items);
  NarrowArguments<Narrow> arguments{
      .keys_in = keys.data(),
      .keys_out = keys_out.data(),
      .values_in = values.data(),
      .values_out = values_out.data(),
      .value_bytes = value_bytes,
      .begin_offsets = {begins.data(), true},
      .end_offsets = {ends.data(), true},
      .num_segments = segments,
      .device_num_segments = nullptr,
      .codec = {KeyKind::signed_integer, order},
      .lists = {&counters,
                {of_team[0].data(), of_team[1].data(), of_team[2].data(), of_team[3].data()},
                listed_begins.data(),
                listed_ends.data(),
                first_piece.data(),
                owner.data(),
                starts.data(),
                statuses.data()}};
  const ChunkPlan chunks{1'000'000, 50, 1};
  cuda_on_host::run_block(by_threads ? narrow_thread_block : narrow_tile_threads, [&] {
    if (by_threads)
      narrow_thread_kernel<Narrow>(arguments);
    else if (value_bytes == 0)
      narrow_tile_kernel<Narrow, 0, std::uint32_t>(arguments, chunks);
    else
      narrow_tile_kernel<Narrow, 4, std::uint32_t>(arguments, chunks);
  });
  constexpr unsigned int threads = 32 * digit_block_warps;
  if (by_words) {
    const auto sort = [&]<int List>() {
      cuda_on_host::run_block(narrow_team_block<List>, [&] {
        if (value_bytes == 0)
          narrow_team_kernel<Narrow, 0, List>(arguments, 227 * 1024);
        else
          narrow_team_kernel<Narrow, 4, List>(arguments, 227 * 1024);
      });
    };
    sort.template operator()<0>();
    sort.template operator()<1>();
    sort.template operator()<2>();
    sort.template operator()<3>();
  } else {
    cuda_on_host::run_block(threads, [&] { narrow_digits_kernel<Narrow, 2>(arguments, 0); });
    cuda_on_host::run_block(threads, [&] { narrow_digits_kernel<Narrow, 4>(arguments, 1); });
    cuda_on_host::run_block(threads, [&] { narrow_digits_kernel<Narrow, 8>(arguments, 2); });
    cuda_on_host::run_block(threads, [&] { narrow_digits_kernel<Narrow, 16>(arguments, 3); });
  }
  EXPECT_EQ(counters.segments, 2u);
  cuda_on_host::run_block(threads, [&] { count_narrow_kernel(arguments); });
  cuda_on_host::run_block(narrow_digits, [&] { narrow_starts_kernel(arguments); });
  if constexpr (sizeof(Narrow) == 1) {
    if (value_bytes == 0) cuda_on_host::run_block(threads, [&] { fill_narrow_kernel(arguments); });
  }
  for (std::uint32_t pass = 0; pass < sizeof(Narrow); ++pass) {
    const bool to_output = pass + 1 == sizeof(Narrow);
    const NarrowPass<Narrow> arrays{pass, pass == 0 ? keys.data() : keys_scratch.data(),
                                    to_output ? keys_out.data() : keys_scratch.data(),
                                    pass == 0 ? values.data() : values_scratch.data(),
                                    to_output ? values_out.data() : values_scratch.data()};
    if (sizeof(Narrow) != 1 || value_bytes != 0)
      cuda_on_host::run_block(threads, [&] { narrow_pass_kernel(arguments, arrays); });
  }
  std::vector<Narrow> expected(items, 77);
  std::vector<std::uint32_t> expected_values(items, 77);
  for (std::size_t s = 0; s < segments; ++s) {
    const auto from = static_cast<std::ptrdiff_t>(begins[s]);
    const auto to = static_cast<std::ptrdiff_t>(ends[s]);
    std::vector<std::uint32_t> index(values.begin() + from, values.begin() + to);
    std::stable_sort(index.begin(), index.end(), [&](std::uint32_t a, std::uint32_t b) {
      return arguments.codec.encoded(keys[a]) < arguments.codec.encoded(keys[b]);
    });
    for (std::size_t i = 0; i < index.size(); ++i) {
      expected[begins[s] + i] = keys[index[i]];
      if (value_bytes != 0) expected_values[begins[s] + i] = index[i];
    }
  }
  EXPECT_EQ(keys_out, expected);
  EXPECT_EQ(values_out, expected_values);
}

TEST(NarrowTiles, EveryLength) {
  for (const Keys kind : {Keys::random, Keys::equal, Keys::few, Keys::descending}) {
    expect_narrow<std::uint8_t>(kind, 0, Order::ascending);
    expect_narrow<std::uint8_t>(kind, 1, Order::descending, 0);
    expect_narrow<std::uint16_t>(kind, 3, Order::descending);
    expect_narrow<std::uint16_t>(kind, 3, Order::ascending, 4, true);
    expect_narrow<std::uint16_t>(kind, 0, Order::descending, 0, true);
    expect_narrow<std::uint8_t>(kind, 0, Order::ascending, 0, false, true);
    expect_narrow<std::uint16_t>(kind, 0, Order::ascending, 0, true, true);
    expect_narrow<std::uint16_t>(kind, 3, Order::descending, 0, true, true);
  }
}

// Ascending keys: the first part has all items within the bound, too many to be ordered.
TEST(TopKKernels, SampledSegment) {
  for (const std::uint64_t bound : {std::uint64_t{0}, std::uint64_t{77}, ~std::uint64_t{2}}) {
    EXPECT_NE(stored_bound(bound), 0U);
    EXPECT_EQ(loaded_bound<std::uint64_t>(stored_bound(bound)), bound);
  }
  EXPECT_EQ(loaded_bound<std::uint64_t>(stored_bound(~std::uint64_t{0})), ~std::uint64_t{0});
  EXPECT_EQ(loaded_bound<std::uint32_t>(stored_bound(~std::uint32_t{0})), ~std::uint32_t{0});
  expect_top<std::uint32_t>({shortest_sampled + 77}, 1000, Keys::ascending, false);
  expect_top<std::uint64_t>({3, shortest_sampled + 77}, 100, Keys::random, false, 1);
  expect_top<std::uint8_t>({3, shortest_sampled + 77}, 100, Keys::random, false, 1);
}

}  // namespace
}  // namespace sortie::segsort
