// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "apps/suffix_array/host/induced/scratch_stack.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::host {

/// Numbers distinct keys. Several threads may add keys at the same time; which number a key has depends
/// on their order, and not all numbers are given to a key.
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

  /// Numbers that one thread takes from the table, some at a time: if each new key changed the counter
  /// of the table, its cache line would move between cores for each.
  struct Numbers {
    std::uint32_t next = 0;
    std::uint32_t end = 0;
  };

  /// Keys that may still be added.
  [[nodiscard]] std::uint64_t places_left() const {
    return std::max<std::uint64_t>(entries() / 4 * 3, size()) - size();
  }
  [[nodiscard]] std::uint64_t entries() const { return numbers_.size(); }
  /// Numbers that threads have taken.
  [[nodiscard]] std::uint32_t size() const { return next_ - first_; }

  void prefetch(std::uint64_t hash) const {
    __builtin_prefetch(&numbers_[hash >> shift_]);
    __builtin_prefetch(&keys_[hash >> shift_]);
  }

  /// The number of a key. \param is_same  whether a key of the table is this one
  /// \pre places_left() is at least the number of threads
  template <class IsSame>
  std::uint32_t find_or_add(const Key& key, std::uint64_t hash, Numbers& numbers,
                            const IsSame& is_same) {
    for (std::uint64_t at = hash >> shift_;; at = (at + 1) & (entries() - 1)) {
      const std::atomic_ref<std::uint32_t> number(numbers_[at]);
      std::uint32_t found = number.load(std::memory_order_acquire);
      if (found == free_entry &&
          number.compare_exchange_strong(found, busy_entry, std::memory_order_acquire)) {
        keys_[at] = key;
        found = number_from(numbers);
        number.store(found, std::memory_order_release);
        return found;
      }
      while (found == busy_entry) found = number.load(std::memory_order_acquire);
      if (is_same(keys_[at])) return found;
    }
  }

  /// Calls visit(i, number, key) for all keys, on several threads. i is below the result.
  /// \return how many keys
  template <class Visit>
  std::uint32_t for_each(const Visit& visit) const {
    const EqualShares shares = thread_shares(entries());
    std::vector<std::uint64_t> counts(shares.count);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      counts[share] = end - begin -
                      static_cast<std::uint64_t>(
                          std::count(numbers_.begin() + begin, numbers_.begin() + end, free_entry));
    });
    const std::vector<std::uint64_t> places = begins_of(counts);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      auto index = static_cast<std::uint32_t>(places[share]);
      for (std::uint64_t at = begin; at < end; ++at)
        if (numbers_[at] != free_entry) visit(index++, numbers_[at], keys_[at]);
    });
    return static_cast<std::uint32_t>(places.back());
  }

  /// Moves the keys, which keep their numbers, to a table of at least so many entries, and at least twice
  /// as many as before.
  template <class HashOf>
  void grow(ScratchStack& scratch, std::uint64_t entries, const HashOf& hash_of) {
    const NameTable old = *this;
    allocate(scratch, std::bit_ceil(std::max(2 * old.entries(), entries)));
    old.for_each([&](std::uint32_t, std::uint32_t number, const Key& key) {
      for (std::uint64_t at = hash_of(key) >> shift_;; at = (at + 1) & (this->entries() - 1)) {
        std::uint32_t found = free_entry;
        if (!std::atomic_ref(numbers_[at])
                 .compare_exchange_strong(found, number, std::memory_order_relaxed))
          continue;
        keys_[at] = key;
        return;
      }
    });
  }

 private:
  static constexpr std::uint32_t free_entry = 0xffffffff;
  static constexpr std::uint32_t busy_entry = 0xfffffffe;

  std::uint32_t number_from(Numbers& numbers) {
    constexpr std::uint32_t taken = 16;
    if (numbers.next == numbers.end) {
      numbers.next = std::atomic_ref(next_).fetch_add(taken, std::memory_order_relaxed);
      numbers.end = numbers.next + taken;
    }
    return numbers.next++;
  }

  void allocate(ScratchStack& scratch, std::uint64_t entries) {
    numbers_ = scratch.take<std::uint32_t>(entries);
    keys_ = scratch.take<Key>(entries);
    for_each_index(0, entries, [to = numbers_.data()](std::uint64_t at) { to[at] = free_entry; });
    shift_ = 64 - std::countr_zero(entries);
  }

  std::span<std::uint32_t> numbers_;
  std::span<Key> keys_;
  std::uint32_t first_;
  int shift_ = 0;  ///< of a hash, to the number of an entry
  /// In a cache line of its own: the others are only read while threads add keys.
  alignas(64) std::uint32_t next_;
};

}  // namespace sortie::suffix_array::host
