// SPDX-License-Identifier: Apache-2.0

// The device entry points: what sortie::segmented_sort on host memory does not reach.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_segmented_sort.hpp"
#include "tests/segsort/device_sort_case.hpp"

namespace sortie {
namespace {

using test::download;
using test::Stream;

constexpr std::uint32_t poison = 0xdeadbeef;

/// Segments with gaps, in shuffled order, the first offset not 0.
struct Segments {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> end;
  std::uint32_t items = 0;
};

Segments segments_of(const std::vector<std::uint32_t>& lengths, std::uint32_t gap,
                     std::uint64_t seed) {
  Segments segments;
  std::uint32_t position = gap;
  for (const std::uint32_t length : lengths) {
    segments.begin.push_back(position);
    segments.end.push_back(position + length);
    position += length + gap;
  }
  segments.items = position;
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  Segments shuffled = segments;
  for (std::size_t i = 0; i < order.size(); ++i) {
    shuffled.begin[i] = segments.begin[order[i]];
    shuffled.end[i] = segments.end[order[i]];
  }
  return shuffled;
}

std::vector<std::uint32_t> random_keys(std::size_t count, std::uint32_t distinct,
                                       std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> keys(count);
  for (auto& key : keys) {
    const auto draw = static_cast<std::uint32_t>(random());
    key = distinct == 0 ? draw : std::numeric_limits<std::uint32_t>::max() - draw % distinct;
  }
  return keys;
}

/// What a stable sort leaves: items outside of segments are poison.
void expected_pairs(const Segments& segments, const std::vector<std::uint32_t>& keys,
                    std::vector<std::uint32_t>& sorted_keys,
                    std::vector<std::uint32_t>& sorted_values) {
  sorted_keys.assign(keys.size(), poison);
  sorted_values.assign(keys.size(), poison);
  for (std::size_t s = 0; s < segments.begin.size(); ++s) {
    std::vector<std::uint32_t> order(segments.end[s] - segments.begin[s]);
    std::iota(order.begin(), order.end(), segments.begin[s]);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      sorted_keys[segments.begin[s] + i] = keys[order[i]];
      sorted_values[segments.begin[s] + i] = order[i];  // the value of item i is i
    }
  }
}

std::vector<std::uint32_t> mixed_lengths() {
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t length = 0; length <= 2100; ++length) lengths.push_back(length);
  for (std::uint32_t length : {4095u, 4096u, 4097u, 6144u, 10000u, 65536u, (1u << 20) + 5u})
    lengths.push_back(length);
  return lengths;
}

class DeviceSegmentedSortTest : public testing::Test {
 protected:
  /// One phase of a sort of what upload() brought.
  cudaError_t sort_pairs(const Segments& segments, void* temporary, std::size_t& bytes) {
    return DeviceSegmentedSort::SortPairs(temporary, bytes, keys_in_.data(), keys_out_.data(),
                                          values_in_.data(), values_out_.data(), segments.items,
                                          static_cast<std::int64_t>(segments.begin.size()),
                                          begin_.data(), end_.data(), stream_);
  }

  // Buffers are members so that each test reads as what it does.
  void upload(const Segments& segments, const std::vector<std::uint32_t>& keys) {
    std::vector<std::uint32_t> values(keys.size());
    std::iota(values.begin(), values.end(), 0u);
    begin_ = DeviceBuffer<std::uint32_t>(segments.begin, stream_);
    end_ = DeviceBuffer<std::uint32_t>(segments.end, stream_);
    keys_in_ = DeviceBuffer<std::uint32_t>(keys, stream_);
    values_in_ = DeviceBuffer<std::uint32_t>(values, stream_);
    const std::vector<std::uint32_t> poisoned(keys.size(), poison);
    keys_out_ = DeviceBuffer<std::uint32_t>(poisoned, stream_);
    values_out_ = DeviceBuffer<std::uint32_t>(poisoned, stream_);
    check_cuda(cudaStreamSynchronize(stream_));
  }

