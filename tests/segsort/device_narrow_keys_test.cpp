// SPDX-License-Identifier: Apache-2.0

// Segments of keys of 1 or 2 bytes, on device memory.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/random.hpp"
#include "primitives/key_codec.hpp"
#include "tests/segsort/device_sort_case.hpp"

namespace sortie::test {
namespace {

/// Segments in descending order of their places, with gaps before and between them; or adjacent.
struct Segments {
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> ends;
  std::size_t items = 0;

  explicit Segments(const std::vector<std::int64_t>& lengths, bool are_adjacent = false) {
    std::int64_t place = are_adjacent ? 0 : 3;
    for (const std::int64_t length : lengths) {
      begins.push_back(place);
      ends.push_back(place + length);
      place += length + (are_adjacent ? 0 : length % 3);
    }
    items = static_cast<std::size_t>(place) + 5;
    if (are_adjacent) return;
    std::reverse(begins.begin(), begins.end());
    std::reverse(ends.begin(), ends.end());
  }
};

std::vector<std::int64_t> lengths_of_every_kernel() {
  std::vector<std::int64_t> lengths = {0, 1, 70'001, 20'000, 9'000, 5'000, 2'100, 1'500, 700, 200};
  for (std::int64_t i = 0; i < 2'000; ++i) lengths.push_back(i % 129);
  return lengths;
}

template <class Key>
class DeviceNarrowKeys : public testing::Test {
 protected:
  using Word = std::conditional_t<sizeof(Key) == 1, std::uint8_t, std::uint16_t>;
  static constexpr bool is_half = sizeof(Key) == 2 && !SortKey<Key>;
  static constexpr int bits = 8 * sizeof(Key);

  static constexpr KeyKind kind() {
    if constexpr (SortKey<Key>) {
      return kind_of(key_type_of<Key>());
    } else {
      return is_half ? KeyKind::floating_point : KeyKind::unsigned_integer;
    }
  }
  static Key* key(Word* words) { return reinterpret_cast<Key*>(words); }

  /// Sorts pairs, or keys alone, by all bits or some, and compares all of the output.
  void check(const Segments& segments, bool has_values, DeviceSortOptions options = {},
             bool in_buffers = false, std::size_t lead = GuardedArray<Word>::guard) {
    SCOPED_TRACE(testing::Message() << segments.items << " items, values " << has_values
                                    << ", order " << static_cast<int>(options.order) << ", bits "
                                    << options.begin_bit << " to " << options.end_bit);
    Random random(segments.items);
    std::vector<Word> words(segments.items);
    for (Word& word : words) word = static_cast<Word>(random.next());
    if constexpr (std::is_same_v<Key, bool>)
      for (Word& word : words) word &= 1;
    std::vector<std::uint32_t> values(segments.items);
    std::iota(values.begin(), values.end(), 0u);

    const KeyCodec<Word> codec(kind(), options.order);
    const int end_bit = options.end_bit < 0 ? bits : options.end_bit;
    const auto compared = [&](std::uint32_t i) {
      const auto kept = static_cast<std::uint32_t>(codec.encoded(words[i])) >> options.begin_bit;
      return kept & ((1u << (end_bit - options.begin_bit)) - 1);
    };
    std::vector<Word> expected_keys(segments.items, poison<Word>());
    std::vector<std::uint32_t> expected_values(segments.items, poison<std::uint32_t>());
    for (std::size_t s = 0; s < segments.begins.size(); ++s) {
      const auto begin = static_cast<std::size_t>(segments.begins[s]);
      const auto end = static_cast<std::size_t>(segments.ends[s]);
      std::vector<std::uint32_t> order(values.begin() + segments.begins[s],
                                       values.begin() + segments.ends[s]);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return compared(a) < compared(b); });
      for (std::size_t i = begin; i < end; ++i) {
        expected_keys[i] = words[order[i - begin]];
        expected_values[i] = order[i - begin];
      }
    }

    GuardedArray<Word> keys_in(words, stream_, lead);
    GuardedArray<Word> keys_out(segments.items, stream_, lead);
    GuardedArray<std::uint32_t> values_in(values, stream_);
    GuardedArray<std::uint32_t> values_out(segments.items, stream_);
    const DeviceBuffer<std::int64_t> begins(std::span<const std::int64_t>(segments.begins),
                                            stream_);
    const DeviceBuffer<std::int64_t> ends(std::span<const std::int64_t>(segments.ends), stream_);
    const auto items = static_cast<std::int64_t>(segments.items);
    const auto count = static_cast<std::int64_t>(segments.begins.size());
    DoubleBuffer<Key> keys(key(keys_in.data()), key(keys_out.data()));
    DoubleBuffer<std::uint32_t> pairs(values_in.data(), values_out.data());
    const auto sort = [&](void* temporary, std::size_t& bytes) {
      if (in_buffers)
        return has_values
                   ? DeviceSegmentedSort::SortPairs(temporary, bytes, keys, pairs, items, count,
                                                    begins.data(), ends.data(), options, stream_)
                   : DeviceSegmentedSort::SortKeys(temporary, bytes, keys, items, count,
                                                   begins.data(), ends.data(), options, stream_);
      const Key* const from = keys.Current();
      const std::uint32_t* const values_from = pairs.Current();
      return has_values
                 ? DeviceSegmentedSort::SortPairs(temporary, bytes, from, keys.Alternate(),
                                                  values_from, pairs.Alternate(), items, count,
                                                  begins.data(), ends.data(), options, stream_)
                 : DeviceSegmentedSort::SortKeys(temporary, bytes, from, keys.Alternate(), items,
                                                 count, begins.data(), ends.data(), options,
                                                 stream_);
    };
    std::size_t bytes = 0;
    ASSERT_EQ(sort(nullptr, bytes), cudaSuccess);
    TemporaryStorage temporary(bytes, stream_);
    std::size_t too_few = bytes - 1;
    EXPECT_EQ(sort(temporary.data(), too_few), cudaErrorInvalidValue);
    ASSERT_EQ(sort(temporary.data(), bytes), cudaSuccess);
    check_cuda(cudaStreamSynchronize(stream_));
    EXPECT_TRUE(temporary.is_guarded());
    EXPECT_TRUE(keys_out.holds(expected_keys));
    if (has_values) {
      EXPECT_TRUE(values_out.holds(expected_values));
    }
    if (!in_buffers) {
      EXPECT_TRUE(keys_in.holds(words));
      EXPECT_TRUE(values_in.holds(values));
    }
  }

