// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <numeric>
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

/// Sorts pairs, stably.
template <SortKey Key, SortValue Value>
void sort(std::span<Key> keys, std::span<Value> values, Order order) {
  std::vector<std::size_t> places(keys.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return before(keys[a], keys[b], order); });
  const std::vector<Key> keys_in(keys.begin(), keys.end());
  const std::vector<Value> values_in(values.begin(), values.end());
  for (std::size_t i = 0; i < places.size(); ++i) {
    keys[i] = keys_in[places[i]];
    values[i] = values_in[places[i]];
  }
}

}  // namespace sortie::multisort::reference