  cudaError_t stable_sort(void* temporary, std::size_t& bytes) {
    return DeviceSegmentedSort::StableSortPairs(
        temporary, bytes, keys_in_.data(), keys_out_.data(), values_in_.data(), values_out_.data(),
        static_cast<std::int64_t>(keys_in_.size()), static_cast<std::int64_t>(begin_.size()),
        begin_.data(), end_.data(), stream_);
  }

  Stream stream_;
  DeviceBuffer<std::uint32_t> begin_, end_, keys_in_, keys_out_, values_in_, values_out_;
};

TEST_F(DeviceSegmentedSortTest, StableSortLeavesGapsUntouchedAndInputIntact) {
  const Segments segments = segments_of(mixed_lengths(), 3, 1);
  for (const std::uint32_t distinct : {0u, 1u, 7u}) {
    const std::vector<std::uint32_t> keys = random_keys(segments.items, distinct, distinct);
    upload(segments, keys);
    std::size_t bytes = 0;
    ASSERT_EQ(stable_sort(nullptr, bytes), cudaSuccess);
    DeviceBuffer<char> temporary(bytes, stream_);
    ASSERT_EQ(stable_sort(temporary.data(), bytes), cudaSuccess);
    std::vector<std::uint32_t> sorted_keys;
    std::vector<std::uint32_t> sorted_values;
    expected_pairs(segments, keys, sorted_keys, sorted_values);
    EXPECT_EQ(download(keys_out_), sorted_keys) << distinct << " distinct keys";
    EXPECT_EQ(download(values_out_), sorted_values) << distinct << " distinct keys";
    EXPECT_EQ(download(keys_in_), keys) << "the input was changed";
  }
}

TEST_F(DeviceSegmentedSortTest, UnstableSortKeepsEveryValueOfMaximalKeys) {
  const Segments segments = segments_of(mixed_lengths(), 0, 2);
  const std::vector<std::uint32_t> keys = random_keys(segments.items, 2, 3);
  upload(segments, keys);
  std::size_t bytes = 0;
  ASSERT_EQ(sort_pairs(segments, nullptr, bytes), cudaSuccess);
  DeviceBuffer<char> temporary(bytes, stream_);
  ASSERT_EQ(sort_pairs(segments, temporary.data(), bytes), cudaSuccess);
  const std::vector<std::uint32_t> sorted_keys = download(keys_out_);
  const std::vector<std::uint32_t> sorted_values = download(values_out_);
  std::vector<bool> seen(keys.size(), false);
  for (std::size_t s = 0; s < segments.begin.size(); ++s) {
    for (std::uint32_t i = segments.begin[s]; i < segments.end[s]; ++i) {
      const std::uint32_t origin = sorted_values[i];
      ASSERT_GE(origin, segments.begin[s]);
      ASSERT_LT(origin, segments.end[s]);
      ASSERT_FALSE(seen[origin]) << "value " << origin << " stands twice";
      seen[origin] = true;
      ASSERT_EQ(keys[origin], sorted_keys[i]);
      if (i > segments.begin[s]) {
        ASSERT_LE(sorted_keys[i - 1], sorted_keys[i]);
      }
    }
  }
}

TEST_F(DeviceSegmentedSortTest, DoubleBufferFlipsAndNeedsNoCopyOfTheData) {
  const Segments segments = segments_of(mixed_lengths(), 0, 4);
  const std::vector<std::uint32_t> keys = random_keys(segments.items, 0, 5);
  upload(segments, keys);
  DoubleBuffer<std::uint32_t> key_buffers(keys_in_.data(), keys_out_.data());
  DoubleBuffer<std::uint32_t> value_buffers(values_in_.data(), values_out_.data());
  std::size_t bytes = 0;
  const auto sort = [&](void* temporary) {
    return DeviceSegmentedSort::SortPairs(
        temporary, bytes, key_buffers, value_buffers, segments.items,
        static_cast<std::int64_t>(segments.begin.size()), begin_.data(), end_.data(), stream_);
  };
  ASSERT_EQ(sort(nullptr), cudaSuccess);
  EXPECT_EQ(key_buffers.Current(), keys_in_.data()) << "asking for the size must not flip";
  EXPECT_LT(bytes, segments.items * sizeof(std::uint32_t)) << "a copy of the keys was asked for";
  DeviceBuffer<char> temporary(bytes, stream_);
  ASSERT_EQ(sort(temporary.data()), cudaSuccess);
  ASSERT_EQ(key_buffers.Current(), keys_out_.data());
  ASSERT_EQ(value_buffers.Current(), values_out_.data());
  std::vector<std::uint32_t> sorted_keys;
  std::vector<std::uint32_t> sorted_values;
  expected_pairs(segments, keys, sorted_keys, sorted_values);
  EXPECT_EQ(download(keys_out_), sorted_keys);
}

