// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "segsort/cuda/double_buffers.hpp"
#include "segsort/cuda/work_lists.cuh"

// What the tests of the sort's kernels on the host sort.
namespace sortie::segsort {

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
  three_in_order,
  few_close
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
    // Keys of which up to eight share a bin, even of twice as many bins as there are items.
    if (kind == Keys::few_close)
      key = static_cast<Word>((std::mt19937_64(random() % 20)() + (random() % 8 * 1000 << 36)) >>
                              (64 - 8 * sizeof(Word)));
    if (kind == Keys::few_random) key = static_cast<Word>(std::mt19937_64(random() % 90)());
  }
  if (kind == Keys::ascending || kind == Keys::three_in_order) std::sort(keys.begin(), keys.end());
  return keys;
}

/// Segments, each beginning where the one before it ends, with their keys, values and the memory that
/// a sort of them needs.
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

inline bool any_length(std::uint32_t) {
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

}  // namespace sortie::segsort
