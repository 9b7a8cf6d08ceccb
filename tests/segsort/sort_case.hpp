// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sortie/segmented_sort.hpp"
#include "tests/reference/segmented_sort.hpp"
#include "tests/segsort/key_patterns.hpp"
#include "tests/segsort/segment_shapes.hpp"
#include "tests/support/backend.hpp"

namespace sortie::test {

/// Four bytes that are no integer, with an alignment below their size.
struct SmallRecord {
  std::uint16_t low;
  std::uint16_t high;
};

/// Eight bytes with the alignment of four.
struct LargeRecord {
  float weight;
  std::uint32_t index;
};

/// A value that tells which item it came with, and back.
template <class Value>
[[nodiscard]] Value value_of(std::uint32_t item) {
  if constexpr (std::is_same_v<Value, SmallRecord>) {
    return {static_cast<std::uint16_t>(item), static_cast<std::uint16_t>(item >> 16)};
  } else if constexpr (std::is_same_v<Value, LargeRecord>) {
    return {0.5F, item};
  } else {
    return static_cast<Value>(item);
  }
}

template <class Value>
[[nodiscard]] std::uint32_t item_of(const Value& value) {
  if constexpr (std::is_same_v<Value, SmallRecord>) {
    return std::uint32_t{value.high} << 16 | value.low;
  } else if constexpr (std::is_same_v<Value, LargeRecord>) {
    return value.index;
  } else {
    return static_cast<std::uint32_t>(value);
  }
}

/// Key and value type of a test; `void` for keys alone.
template <class K, class V>
struct Types {
  using Key = K;
  using Value = V;
};

template <class Value>
std::vector<std::uint32_t> items_of(const std::vector<Value>& values) {
  std::vector<std::uint32_t> items;
  items.reserve(values.size());
  for (const Value& value : values) items.push_back(item_of(value));
  return items;
}

/// Sorts `keys` by the public API on the backend of this run, and by the reference, and compares.
template <class T, class Offset>
class SortCase {
 public:
  using Key = typename T::Key;
  using Value = std::conditional_t<std::is_void_v<typename T::Value>, int, typename T::Value>;
  static constexpr bool has_values = !std::is_void_v<typename T::Value>;

  SortCase(const SegmentShape& shape, std::vector<Key> keys)
      : begins_(shape.begins.begin(), shape.begins.end()),
        ends_(shape.ends.begin(), shape.ends.end()),
        keys_(std::move(keys)) {
    for (std::uint32_t i = 0; has_values && i < keys_.size(); ++i)
      values_.push_back(value_of<Value>(i));
  }

  void check(const SegmentedSortOptions& options) const {
    std::vector<Key> keys = keys_;
    std::vector<Value> values = values_;
    std::vector<Key> expected_keys = keys_;
    std::vector<Value> expected_values = values_;
    const std::span<const Offset> begins = begins_;
    const std::span<const Offset> ends = ends_;
    if constexpr (has_values) {
      segmented_sort(context(), std::span<Key>(keys), std::span<Value>(values), begins, ends,
                     options);
      segsort::reference::segmented_sort(std::span<Key>(expected_keys),
                                         std::span<Value>(expected_values), begins, ends, options);
    } else {
      segmented_sort(context(), std::span<Key>(keys), begins, ends, options);
      segsort::reference::segmented_sort(std::span<Key>(expected_keys), begins, ends, options);
    }
    if (options.stable || compares_whole_keys(options)) {
      ASSERT_TRUE(bits_of(keys) == bits_of(expected_keys)) << "keys differ from the reference's";
    } else {
      expect_same_order(keys, expected_keys, options);
    }
    if constexpr (has_values) {
      if (options.stable) {
        ASSERT_TRUE(items_of(values) == items_of(expected_values))
            << "values differ from the reference's";
      } else {
        expect_pairs_kept(keys, values);
      }
    }
  }

 private:
  static bool compares_whole_keys(const SegmentedSortOptions& options) {
    const int bits = key_bits(key_type_of<Key>());
    return options.begin_bit == 0 && (options.end_bit == -1 || options.end_bit == bits);
  }

  /// Keys that count as equal may have changed places.
  static void expect_same_order(const std::vector<Key>& keys, const std::vector<Key>& expected,
                                const SegmentedSortOptions& options) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_FALSE(segsort::reference::before(keys[i], expected[i], options)) << "item " << i;
      ASSERT_FALSE(segsort::reference::before(expected[i], keys[i], options)) << "item " << i;
    }
  }

  /// Each item, with its own key, is still in its segment, or in its place outside of all segments.
  void expect_pairs_kept(const std::vector<Key>& keys, const std::vector<Value>& values) const {
    const std::vector<std::uint32_t> items = items_of(values);
    constexpr std::uint32_t none = ~std::uint32_t{0};
    std::vector<std::uint32_t> segment_of(keys.size(), none);
    for (std::uint32_t s = 0; s < begins_.size(); ++s)
      std::fill(segment_of.begin() + begins_[s], segment_of.begin() + ends_[s], s);
    std::vector<bool> seen(keys.size(), false);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint32_t item = items[i];
      ASSERT_LT(item, keys.size()) << "at " << i;
      ASSERT_FALSE(seen[item]) << "value " << item << " stands twice, again at " << i;
      seen[item] = true;
      ASSERT_EQ(segment_of[item], segment_of[i]) << "value " << item << " left its segment";
      ASSERT_TRUE(segment_of[i] != none || item == i) << "item " << i << " of no segment moved";
      ASSERT_EQ(std::bit_cast<Bits<Key>>(keys[i]), std::bit_cast<Bits<Key>>(keys_[item]))
          << "value " << item << " lost its key";
    }
  }

  std::vector<Offset> begins_;
  std::vector<Offset> ends_;
  std::vector<Key> keys_;
  std::vector<Value> values_;
};

inline std::string describe(const SegmentedSortOptions& options) {
  return std::string(options.order == Order::ascending ? "ascending" : "descending") +
         (options.stable ? ", stable" : "") + ", bits " + std::to_string(options.begin_bit) +
         " to " + std::to_string(options.end_bit);
}

/// Both directions, with and without stability.
inline std::vector<SegmentedSortOptions> all_options(int begin_bit = 0, int end_bit = -1) {
  std::vector<SegmentedSortOptions> all;
  for (const Order order : {Order::ascending, Order::descending})
    for (const bool stable : {false, true}) all.push_back({order, stable, begin_bit, end_bit});
  return all;
}

}  // namespace sortie::test