/// One of the sixteen entry points, and where it leaves the keys.
struct EntryPoint {
  const char* name;
  bool descending;
  std::function<cudaError_t(void*, std::size_t&)> sort;
  std::function<const std::uint32_t*()> sorted_keys;
};

TEST_F(DeviceSegmentedSortTest, EveryEntryPointSorts) {
  const Segments segments = segments_of({0, 1, 2, 33, 700, 5000}, 0, 10);
  const std::vector<std::uint32_t> keys = random_keys(segments.items, 0, 11);
  const auto items = static_cast<std::int64_t>(segments.items);
  const auto count = static_cast<std::int64_t>(segments.begin.size());
  DoubleBuffer<std::uint32_t> key_buffers;
  DoubleBuffer<std::uint32_t> value_buffers;
  const auto out = [&] { return keys_out_.data(); };
  const auto current = [&] { return key_buffers.Current(); };
  const EntryPoint entry_points[] = {
      {"SortKeys", false,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::SortKeys(t, b, keys_in_.data(), keys_out_.data(), items, count,
                                              begin_.data(), end_.data(), stream_);
       },
       out},
      {"SortKeys of DoubleBuffer", false,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::SortKeys(t, b, key_buffers, items, count, begin_.data(),
                                              end_.data(), stream_);
       },
       current},
      {"SortKeysDescending", true,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::SortKeysDescending(t, b, keys_in_.data(), keys_out_.data(),
                                                        items, count, begin_.data(), end_.data(),
                                                        stream_);
       },
       out},
      {"SortKeysDescending of DoubleBuffer", true,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::SortKeysDescending(t, b, key_buffers, items, count,
                                                        begin_.data(), end_.data(), stream_);
       },
       current},
      {"StableSortKeys", false,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::StableSortKeys(t, b, keys_in_.data(), keys_out_.data(), items,
                                                    count, begin_.data(), end_.data(), stream_);
       },
       out},
      {"StableSortKeys of DoubleBuffer", false,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::StableSortKeys(t, b, key_buffers, items, count, begin_.data(),
                                                    end_.data(), stream_);
       },
       current},
      {"StableSortKeysDescending", true,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::StableSortKeysDescending(t, b, keys_in_.data(),
                                                              keys_out_.data(), items, count,
                                                              begin_.data(), end_.data(), stream_);
       },
       out},
      {"StableSortKeysDescending of DoubleBuffer", true,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::StableSortKeysDescending(t, b, key_buffers, items, count,
                                                              begin_.data(), end_.data(), stream_);
       },
       current},
      {"SortPairs", false,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::SortPairs(t, b, keys_in_.data(), keys_out_.data(),
                                               values_in_.data(), values_out_.data(), items, count,
                                               begin_.data(), end_.data(), stream_);
       },
       out},
      {"SortPairs of DoubleBuffer", false,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::SortPairs(t, b, key_buffers, value_buffers, items, count,
                                               begin_.data(), end_.data(), stream_);
       },
       current},
      {"SortPairsDescending", true,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::SortPairsDescending(
             t, b, keys_in_.data(), keys_out_.data(), values_in_.data(), values_out_.data(), items,
             count, begin_.data(), end_.data(), stream_);
       },
       out},
      {"SortPairsDescending of DoubleBuffer", true,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::SortPairsDescending(
             t, b, key_buffers, value_buffers, items, count, begin_.data(), end_.data(), stream_);
       },
       current},
      {"StableSortPairs", false,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::StableSortPairs(t, b, keys_in_.data(), keys_out_.data(),
                                                     values_in_.data(), values_out_.data(), items,
                                                     count, begin_.data(), end_.data(), stream_);
       },
       out},
      {"StableSortPairs of DoubleBuffer", false,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::StableSortPairs(t, b, key_buffers, value_buffers, items, count,
                                                     begin_.data(), end_.data(), stream_);
       },
       current},
      {"StableSortPairsDescending", true,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::StableSortPairsDescending(
             t, b, keys_in_.data(), keys_out_.data(), values_in_.data(), values_out_.data(), items,
             count, begin_.data(), end_.data(), stream_);
       },
       out},
      {"StableSortPairsDescending of DoubleBuffer", true,
       [&](void* t, std::size_t& b) {
         return DeviceSegmentedSort::StableSortPairsDescending(
             t, b, key_buffers, value_buffers, items, count, begin_.data(), end_.data(), stream_);
       },
       current},
  };
  for (const EntryPoint& entry : entry_points) {
    SCOPED_TRACE(entry.name);
    upload(segments, keys);
    key_buffers = {keys_in_.data(), keys_out_.data()};
    value_buffers = {values_in_.data(), values_out_.data()};
    std::size_t bytes = 0;
    ASSERT_EQ(entry.sort(nullptr, bytes), cudaSuccess);
    DeviceBuffer<char> temporary(bytes, stream_);
    ASSERT_EQ(entry.sort(temporary.data(), bytes), cudaSuccess);
    std::vector<std::uint32_t> sorted(keys.size());
    check_cuda(cudaMemcpyAsync(sorted.data(), entry.sorted_keys(), keys.size() * sizeof(keys[0]),
                               cudaMemcpyDeviceToHost, stream_));
    check_cuda(cudaStreamSynchronize(stream_));
    std::vector<std::uint32_t> expected = keys;
    for (std::size_t s = 0; s < segments.begin.size(); ++s) {
      const auto first = expected.begin() + segments.begin[s];
      const auto last = expected.begin() + segments.end[s];
      std::sort(first, last);
      if (entry.descending) std::reverse(first, last);
    }
    EXPECT_EQ(sorted, expected);
  }
}

