// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/payload.hpp"
#include "sortie/cluster.hpp"
#include "sortie/key_types.hpp"
#include "sortie/sort.hpp"

/// Keys of ranks, and their order: for tests of sorts on hosts and on devices.
namespace sortie::test {

/// How many keys each rank has, and key number i of all.
struct Shape {
  std::string name;
  std::function<std::uint64_t(std::uint64_t rank, std::uint64_t ranks)> items;
  std::function<std::uint64_t(std::uint64_t i)> key;
};

inline std::uint64_t drawn(std::uint64_t i) {
  return Random(i).next();
}

inline const std::vector<Shape>& shapes() {
  const auto uneven = [](std::uint64_t rank, std::uint64_t) { return 100 + 37 * (rank % 4); };
  static const std::vector<Shape> all = {
      {"uniform", uneven, drawn},
      {"all equal", uneven, [](std::uint64_t) { return std::uint64_t{5}; }},
      {"few keys", uneven, [](std::uint64_t i) { return drawn(i) >> 62; }},
      {"sorted", uneven, [](std::uint64_t i) { return i << 40; }},
      {"reversed", uneven, [](std::uint64_t i) { return ~i; }},
      {"some ranks without", [](std::uint64_t r, std::uint64_t) { return r % 2 == 0 ? 0 : 300; },
       drawn},
      {"all on one", [](std::uint64_t r, std::uint64_t p) { return r == p / 2 ? 900 : 0; }, drawn},
      {"fewer than ranks", [](std::uint64_t r, std::uint64_t) { return r % 3 == 0 ? 1 : 0; },
       drawn},
      {"none", [](std::uint64_t, std::uint64_t) { return 0; }, drawn}};
  return all;
}

/// A word of the width of a key, made of the high bits of a number.
template <class Key>
using WordOf = std::conditional_t<
    sizeof(Key) == 1, std::uint8_t,
    std::conditional_t<sizeof(Key) == 2, std::uint16_t,
                       std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>>>;

template <class Key>
Key key_of(std::uint64_t number) {
  return std::bit_cast<Key>(static_cast<WordOf<Key>>(number >> (64 - 8 * sizeof(Key))));
}

/// The part of each rank before and after the sort of all.
template <class Key, class Value>
struct Sorted {
  std::vector<Key> keys;
  std::vector<Value> values;
  std::vector<Key> expected_keys;
  std::vector<Value> expected_values;
};

template <class Key, class Value>
Sorted<Key, Value> make(const cluster::Ranks& ranks, const Shape& shape, Order order) {
  const std::uint64_t p = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t r = static_cast<std::uint64_t>(ranks.rank());
  Sorted<Key, Value> sorted;
  std::vector<std::pair<Key, Value>> all;
  for (std::uint64_t rank = 0; rank < p; ++rank) {
    for (std::uint64_t n = shape.items(rank, p); n > 0; --n) {
      const std::uint64_t i = all.size();
      all.emplace_back(key_of<Key>(shape.key(i)), static_cast<Value>(i));
      if (rank != r) continue;
      sorted.keys.push_back(all.back().first);
      sorted.values.push_back(all.back().second);
    }
  }
  const KeyCodec<WordOf<Key>> codec(kind_of(key_type_of<Key>()), order);
  const auto word = [&](const auto& item) {
    return codec.encoded(std::bit_cast<WordOf<Key>>(item.first));
  };
  std::ranges::stable_sort(all, [&](const auto& a, const auto& b) { return word(a) < word(b); });
  const EqualShares shares{all.size(), p};
  for (std::uint64_t i = shares.begin(r); i < shares.begin(r + 1); ++i) {
    sorted.expected_keys.push_back(all[i].first);
    sorted.expected_values.push_back(all[i].second);
  }
  return sorted;
}

/// Equal in bits: NaNs too.
template <class T>
bool are_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

}  // namespace sortie::test
