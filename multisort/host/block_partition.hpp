#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sortie/multisort/host/digits.hpp"
#include "sortie/multisort/host/items.hpp"
#include "sortie/multisort/host/waiting_blocks.hpp"

namespace sortie::multisort {

/// Divides items by a digit in place, in the manner of the in-place sample sort of Axtmann, Witt,
/// Ferizovic and Sanders (IPS4o, ESA 2017).
///
/// 1. collect(), for each stripe of the items: they become blocks of a bucket each, and some that
///    wait for a block to be filled. Stripes are independent of each other;
/// 2. arrange(): blocks go where their bucket lies, along the cycles of the permutation, by the
///    thread that calls; then the gaps at the ends of the buckets are filled.
///
/// Not stable. What comes out depends on the number of stripes, not on who works on them.
/// Work space: WaitingBlocks a stripe, two bytes a block.
template <std::unsigned_integral Key, class Value>
class BlockPartition {
 public:
  using Range = Items<Key, Value>;
  using Stripes = std::span<WaitingBlocks<Key, Value>>;

  [[nodiscard]] static std::uint64_t bytes(std::uint64_t most_items, std::size_t stripes) {
    return stripes * WaitingBlocks<Key, Value>::bytes + 2 * (most_items / block_size + 2);
  }

  BlockPartition(std::uint64_t most_items, std::size_t stripes)
      : stripes_(stripes), bucket_of_slot_(most_items / block_size + 2) {}

  [[nodiscard]] std::size_t stripes() const { return stripes_.size(); }

  /// Begins a partition: to be followed by collect() of each stripe, and arrange().
  void begin(Range items, std::uint64_t n, Digit digit) {
    items_ = items;
    n_ = n;
    digit_ = digit;
  }

  void collect(std::size_t stripe) {
    const std::uint64_t slots = n_ / block_size;
    const std::uint64_t first = slots * stripe / stripes();
    const std::uint64_t last = slots * (stripe + 1) / stripes();
    const std::uint64_t end = stripe + 1 == stripes() ? n_ : last * block_size;
    const std::uint64_t blocks =
        stripes_[stripe].collect(items_.from(first * block_size), end - first * block_size, digit_,
                                 bucket_of_slot_.data() + first);
    const auto slot = bucket_of_slot_.begin() + static_cast<std::ptrdiff_t>(first);
    std::fill(slot + static_cast<std::ptrdiff_t>(blocks),
              slot + static_cast<std::ptrdiff_t>(last - first), empty);
  }

  /// \param ends  receives where each bucket ends
  void arrange(std::array<std::uint64_t, block_buckets>& ends) {
    const std::uint64_t slots = n_ / block_size;
    bucket_of_slot_[slots] = empty;  // that of the last items, which are no full block
    blocks_.fill(0);
    for (std::uint64_t slot = 0; slot < slots; ++slot)
      if (bucket_of_slot_[slot] != empty) ++blocks_[bucket_of_slot_[slot]];
    std::uint64_t begin = 0;
    for (std::size_t bucket = 0; bucket < block_buckets; ++bucket) {
      first_slot_[bucket] = (begin + block_size - 1) / block_size;
      begin += blocks_[bucket] * block_size;
      for (const WaitingBlocks<Key, Value>& stripe : stripes_) begin += stripe.waiting(bucket);
      ends[bucket] = begin;
    }
    move_blocks(slots);
    fill_gaps(ends, slots);
  }

 private:
  static constexpr std::uint64_t block_size = block_items<Key>;
  static constexpr std::uint16_t empty = 0xffff;

  /// A block outside of the items.
  struct Block {
    std::array<Key, block_size> keys;
    std::array<Value, has_values<Value> ? block_size : 1> values;
    [[nodiscard]] Range items() { return {keys.data(), values.data()}; }
  };

  [[nodiscard]] Range slot(std::uint64_t slot) const { return items_.from(slot * block_size); }
  [[nodiscard]] bool is_home(std::size_t bucket, std::uint64_t slot) const {
    return slot >= first_slot_[bucket] && slot < first_slot_[bucket] + blocks_[bucket];
  }

  /// The slot where the next block of a bucket goes: the first one that holds none of its blocks.
  [[nodiscard]] std::uint64_t next_of(std::size_t bucket,
                                      std::array<std::uint64_t, block_buckets>& next) const {
    std::uint64_t target = next[bucket];
    while (bucket_of_slot_[target] == bucket) ++target;
    return next[bucket] = target;
  }

