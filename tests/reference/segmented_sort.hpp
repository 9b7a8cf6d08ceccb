// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "sortie/segmented_sort.hpp"

/// Plain, sequential segmented sort: the reference that every backend is tested against.

namespace sortie::segsort::reference {

/// Returns true if key `a` precedes key `b` under `options`.
template <SortKey Key>
[[nodiscard]] bool before(Key a, Key b, const SegmentedSortOptions& options) {
  if (options.order == Order::descending) std::swap(a, b);
  if constexpr (std::is_floating_point_v<Key>) {
    return std::strong_order(a, b) < 0;  // IEEE 754 totalOrder
  } else if constexpr (Float16Like<Key>) {
    return std::strong_order(float{a}, float{b}) < 0;
  } else {
    const int end = options.end_bit == -1 ? key_bits(key_type_of<Key>()) : options.end_bit;
    const int bits = end - options.begin_bit;
    if (bits == static_cast<int>(8 * sizeof(Key))) return a < b;
    const Key mask = static_cast<Key>((Key{1} << bits) - 1);
    if (bits == 0) return false;
    return ((a >> options.begin_bit) & mask) < ((b >> options.begin_bit) & mask);
  }
}

/// Calls sort(first, last) for each segment.
template <SegmentOffset Offset, class Sort>
void for_segments(std::span<const Offset> begin_offsets, std::span<const Offset> end_offsets,
                  Sort sort) {
  for (std::size_t i = 0; i < begin_offsets.size(); ++i)
    sort(static_cast<std::size_t>(begin_offsets[i]), static_cast<std::size_t>(end_offsets[i]));
}

/// Sorts each segment of keys, stably.
template <SortKey Key, SegmentOffset Offset>
void segmented_sort(std::span<Key> keys, std::span<const Offset> begin_offsets,
                    std::span<const Offset> end_offsets, const SegmentedSortOptions& options = {}) {
  for_segments(begin_offsets, end_offsets, [&](std::size_t first, std::size_t last) {
    const auto segment = keys.subspan(first, last - first);
    std::stable_sort(segment.begin(), segment.end(),
                     [&](Key a, Key b) { return before(a, b, options); });
  });
}

/// Sorts each segment of pairs, stably. Keys are sorted beside their places, which is fast.
template <SortKey Key, SortValue Value, SegmentOffset Offset>
void segmented_sort(std::span<Key> keys, std::span<Value> values,
                    std::span<const Offset> begin_offsets, std::span<const Offset> end_offsets,
                    const SegmentedSortOptions& options = {}) {
  struct Item {
    Key key;
    std::size_t place;
  };
  for_segments(begin_offsets, end_offsets, [&](std::size_t first, std::size_t last) {
    std::vector<Item> items;
    for (std::size_t i = first; i < last; ++i) items.push_back({keys[i], i - first});
    std::stable_sort(items.begin(), items.end(),
                     [&](const Item& a, const Item& b) { return before(a.key, b.key, options); });
    const std::vector<Value> values_in(values.begin() + first, values.begin() + last);
    for (std::size_t i = 0; i < items.size(); ++i) {
      keys[first + i] = items[i].key;
      values[first + i] = values_in[items[i].place];
    }
  });
}

}  // namespace sortie::segsort::reference