 private:
  Stream stream_;
};
using NarrowKeys = testing::Types<bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                                  __half, __nv_bfloat16>;
TYPED_TEST_SUITE(DeviceNarrowKeys, NarrowKeys);

TYPED_TEST(DeviceNarrowKeys, EveryKernel) {
  const Segments segments(lengths_of_every_kernel());
  for (const bool has_values : {false, true}) {
    this->check(segments, has_values);
    this->check(segments, has_values, {Order::descending});
    this->check(segments, has_values, {}, true);
    this->check(segments, has_values, {}, false, 1);
  }
}

// Most segments are sorted by threads: whole vectors of keys, adjacent ones and others.
TYPED_TEST(DeviceNarrowKeys, Threads) {
  std::vector<std::int64_t> lengths(256, 16);
  for (std::int64_t i = 0; i < 3'000; ++i) lengths.push_back(i % 20);
  for (const std::int64_t length : {9'000, 5'000, 700, 200}) lengths.push_back(length);
  for (const bool are_adjacent : {false, true})
    for (const std::size_t lead : {std::size_t{1}, GuardedArray<std::uint8_t>::guard})
      for (const Order order : {Order::ascending, Order::descending})
        this->check(Segments(lengths, are_adjacent), false, {order}, false, lead);
}

// Every kernel, with inputs that are small enough for the tools of tests/gpu/check.py.
TYPED_TEST(DeviceNarrowKeys, SmallInputs) {
  std::vector<std::int64_t> mixed = {17'000, 9'000, 5'000, 2'100, 1'500, 700, 200};
  for (std::int64_t i = 0; i < 100; ++i) mixed.push_back(i % 65);
  for (const auto& lengths : {std::vector<std::int64_t>{}, {0}, {1}, {31, 32, 33}, {20'000}, mixed})
    for (const bool has_values : {false, true}) this->check(Segments(lengths), has_values);
  this->check(Segments({530'000}), false);
}

// Fewer items, for racecheck, which takes some hundred times as long: each kernel of segments once.
TYPED_TEST(DeviceNarrowKeys, ForTools) {
  std::vector<std::int64_t> lengths = {17'000, 4'500, 2'100, 1'100, 600, 200};
  for (std::int64_t i = 0; i < 60; ++i) lengths.push_back(i);
  for (const bool has_values : {false, true}) this->check(Segments(lengths), has_values);
}
TYPED_TEST(DeviceNarrowKeys, OneSegmentForTools) {
  for (const bool has_values : {false, true}) this->check(Segments({40'001}), has_values, {}, true);
}

// One segment is sorted as an array, wherever it begins and ends: by its digits, or its keys alone by
// their numbers.
TYPED_TEST(DeviceNarrowKeys, OneSegment) {
  Segments inside({70'001});
  Segments short_one({1'000});
  short_one.items = 600'000;
  Segments empty({0});
  empty.items = 9'000;
  for (const Segments& segments :
       {Segments({600'001}), Segments({540'000}, true), inside, short_one, empty})
    for (const bool has_values : {false, true})
      for (const Order order : {Order::ascending, Order::descending})
        this->check(segments, has_values, {order}, order == Order::descending, 1);
}

TYPED_TEST(DeviceNarrowKeys, BitRanges) {
  const Segments segments({300, 5'000, 70'000, 20});
  for (const auto& [begin, end] : {std::pair(0, 3), std::pair(2, 7), std::pair(4, 4)})
    for (const Order order : {Order::ascending, Order::descending})
      this->check(segments, true,
                  {.order = order, .stable = true, .begin_bit = begin, .end_bit = end});
}

}  // namespace
}  // namespace sortie::test