  /// Asks for the items of a slot, which may lie beyond the end: that is no access.
  static void bring_near(Range items) {
    const auto ask = [](const void* begin, std::size_t bytes) {
      for (std::size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(static_cast<const char*>(begin) + at, 1);
    };
    ask(items.keys, block_size * sizeof(Key));
    if constexpr (has_values<Value>) ask(items.values, block_size * sizeof(Value));
  }

  /// Brings every block to a slot of its bucket: from first_slot_ on, as many as it has blocks.
  void move_blocks(std::uint64_t slots) {
    std::array<std::uint64_t, block_buckets> next = first_slot_;
    Block* carried = &carried_[0];
    Block* displaced = &carried_[1];
    for (std::uint64_t start = 0; start < slots; ++start) {
      std::size_t bucket = bucket_of_slot_[start];
      if (bucket == empty || is_home(bucket, start)) continue;
      copy_items(slot(start), block_size, carried->items());
      bucket_of_slot_[start] = empty;
      while (bucket != empty) {
        const std::uint64_t target = next_of(bucket, next);
        next[bucket] = target + 1;
        const std::size_t there =
            std::exchange(bucket_of_slot_[target], static_cast<std::uint16_t>(bucket));
        if (target == slots) {  // partly beyond the end
          copy_items(carried->items(), block_size, overflow_.items());
          break;
        }
        if (there != empty) {
          bring_near(slot(next_of(there, next)));
          copy_items(slot(target), block_size, displaced->items());
        }
        copy_items(carried->items(), block_size, slot(target));
        std::swap(carried, displaced);
        bucket = there;
      }
    }
  }

  /// Fills what is left of each bucket before its first block and behind its last with what waits,
  /// and with what its last block has beyond its end. That lies where later buckets have gaps.
  void fill_gaps(const std::array<std::uint64_t, block_buckets>& ends, std::uint64_t slots) {
    std::uint64_t begin = 0;
    for (std::size_t bucket = 0; bucket < block_buckets; ++bucket) {
      const std::uint64_t end = ends[bucket];
      const std::uint64_t head = std::min(first_slot_[bucket] * block_size, end);
      std::uint64_t blocks = blocks_[bucket];
      const bool overflows = blocks > 0 && first_slot_[bucket] + blocks - 1 == slots;
      if (overflows) --blocks;
      const std::uint64_t blocks_end = first_slot_[bucket] * block_size + blocks * block_size;
      const std::uint64_t tail = std::min(std::max(head, blocks_end), end);
      std::uint64_t place = begin;
      // copy(first, n, to) writes n of the items, from number `first` on.
      const auto fill = [&](std::uint64_t n, auto copy) {
        for (std::uint64_t done = 0; done < n;) {
          if (place == head) place = tail;
          const std::uint64_t left = n - done;
          const std::uint64_t piece = place < head ? std::min(left, head - place) : left;
          copy(done, piece, items_.from(place));
          done += piece;
          place += piece;
        }
      };
      const auto copy_from = [](Range from) {
        return [from](std::uint64_t first, std::uint64_t n, Range to) {
          copy_items(from.from(first), n, to);
        };
      };
      if (blocks > 0 && blocks_end > end) fill(blocks_end - end, copy_from(items_.from(end)));
      if (overflows) fill(block_size, copy_from(overflow_.items()));
      for (const WaitingBlocks<Key, Value>& stripe : stripes_) {
        fill(stripe.waiting(bucket), [&](std::uint64_t first, std::uint64_t n, Range to) {
          stripe.copy(bucket, first, n, to);
        });
      }
      begin = end;
    }
  }

  std::vector<WaitingBlocks<Key, Value>> stripes_;
  std::vector<std::uint16_t> bucket_of_slot_;  ///< of the block there, or `empty`
  Range items_;
  std::uint64_t n_ = 0;
  Digit digit_;
  std::array<std::uint64_t, block_buckets> blocks_{};      ///< of each bucket
  std::array<std::uint64_t, block_buckets> first_slot_{};  ///< of each bucket
  Block carried_[2];
  Block overflow_;
};

}  // namespace sortie::multisort