TEST_F(DeviceSegmentedSortTest, GraphReplaysSortNewData) {
  const Segments segments = segments_of(mixed_lengths(), 1, 6);
  upload(segments, random_keys(segments.items, 0, 7));
  std::size_t bytes = 0;
  ASSERT_EQ(stable_sort(nullptr, bytes), cudaSuccess);
  DeviceBuffer<char> temporary(bytes, stream_);
  check_cuda(cudaStreamSynchronize(stream_));

  // Capture fails on any allocation, host synchronisation or use of another stream.
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  const cudaError_t sorted = stable_sort(temporary.data(), bytes);
  check_cuda(cudaStreamEndCapture(stream_, &graph));
  ASSERT_EQ(sorted, cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaGraphInstantiate(&executable, graph, 0));

  for (const std::uint64_t seed : {8, 9}) {
    const std::vector<std::uint32_t> keys = random_keys(segments.items, 100, seed);
    keys_in_.copy_from(keys);
    check_cuda(cudaGraphLaunch(executable, stream_));
    std::vector<std::uint32_t> sorted_keys;
    std::vector<std::uint32_t> sorted_values;
    expected_pairs(segments, keys, sorted_keys, sorted_values);
    EXPECT_EQ(download(keys_out_), sorted_keys);
    EXPECT_EQ(download(values_out_), sorted_values);
  }
  check_cuda(cudaGraphExecDestroy(executable));
  check_cuda(cudaGraphDestroy(graph));
}

/// Segments, and keys of few values, for one replay of a graph.
struct Replay {
  test::SegmentShape shape;
  test::KeyPattern pattern;
};

