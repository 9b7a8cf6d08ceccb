// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "sortie/key_types.hpp"

/// The sequential sort that every backend is tested against.

namespace sortie::multisort::reference {

/// Whether key `a` precedes key `b`.
template <SortKey Key>
[[nodiscard]] bool before(Key a, Key b, Order order) {
  if (order == Order::descending) std::swap(a, b);
  if constexpr (std::is_floating_point_v<Key>) {
    return std::strong_order(a, b) < 0;  // IEEE 754 totalOrder
  } else {
    return a < b;
  }
}

/// Sorts keys, stably.
template <SortKey Key>
void sort(std::span<Key> keys, Order order) {
  std::stable_sort(keys.begin(), keys.end(), [&](Key a, Key b) { return before(a, b, order); });
}

/// Sorts pairs, stably. Keys are sorted beside their places: many tests spend most of their time here.
template <SortKey Key, SortValue Value>
void sort(std::span<Key> keys, std::span<Value> values, Order order) {
  struct Item {
    Key key;
    std::size_t place;
  };
  std::vector<Item> items(keys.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = {keys[i], i};
  std::stable_sort(items.begin(), items.end(),
                   [&](const Item& a, const Item& b) { return before(a.key, b.key, order); });
  const std::vector<Value> values_in(values.begin(), values.end());
  for (std::size_t i = 0; i < items.size(); ++i) {
    keys[i] = items[i].key;
    values[i] = values_in[items[i].place];
  }
}

}  // namespace sortie::multisort::reference
