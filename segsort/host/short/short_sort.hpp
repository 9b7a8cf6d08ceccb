// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "primitives/host/items.hpp"

/// Stable sorts of short segments without branches that depend on keys: a mispredicted branch costs
/// as much as all other work on one item.

namespace sortie::segsort::detail {

/// Blocks of up to this many keys are sorted by ranks: for each key, count the keys before it, in
/// n^2 / 2 independent comparisons that the compiler vectorises.
inline constexpr std::size_t rank_block_size = 16;

/// Four 32-bit lanes: the vector size that every x86-64 and ARMv8 processor has.
using Lanes = std::int32_t __attribute__((vector_size(16)));

/// Writes the position of keys[i] in the stable order of `Width` keys to rank[i].
///
/// rank[j] is the number of keys i < j that are not after key j, plus the number of keys i > j
/// before it. The count starts from j; the comparison with key i subtracts or adds one. Handles
/// four j at a time.
template <std::size_t Width>
requires(Width > 4) inline void rank_keys(const std::array<std::uint32_t, Width>& keys,
                                          std::array<std::uint32_t, Width>& rank) {
  constexpr std::size_t vectors = Width / 4;
  Lanes key[vectors];
  Lanes place[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    const auto j = static_cast<std::int32_t>(4 * v);
    std::memcpy(&key[v], &keys[4 * v], sizeof key[v]);
    key[v] ^= std::numeric_limits<std::int32_t>::min();  // unsigned order as signed order
    place[v] = Lanes{j, j + 1, j + 2, j + 3};
  }
#pragma GCC unroll 4
  for (std::size_t w = 0; w < vectors; ++w) {
#pragma GCC unroll 4
    for (std::int32_t lane = 0; lane < 4; ++lane) {
      const std::int32_t one = key[w][lane];
      const Lanes pivot = {one, one, one, one};
#pragma GCC unroll 4
      for (std::size_t v = 0; v < w; ++v) place[v] -= pivot < key[v];
      const Lanes earlier = Lanes{0, 1, 2, 3} < lane;
      const Lanes later = Lanes{0, 1, 2, 3} > lane;
      place[w] += (later & (key[w] < pivot)) - (earlier & (pivot < key[w]));
#pragma GCC unroll 4
      for (std::size_t v = w + 1; v < vectors; ++v) place[v] += key[v] < pivot;
    }
  }
  std::memcpy(rank.data(), place, sizeof place);
}

/// As above, for up to four keys, and for 64-bit keys, which the smallest vector units cannot
/// compare.
template <std::size_t Width, std::unsigned_integral UKey>
inline void rank_keys(const std::array<UKey, Width>& keys, std::array<std::uint32_t, Width>& rank) {
  for (std::size_t i = 0; i < Width; ++i) {
    std::uint32_t before = 0;
#pragma GCC unroll 16
    for (std::size_t j = 0; j < i; ++j) {
      const std::uint32_t not_after = keys[j] <= keys[i];
      before += not_after;
      rank[j] += 1 - not_after;
    }
    rank[i] = before;
  }
}

/// Calls place(i, keys[i], rank of keys[i]) for each of `Size` keys, which place() may overwrite.
///
/// The size is a compile-time constant, so copies become a few vector moves. With a size known at
/// run time they were calls of memmove, which took as long as the comparisons. With four lanes at a
/// time, the block is padded with the largest key. Padding sorts last in the stable order even if a
/// key equals it, so the ranks of the keys are 0..Size-1.
template <std::size_t Size, std::unsigned_integral UKey, class Place>
inline void rank_block(const UKey* keys, Place place) {
  constexpr std::size_t width = sizeof(UKey) == 4 && Size > 4 ? (Size + 3) / 4 * 4 : Size;
  std::array<UKey, width> block;
  std::array<std::uint32_t, width> rank{};
  std::memcpy(block.data(), keys, Size * sizeof(UKey));
  for (std::size_t i = Size; i < width; ++i) block[i] = std::numeric_limits<UKey>::max();
  rank_keys(block, rank);
  for (std::size_t i = 0; i < Size; ++i) place(i, block[i], std::size_t{rank[i]});
}

/// Sorts `Size` items by their ranks.
template <std::size_t Size, std::unsigned_integral UKey, class Value>
inline void rank_sort(UKey* keys, Value* values) {
  std::array<Value, has_values<Value> ? Size : 1> values_in;
  if constexpr (has_values<Value>) std::memcpy(values_in.data(), values, Size * sizeof(Value));
  rank_block<Size>(keys, [&](std::size_t i, UKey key, std::size_t to) {
    keys[to] = key;
    if constexpr (has_values<Value>) values[to] = values_in[i];
  });
}

/// Calls body(std::integral_constant of n) for n from 2 to Most.
template <std::size_t Most, class Body>
[[gnu::always_inline]] inline void with_size(std::size_t n, Body body) {
  [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    static_cast<void>(
        ((n == I + 2 && (body(std::integral_constant<std::size_t, I + 2>{}), true)) || ...));
  }
  (std::make_index_sequence<Most - 1>());
}

/// Item of the merges: a key, and a word of the same size that holds its value, or the index of the
/// value if that is larger.
template <std::unsigned_integral UKey, class Payload>
struct MergeItem {
  static_assert(sizeof(Payload) <= sizeof(UKey));
  UKey key;
  UKey word;

