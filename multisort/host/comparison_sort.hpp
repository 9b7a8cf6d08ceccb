#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sortie/multisort/host/items.hpp"
#include "sortie/multisort/host/merge_runs.hpp"

namespace sortie::multisort {

/// Stable merge sort of one logical device, on one thread, for items that only a comparator can
/// order: blocks by insertion, then runs of twice the length in each round, from one array to the
/// other and back. Does not allocate.
///
/// \param items    sorted in place
/// \param scratch  as many items
template <class Key, class Value, class Before>
void comparison_sort(Items<Key, Value> items, Items<Key, Value> scratch, std::uint64_t n,
                     Before before) {
  // A block takes about n^2 / 4 comparisons that are hard to predict; so does each round of
  // merging, without the moves.
  constexpr std::uint64_t block = 16;
  for (std::uint64_t begin = 0; begin < n; begin += block) {
    const std::uint64_t end = std::min(n, begin + block);
    for (std::uint64_t i = begin + 1; i < end; ++i) {
      const Key key = items.keys[i];
      std::uint64_t to = i;
      if constexpr (has_values<Value>) {
        const Value value = items.values[i];
        for (; to > begin && before(key, items.keys[to - 1]); --to) {
          items.keys[to] = items.keys[to - 1];
          items.values[to] = items.values[to - 1];
        }
        items.values[to] = value;
      } else {
        for (; to > begin && before(key, items.keys[to - 1]); --to)
          items.keys[to] = items.keys[to - 1];
      }
      items.keys[to] = key;
    }
  }
  Items<Key, Value> from = items;
  Items<Key, Value> to = scratch;
  for (std::uint64_t length = block; length < n; length *= 2) {
    for (std::uint64_t begin = 0; begin < n; begin += 2 * length) {
      const std::uint64_t middle = std::min(n, begin + length);
      const std::uint64_t end = std::min(n, begin + 2 * length);
      merge_two_runs(Run<Key, Value>{from.from(begin), middle - begin},
                     Run<Key, Value>{from.from(middle), end - middle}, to.from(begin), before);
    }
    std::swap(from, to);
  }
  if (from.keys != items.keys) copy_items(from, n, items);
}

}  // namespace sortie::multisort