TEST(DeviceGraphTest, ReplaysFollowKeysOffsetsAndTheirNumber) {
  using Key = std::uint64_t;
  constexpr std::size_t items = 400'000;
  constexpr std::size_t most_segments = 50'000;
  const Stream stream;
  test::GuardedArray<Key> keys_in(items, stream);
  test::GuardedArray<Key> keys_out(items, stream);
  test::GuardedArray<std::uint32_t> values_in(items, stream);
  test::GuardedArray<std::uint32_t> values_out(items, stream);
  DeviceBuffer<std::uint64_t> begins(most_segments, stream);
  DeviceBuffer<std::uint64_t> ends(most_segments, stream);
  DeviceBuffer<std::int64_t> count(1, stream);
  DeviceSortOptions options;
  options.d_num_segments = count.data();
  const auto sort = [&](void* temporary, std::size_t& bytes) {
    return DeviceSegmentedSort::SortPairs(temporary, bytes, std::as_const(keys_in).data(),
                                          keys_out.data(), std::as_const(values_in).data(),
                                          values_out.data(), std::int64_t{items},
                                          std::int64_t{most_segments}, std::as_const(begins).data(),
                                          std::as_const(ends).data(), options, stream);
  };
  std::size_t bytes = 0;
  ASSERT_EQ(sort(nullptr, bytes), cudaSuccess);
  test::TemporaryStorage temporary(bytes, stream);
  check_cuda(cudaStreamSynchronize(stream));

  // The mode global forbids every call that may wait for the device, from any thread.
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  const cudaError_t sorted = sort(temporary.data(), bytes);
  check_cuda(cudaStreamEndCapture(stream, &graph));
  ASSERT_EQ(sorted, cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaGraphInstantiate(&executable, graph, 0));

  const Replay replays[] = {
      {test::in_a_row("one giant", {items}), test::KeyPattern::few_distinct},
      {test::in_a_row("power law", test::power_law_lengths(4'000, 1.5, 10'000, 61)),
       test::KeyPattern::random_bits},
      {test::in_a_row("no segment", {}), test::KeyPattern::random_bits},
      {test::scattered(test::mixed_shape(), 3, 62), test::KeyPattern::last_or_random},
  };
  for (const auto& [shape, pattern] : replays) {
    SCOPED_TRACE(shape.name);
    ASSERT_LE(shape.num_items, items);
    ASSERT_LE(shape.begins.size(), most_segments);
    std::vector<Key> keys = test::make_keys<Key>(pattern, items);
    std::vector<std::uint32_t> values(items);
    std::iota(values.begin(), values.end(), 0U);
    const std::vector<std::int64_t> segments{static_cast<std::int64_t>(shape.begins.size())};
    // Offsets of the replay before stay behind the number.
    begins.copy_from(shape.begins);
    ends.copy_from(shape.ends);
    count.copy_from(segments);
    keys_in.write(keys);
    values_in.write(values);
    keys_out.poison_all();
    values_out.poison_all();
    check_cuda(cudaGraphLaunch(executable, stream));
    check_cuda(cudaStreamSynchronize(stream));

    segsort::reference::segmented_sort(std::span<Key>(keys), std::span<std::uint32_t>(values),
                                       std::span<const std::uint64_t>(shape.begins),
                                       std::span<const std::uint64_t>(shape.ends));
    std::vector<Key> expected_keys(items, test::poison<Key>());
    std::vector<std::uint32_t> expected_values(items, test::poison<std::uint32_t>());
    for (std::size_t s = 0; s < shape.begins.size(); ++s) {
      const auto first = static_cast<std::ptrdiff_t>(shape.begins[s]);
      const auto last = static_cast<std::ptrdiff_t>(shape.ends[s]);
      std::copy(keys.begin() + first, keys.begin() + last, expected_keys.begin() + first);
      std::copy(values.begin() + first, values.begin() + last, expected_values.begin() + first);
    }
    EXPECT_TRUE(keys_out.holds(expected_keys));
    EXPECT_TRUE(values_out.holds(expected_values));
    EXPECT_TRUE(temporary.is_guarded());
  }
  check_cuda(cudaGraphExecDestroy(executable));
  check_cuda(cudaGraphDestroy(graph));
}

