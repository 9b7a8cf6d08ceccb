// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "multisort/host/block_partition.hpp"
#include "multisort/host/local_sort.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/radix_pass.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "sortie/context.hpp"

namespace sortie::multisort {

/// Sorts pairs that are words by vectors, on the calling thread, best within the second-level
/// cache. Not stable: equal keys come in the order of their values, as words. O(n log n).
///
/// Groups that fit the registers, found by the keys' upper bits in a pass of their own, were tried
/// and took longer: on a Xeon with 2 MiB of second-level cache, 2^17 random words, 9.8 ns a word
/// instead of 8.4, and skewed ones 10.9 instead of 7.5.
/// \param scratch  n words
/// \pre has_fast_word_sort()
template <class Key, class Value>
requires(has_values<Value>&& are_words<Key, Value>) void sort_as_words(Items<Key, Value> items,
                                                                       std::uint64_t n,
                                                                       std::uint64_t* scratch) {
  for (std::uint64_t i = 0; i < n; ++i) scratch[i] = word_of(items, i);
  sort_words(scratch, n);
  copy_words(scratch, n, items);
}

/// The order of items with equal keys.
enum class EqualKeys {
  in_any_order,
  by_value,  ///< pairs that are words, where has_fast_word_sort(): by values as unsigned integers
};

/// Sorts parts of an array on one thread, with a scratch that fits the cache: divides a part in
/// place by its digits until the cache holds it. Not stable. sort() does not allocate and does not
/// throw.
template <std::unsigned_integral Key, class Value>
class PartSort {
 public:
  using Range = Items<Key, Value>;

  /// Bytes for parts of at most so many items: 1.5 MiB for large ones, with values 3 MiB.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t most_items) {
    return Partition::bytes(most_items, 1) + scratch_items(most_items) * item_bytes<Key, Value>;
  }

  /// \throws Error (out_of_memory)
  PartSort(const HostContext& context, std::uint64_t most_items,
           EqualKeys equal_keys = EqualKeys::in_any_order)
      : equal_keys_(equal_keys),
        partition_(most_items, 1),
        capacity_(scratch_items(most_items)),
        storage_(context, capacity_, "scratch of the sort in place") {}

  /// Sorts items that differ in no bits but the lowest `bits`. \pre n is at most that of the
  /// constructor
  void sort(Range items, std::uint64_t n, int bits) {
    if constexpr (are_pair_words) {
      if (has_fast_word_sort() && n <= cached_items) {
        if (bits > 0)
          sort_as_words(items, n, storage_.items().keys);
        else
          sort_equal(items, n);
        return;
      }
    }
    if (n <= std::max(cached_items, sorter_.items_without_scratch())) {
      sorter_.sort(items, scratch(), n, bits, items);
      return;
    }
    if (bits == 0) return sort_equal(items, n);
    Key differing = static_cast<Key>(static_cast<Key>(~Key{0}) >>
                                     (8 * sizeof(Key) - static_cast<std::size_t>(bits)));
    if (!differ_in_bit(items.keys, n, bits - 1))
      differing = differing_bits(items.keys, n, items.keys[0]);
    if (differing == 0) return sort_equal(items, n);
    const Digit digit = Digit::highest(differing, block_digit_bits);
    std::array<std::uint64_t, block_buckets> ends;
    partition_.begin(items, n, digit);
    partition_.collect(0);
    partition_.place(ends);
    for (std::size_t share = 0; share < partition_.shares(); ++share) partition_.exchange(share);
    partition_.finish(ends);
    std::uint64_t begin = 0;
    for (const std::uint64_t end : ends) {
      if (end - begin > 1) sort(items.from(begin), end - begin, digit.shift);
      begin = end;
    }
  }

 private:
  using Partition = BlockPartition<Key, Value>;
  using Sorter = LocalSort<Key, Value>;

  static constexpr bool are_pair_words = has_values<Value> && are_words<Key, Value>;
  using Storage = std::conditional_t<are_pair_words, ItemStorage<std::uint64_t, NoValue>,
                                     ItemStorage<Key, Value>>;

  /// Pairs take twice the cache in one go, since dividing them in place once more takes longer.
  static constexpr std::uint64_t cached_items = (has_values<Value> ? 2 : 1) * Sorter::cached_items;

  /// Brings items with equal keys in order.
  void sort_equal(Range items, std::uint64_t n) const {
    if constexpr (are_pair_words) {
      if (equal_keys_ == EqualKeys::by_value)
        sort_words(reinterpret_cast<std::uint32_t*>(items.values), n);
    }
  }

  /// Whether a sample of the keys shows that they differ in a bit; no other key is read.
  [[nodiscard]] static bool differ_in_bit(const Key* keys, std::uint64_t n, int bit) {
    constexpr std::uint64_t sampled_keys = 32;
    Key differing = 0;
    for (std::uint64_t i = 1; i < sampled_keys; ++i)
      differing |= static_cast<Key>(keys[n / sampled_keys * i] ^ keys[0]);
    return (differing >> bit & 1) != 0;
  }

  [[nodiscard]] static std::uint64_t scratch_items(std::uint64_t n) {
    return std::min(n, cached_items);
  }

  [[nodiscard]] Range scratch() const {
    if constexpr (are_pair_words) {
      auto* const keys = reinterpret_cast<Key*>(storage_.items().keys);
      return {keys, reinterpret_cast<Value*>(keys + capacity_)};
    } else {
      return storage_.items();
    }
  }

  EqualKeys equal_keys_;
  Partition partition_;
  std::uint64_t capacity_;  ///< items that the storage holds
  Storage storage_;
  Sorter sorter_{cached_items};
};

}  // namespace sortie::multisort
