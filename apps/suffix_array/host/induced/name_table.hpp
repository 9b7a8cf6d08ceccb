// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

#include "apps/suffix_array/host/induced/scratch_stack.hpp"

namespace sortie::suffix_array::host {

/// Numbers distinct keys, from 0 on. Several threads may add keys at the same time; which number a key
/// has depends on their order.
///
/// A hash table with linear probing. An entry has a key and its number; the number also says whether
/// the entry is free, or about to be filled by a thread.
template <class Key>
class NameTable {
 public:
  /// \param first  the first number
  NameTable(ScratchStack& scratch, std::uint64_t entries, std::uint32_t first)
      : first_(first), next_(first) {
    allocate(scratch, std::bit_ceil(std::max<std::uint64_t>(entries, 64)));
  }

  /// Keys that may still be added.
  [[nodiscard]] std::uint64_t places_left() const { return entries() / 4 * 3 - size(); }
  [[nodiscard]] std::uint64_t entries() const { return numbers_.size(); }
  [[nodiscard]] std::uint32_t size() const { return next_ - first_; }

  void prefetch(std::uint64_t hash) const {
    __builtin_prefetch(&numbers_[hash >> shift_]);
    __builtin_prefetch(&keys_[hash >> shift_]);
  }

  /// The number of a key. \param is_same  whether a key of the table is this one
  /// \pre places_left() is at least the number of threads
  template <class IsSame>
  std::uint32_t find_or_add(const Key& key, std::uint64_t hash, const IsSame& is_same) {
    for (std::uint64_t at = hash >> shift_;; at = (at + 1) & (entries() - 1)) {
      const std::atomic_ref<std::uint32_t> number(numbers_[at]);
      std::uint32_t found = number.load(std::memory_order_acquire);
      if (found == free_entry &&
          number.compare_exchange_strong(found, busy_entry, std::memory_order_acquire)) {
        keys_[at] = key;
        found = std::atomic_ref(next_).fetch_add(1, std::memory_order_relaxed);
        number.store(found, std::memory_order_release);
        return found;
      }
      while (found == busy_entry) found = number.load(std::memory_order_acquire);
      if (is_same(keys_[at])) return found;
    }
  }

  /// Calls visit(number, key) for all keys.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::uint64_t at = 0; at < entries(); ++at)
      if (numbers_[at] != free_entry) visit(numbers_[at], keys_[at]);
  }

  /// Moves the keys, which keep their numbers, to a table of four times as many entries.
  template <class HashOf>
  void grow(ScratchStack& scratch, const HashOf& hash_of) {
    const NameTable old = *this;
    allocate(scratch, 4 * old.entries());
    old.for_each([&](std::uint32_t number, const Key& key) {
      std::uint64_t at = hash_of(key) >> shift_;
      while (numbers_[at] != free_entry) at = (at + 1) & (entries() - 1);
      numbers_[at] = number;
      keys_[at] = key;
    });
  }

 private:
  static constexpr std::uint32_t free_entry = 0xffffffff;
  static constexpr std::uint32_t busy_entry = 0xfffffffe;

  void allocate(ScratchStack& scratch, std::uint64_t entries) {
    numbers_ = scratch.take<std::uint32_t>(entries);
    keys_ = scratch.take<Key>(entries);
    std::ranges::fill(numbers_, free_entry);
    shift_ = 64 - std::countr_zero(entries);
  }

  std::span<std::uint32_t> numbers_;
  std::span<Key> keys_;
  std::uint32_t first_;
  std::uint32_t next_;
  int shift_ = 0;  ///< of a hash, to the number of an entry
};

}  // namespace sortie::suffix_array::host