TEST_F(DeviceSegmentedSortTest, SortsOfTheSameDataAreTheSame) {
  const Segments segments = segments_of(mixed_lengths(), 1, 12);
  upload(segments, random_keys(segments.items, 3, 13));
  std::size_t bytes = 0;
  ASSERT_EQ(sort_pairs(segments, nullptr, bytes), cudaSuccess);
  DeviceBuffer<char> temporary(bytes, stream_);
  ASSERT_EQ(sort_pairs(segments, temporary.data(), bytes), cudaSuccess);
  const std::vector<std::uint32_t> first = download(values_out_);
  for (int repetition = 0; repetition < 20; ++repetition) {
    ASSERT_EQ(sort_pairs(segments, temporary.data(), bytes), cudaSuccess);
    ASSERT_TRUE(download(values_out_) == first) << "repetition " << repetition;
  }
}

// Nine tenths of the keys lie in one 256th of the range, so that the second round has one part of
// more tiles than there are rows for, and the third a part that is narrowed first.
TEST_F(DeviceSegmentedSortTest, ALargeGiantWithCrowdedKeysTakesSeveralWaves) {
  const Segments segments = segments_of({100'000'000u}, 0, 0);
  std::vector<std::uint32_t> keys = random_keys(segments.items, 0, 14);
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (i % 10 != 0) keys[i] >>= i % 2 == 0 ? 8 : 20;
  upload(segments, keys);
  std::size_t bytes = 0;
  ASSERT_EQ(stable_sort(nullptr, bytes), cudaSuccess);
  DeviceBuffer<char> temporary(bytes, stream_);
  ASSERT_EQ(stable_sort(temporary.data(), bytes), cudaSuccess);
  const std::vector<std::uint32_t> sorted_keys = download(keys_out_);
  const std::vector<std::uint32_t> sorted_values = download(values_out_);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (sorted_values[i] >= keys.size() || keys[sorted_values[i]] != sorted_keys[i]) ++wrong;
    if (i == 0) continue;
    if (sorted_keys[i - 1] > sorted_keys[i]) ++wrong;
    if (sorted_keys[i - 1] == sorted_keys[i] && sorted_values[i - 1] >= sorted_values[i]) ++wrong;
  }
  EXPECT_EQ(wrong, 0u);  // values that ascend where keys are equal are all different
}

TEST_F(DeviceSegmentedSortTest, TemporaryStorageStaysWithinWhatIsPromisedForAnyCounts) {
  const std::int64_t counts[] = {
      0, 1, 2'049, 1 << 20, 1'602'925, std::int64_t{1} << 31, 5'000'000'000};
  const std::uint64_t* none = nullptr;
  for (const std::int64_t items : counts) {
    for (const std::int64_t segments : counts) {
      SCOPED_TRACE(std::to_string(items) + " items, " + std::to_string(segments) + " segments");
      std::size_t bytes = 0;
      ASSERT_EQ(DeviceSegmentedSort::StableSortPairs(
                    nullptr, bytes, none, static_cast<std::uint64_t*>(nullptr), none,
                    static_cast<std::uint64_t*>(nullptr), items, segments, none, none, stream_),
                cudaSuccess);
      EXPECT_LE(bytes, test::most_temporary_bytes(static_cast<std::uint64_t>(items),
                                                  static_cast<std::uint64_t>(segments), 16));
      DoubleBuffer<std::uint64_t> key_buffers;
      DoubleBuffer<std::uint64_t> value_buffers;
      ASSERT_EQ(DeviceSegmentedSort::StableSortPairs(nullptr, bytes, key_buffers, value_buffers,
                                                     items, segments, none, none, stream_),
                cudaSuccess);
      EXPECT_LE(bytes, test::most_temporary_bytes(static_cast<std::uint64_t>(items),
                                                  static_cast<std::uint64_t>(segments), 0));
    }
  }
}