  MergeItem() = default;
  MergeItem(UKey k, const Payload& payload) : key(k), word(0) {
    std::memcpy(&word, &payload, sizeof payload);
  }
  [[nodiscard]] Payload payload() const {
    Payload out;
    std::memcpy(&out, &word, sizeof out);
    return out;
  }
};

template <std::unsigned_integral UKey>
struct MergeItem<UKey, NoValue> {
  UKey key;
};

/// Returns `yes` or `no`, selected by arithmetic: compilers turn a conditional expression into a
/// branch.
template <class Item>
[[nodiscard]] inline Item select(bool condition, const Item& yes, const Item& no) {
  using Word = std::conditional_t<sizeof(Item) % 8 == 0, std::uint64_t, std::uint32_t>;
  std::array<Word, sizeof(Item) / sizeof(Word)> a;
  std::array<Word, sizeof(Item) / sizeof(Word)> b;
  std::memcpy(&a, &yes, sizeof yes);
  std::memcpy(&b, &no, sizeof no);
  const Word mask = Word{0} - Word{condition};
  for (std::size_t i = 0; i < a.size(); ++i) b[i] ^= (a[i] ^ b[i]) & mask;
  Item out;
  std::memcpy(&out, &b, sizeof out);
  return out;
}

/// Merges the sorted halves [0, n/2) and [n/2, n) of `in` into `out`.
///
/// Merges from both ends at once, which makes two chains of dependent loads instead of one. Each
/// end delivers half of the items, so neither end can exhaust a half before it is done.
template <class Item>
inline void merge_halves(const Item* in, std::size_t n, Item* out) {
  const std::size_t half = n / 2;
  std::size_t left = 0;
  std::size_t right = half;
  std::size_t left_end = half;
  std::size_t right_end = n;
  for (std::size_t i = 0; i < half; ++i) {
    const bool take_right = in[right].key < in[left].key;
    out[i] = select(take_right, in[right], in[left]);
    right += take_right;
    left += !take_right;

    const bool take_left = in[right_end - 1].key < in[left_end - 1].key;
    out[n - 1 - i] = select(take_left, in[left_end - 1], in[right_end - 1]);
    left_end -= take_left;
    right_end -= !take_left;
  }
  if (n % 2 != 0) out[half] = left < left_end ? in[left] : in[right];
}

/// Sorts n keys with their payloads into `out`; `other` holds n items of scratch.
template <std::unsigned_integral UKey, class Payload>
void merge_sort(Items<UKey, Payload> items, std::size_t n, MergeItem<UKey, Payload>* out,
                MergeItem<UKey, Payload>* other) {
  if (n <= rank_block_size) {
    return with_size<rank_block_size>(n, [&](auto size) {
      rank_block<size()>(items.keys, [&](std::size_t i, UKey key, std::size_t to) {
        if constexpr (has_values<Payload>) {
          out[to] = {key, items.values[i]};
        } else {
          out[to] = {key};
        }
      });
    });
  }
  const std::size_t half = n / 2;
  merge_sort(items, half, other, out);
  merge_sort(items.from(half), n - half, other + half, out + half);
  merge_halves(other, n, out);
}

/// Longest segment sorted by merging; longer segments are radix sorted. Measured on a Zen 5 core,
/// random keys over the whole range, nanoseconds per item by merging and by radix sort: u32 + u32
/// 5.4 and 6.9 at 128 items, 6.3 and 5.6 at 256; u64 + u32 9.0 and 11.8 at 512, 10.1 and 10.4 at
/// 1024.
template <class UKey>
inline constexpr std::size_t longest_merged = sizeof(UKey) == 4 ? 160 : 1024;

/// Sorts n <= longest_merged items by merging on the stack.
template <std::unsigned_integral UKey, class Value>
void merge_sort_segment(Items<UKey, Value> items, std::size_t n) {
  constexpr std::size_t limit = longest_merged<UKey>;
  constexpr bool by_index = has_values<Value> && sizeof(Value) > sizeof(UKey);
  using Payload = std::conditional_t<by_index, std::uint32_t, Value>;
  std::array<MergeItem<UKey, Payload>, limit> sorted;
  std::array<MergeItem<UKey, Payload>, limit> other;
  if constexpr (by_index) {
    std::array<std::uint32_t, limit> index;
    std::iota(index.begin(), index.begin() + n, 0U);
    merge_sort<UKey, Payload>({items.keys, index.data()}, n, sorted.data(), other.data());
    std::array<Value, limit> values_in;
    std::copy_n(items.values, n, values_in.begin());
    for (std::size_t i = 0; i < n; ++i) items.values[i] = values_in[sorted[i].payload()];
  } else {
    merge_sort(items, n, sorted.data(), other.data());
    if constexpr (has_values<Value>)
      for (std::size_t i = 0; i < n; ++i) items.values[i] = sorted[i].payload();
  }
  for (std::size_t i = 0; i < n; ++i) items.keys[i] = sorted[i].key;
}

}  // namespace sortie::segsort::detail