template <class Key>
cudaError_t status_of_bit_range(int begin_bit, int end_bit) {
  std::size_t bytes = 0;
  const Key* in = nullptr;
  Key* out = nullptr;
  const std::uint32_t* offsets = nullptr;
  DeviceSortOptions options;
  options.begin_bit = begin_bit;
  options.end_bit = end_bit;
  return DeviceSegmentedSort::SortKeys(nullptr, bytes, in, out, 10, 2, offsets, offsets, options);
}

TEST(DeviceSortOptionsTest, BitRangesAreWithinKeys) {
  EXPECT_EQ(status_of_bit_range<std::uint32_t>(0, 32), cudaSuccess);
  EXPECT_EQ(status_of_bit_range<std::uint32_t>(32, 32), cudaSuccess);
  EXPECT_EQ(status_of_bit_range<std::uint32_t>(0, 33), cudaErrorInvalidValue);
  EXPECT_EQ(status_of_bit_range<std::uint32_t>(5, 4), cudaErrorInvalidValue);
  EXPECT_EQ(status_of_bit_range<std::uint32_t>(-1, 4), cudaErrorInvalidValue);
  EXPECT_EQ(status_of_bit_range<std::uint64_t>(33, 64), cudaSuccess);
  EXPECT_EQ(status_of_bit_range<std::uint64_t>(33, 65), cudaErrorInvalidValue);
  EXPECT_EQ(status_of_bit_range<std::int32_t>(0, 32), cudaSuccess);
  EXPECT_EQ(status_of_bit_range<std::int32_t>(0, 31), cudaSuccess);
  EXPECT_EQ(status_of_bit_range<std::int64_t>(1, 65), cudaErrorInvalidValue);
  EXPECT_EQ(status_of_bit_range<float>(0, -1), cudaSuccess);
  EXPECT_EQ(status_of_bit_range<float>(8, 32), cudaSuccess);
  EXPECT_EQ(status_of_bit_range<double>(-1, 8), cudaErrorInvalidValue);
}

TEST_F(DeviceSegmentedSortTest, RefusesWhatCannotBeSorted) {
  upload(segments_of({5, 5}, 0, 1), random_keys(10, 0, 1));
  std::size_t bytes = 0;
  ASSERT_EQ(stable_sort(nullptr, bytes), cudaSuccess);
  std::size_t too_few = bytes - 1;
  DeviceBuffer<char> temporary(bytes, stream_);
  EXPECT_EQ(stable_sort(temporary.data(), too_few), cudaErrorInvalidValue);

  segsort::DeviceRequest request;
  request.num_items = 10;
  request.num_segments = 2;
  const auto status = [&] { return segsort::sort_on_device(nullptr, bytes, request, stream_); };
  EXPECT_EQ(status(), cudaSuccess);
  request.begin_bit = 5;
  request.end_bit = 4;
  EXPECT_EQ(status(), cudaErrorInvalidValue) << "bit range ends before it begins";
  request.end_bit = 33;
  EXPECT_EQ(status(), cudaErrorInvalidValue) << "bit range beyond the key";
  request = {};
  request.num_segments = -1;
  EXPECT_EQ(status(), cudaErrorInvalidValue);
  request = {};
  request.key_type = KeyType::i16;
  request.end_bit = 17;
  EXPECT_EQ(status(), cudaErrorInvalidValue) << "bit range beyond a key of 16 bits";
  request = {};
  request.value_bytes = 3;
  EXPECT_EQ(status(), cudaErrorInvalidValue);
}

TEST_F(DeviceSegmentedSortTest, NothingToSortIsNoError) {
  std::size_t bytes = 0;
  const auto sort = [&](void* temporary) {
    const std::uint32_t* none = nullptr;
    return DeviceSegmentedSort::SortKeys(
        temporary, bytes, none, static_cast<std::uint32_t*>(nullptr), 0, 0, none, none, stream_);
  };
  ASSERT_EQ(sort(nullptr), cudaSuccess);
  DeviceBuffer<char> temporary(bytes, stream_);
  EXPECT_EQ(sort(temporary.data()), cudaSuccess);
}

}  // namespace
}  // namespace sortie
