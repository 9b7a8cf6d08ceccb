// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "primitives/host/items.hpp"
#include "primitives/host/radix_pass.hpp"

namespace sortie::multisort {

/// Digits by which items are divided in place: a block for each value takes half of a second-level
/// cache of 512 KiB, and blocks of 512 bytes are moved at the speed of a copy.
inline constexpr int block_digit_bits = 9;
inline constexpr std::size_t block_buckets = std::size_t{1} << block_digit_bits;
template <class Key>
inline constexpr std::uint64_t block_items = 512 / sizeof(Key);

/// The buffer blocks of IPS4o: one partly filled block for each bucket.
///
/// `block_items` items per bucket: 256 KiB of keys. A value is stored beside its key, as one 64-bit
/// word if both fit: then one cache line receives both, and the first-level cache holds 512 lines.
/// On a Xeon collect() takes 2.6 ns per pair of u32, 4.4 with separate arrays.
template <std::unsigned_integral Key, class Value>
class BufferBlocks {
  struct Pair {
    Key key;
    Value value;
  };
  using Item = std::conditional_t<are_words<Key, Value>, std::uint64_t,
                                  std::conditional_t<has_values<Value>, Pair, Key>>;

 public:
  static constexpr std::uint64_t bytes =
      block_buckets * (block_items<Key> * sizeof(Item) + sizeof(std::uint32_t));

  BufferBlocks()
      : items_(std::make_unique_for_overwrite<Item[]>(block_buckets * block_items<Key>)) {}

  [[nodiscard]] std::uint64_t buffered(std::size_t bucket) const {
    return ends_[bucket] - bucket * block_items<Key>;
  }
  /// Writes n of them, from number `first` on.
  void copy(std::size_t bucket, std::uint64_t first, std::uint64_t n, Items<Key, Value> to) const {
    copy(items_.get() + bucket * block_items<Key> + first, n, to);
  }

  /// Replaces the items by full blocks of one bucket each, from the front on; the other items stay
  /// in the buffer blocks.
  /// \param bucket_of_block  receives the bucket of each full block
  /// \param prepare          prepare(keys, n) is called for neighbouring keys before they are read
  /// Returns the number of full blocks.
  template <class Prepare>
  std::uint64_t collect(Items<Key, Value> items, std::uint64_t n, Digit digit,
                        std::uint16_t* bucket_of_block, const Prepare& prepare) {
    for (std::size_t bucket = 0; bucket < block_buckets; ++bucket)
      ends_[bucket] = static_cast<std::uint32_t>(bucket * block_items<Key>);
    std::uint64_t blocks = 0;
    for (std::uint64_t begin = 0; begin < n; begin += prepared_items) {
      const std::uint64_t batch_end = std::min(begin + prepared_items, n);
      prepare(items.keys + begin, batch_end - begin);
      for (std::uint64_t i = begin; i < batch_end; ++i) {
        const std::size_t bucket = digit(items.keys[i]);
        std::uint32_t end = ends_[bucket];
        items_[end++] = item_of(items, i);
        if (end % block_items<Key> == 0) {
          // All items up to here have been read and are in blocks, so this block fits.
          end -= static_cast<std::uint32_t>(block_items<Key>);
          copy(items_.get() + end, block_items<Key>, items.from(blocks * block_items<Key>));
          bucket_of_block[blocks++] = static_cast<std::uint16_t>(bucket);
        }
        ends_[bucket] = end;
      }
    }
    return blocks;
  }

 private:
  /// Keys prepared at a time: they stay in the first-level cache until they are read.
  static constexpr std::uint64_t prepared_items = 4096 / sizeof(Key);

  static Item item_of(Items<Key, Value> items, std::uint64_t i) {
    if constexpr (are_words<Key, Value>) {
      return word_of(items, i);
    } else if constexpr (has_values<Value>) {
      return {items.keys[i], items.values[i]};
    } else {
      return items.keys[i];
    }
  }

  static void copy(const Item* from, std::uint64_t n, Items<Key, Value> to) {
    if constexpr (are_words<Key, Value>) {
      copy_words(from, n, to);
    } else if constexpr (has_values<Value>) {
      for (std::uint64_t i = 0; i < n; ++i) {
        to.keys[i] = from[i].key;
        to.values[i] = from[i].value;
      }
    } else {
      std::copy_n(from, n, to.keys);
    }
  }

  std::unique_ptr<Item[]> items_;
  std::array<std::uint32_t, block_buckets> ends_;  ///< of what waits, for each bucket
};

/// Divides items by a digit in place, in the manner of the in-place sample sort of Axtmann, Witt,
/// Ferizovic and Sanders (IPS4o, ESA 2017).
///
/// 1. collect(), for each stripe of the items: items become full blocks of one bucket each; the
///    others stay in buffer blocks;
/// 2. exchange(), for each share of the slots, which has a range of slots of every bucket: its
///    blocks move to the ranges of their buckets, along the cycles of the permutation, until these
///    are full. Stripes, and shares, are independent of each other;
/// 3. finish(): the few blocks that did not fit their share move to other shares; then the gaps at
///    the ends of the buckets are filled.
///
/// (In IPS4o threads share the buckets' ends by atomic operations, so timing affects the order.)
/// Not stable. The result depends on the number of stripes and the sizes alone, not on the threads.
/// Work space: BufferBlocks for each stripe, two bytes for each block.
template <std::unsigned_integral Key, class Value>
class BlockPartition {
 public:
  using Range = Items<Key, Value>;

  [[nodiscard]] static std::uint64_t bytes(std::uint64_t most_items, std::size_t stripes) {
    return stripes * BufferBlocks<Key, Value>::bytes + 2 * (most_items / block_size + 2);
  }

  /// Least blocks of a share: 64 per bucket, of which one in twenty does not fit its share.
  static constexpr std::uint64_t fewest_share_blocks = 64 * block_buckets;

  /// \param share_blocks  tests make it small
  BlockPartition(std::uint64_t most_items, std::size_t stripes,
                 std::uint64_t share_blocks = fewest_share_blocks)
      : stripes_(stripes),
        bucket_of_slot_(most_items / block_size + 2),
        share_blocks_(share_blocks) {}

  [[nodiscard]] std::size_t stripes() const { return stripes_.size(); }

  /// To be followed by collect() of each stripe, place(), exchange() of each share, and finish().
  void begin(Range items, std::uint64_t n, Digit digit) {
    items_ = items;
    digit_ = digit;
    n_ = n;
    slots_ = n / block_size;
  }

  /// \param prepare  prepare(keys, n) is called once for all keys, batch by batch, before they are
  ///                 read
  template <class Prepare>
  void collect(std::size_t stripe, const Prepare& prepare) {
    const std::uint64_t first = slots_ * stripe / stripes();
    const std::uint64_t last = slots_ * (stripe + 1) / stripes();
    const std::uint64_t end = stripe + 1 == stripes() ? n_ : last * block_size;
    std::uint16_t* const buckets = bucket_of_slot_.data() + first;
    const std::uint64_t blocks =
        stripes_[stripe].collect(slot(first), end - first * block_size, digit_, buckets, prepare);
    std::fill(buckets + blocks, buckets + (last - first), empty);
  }
  void collect(std::size_t stripe) {
    collect(stripe, [](Key*, std::uint64_t) {});
  }

  /// After all stripes are collected. \param ends  receives where each bucket ends
  void place(std::array<std::uint64_t, block_buckets>& ends) {
    bucket_of_slot_[slots_] = empty;  // that of the last items, which are no full block
    blocks_.fill(0);
    for (std::uint64_t slot = 0; slot < slots_; ++slot)
      if (bucket_of_slot_[slot] != empty) ++blocks_[bucket_of_slot_[slot]];
    std::uint64_t begin = 0;
    for (std::size_t bucket = 0; bucket < block_buckets; ++bucket) {
      first_slot_[bucket] = (begin + block_size - 1) / block_size;
      begin += blocks_[bucket] * block_size;
      for (const BufferBlocks<Key, Value>& stripe : stripes_) begin += stripe.buffered(bucket);
      ends[bucket] = begin;
    }
  }

  /// Shares of the slots, by their number alone.
  [[nodiscard]] std::size_t shares() const {
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(slots_ / share_blocks_, 1, most_shares));
  }

  void exchange(std::size_t share) { move_blocks(share, shares()); }

  /// \param ends  result of place()
  void finish(const std::array<std::uint64_t, block_buckets>& ends) {
    if (shares() > 1) move_blocks(0, 1);
    fill_gaps(ends);
  }

 private:
  static constexpr std::uint64_t block_size = block_items<Key>;
  static constexpr std::uint16_t empty = 0xffff;
  static constexpr std::size_t most_shares = 8;
  /// Alignment of the blocks outside of the items.
  static constexpr std::size_t line_bytes = 64;

  /// A block outside of the items.
  struct alignas(line_bytes) Block {
    std::array<Key, block_size> keys;
    std::array<Value, has_values<Value> ? block_size : 1> values;
    [[nodiscard]] Range items() { return {keys.data(), values.data()}; }
  };

  [[nodiscard]] Range slot(std::uint64_t slot) const { return items_.from(slot * block_size); }

  /// Of the range of a bucket's slots that belongs to a share.
  [[nodiscard]] std::uint64_t range_begin(std::size_t bucket, std::size_t share,
                                          std::size_t shares) const {
    return first_slot_[bucket] + blocks_[bucket] * share / shares;
  }

  /// Begin of the next bucket's slots. Slots between a bucket's last block and this one belong to
  /// no range; the last share empties them.
  [[nodiscard]] std::uint64_t next_bucket_begin(std::size_t bucket) const {
    return bucket + 1 < block_buckets ? first_slot_[bucket + 1] : slots_;
  }

  /// For each bucket: the next slot of its range to fill, and the end of the range.
  struct SlotRanges {
    std::array<std::uint64_t, block_buckets> next;
    std::array<std::uint64_t, block_buckets> ends;
  };

  /// The first slot of a bucket's range that holds no block of the bucket, or the end of the range.
  [[nodiscard]] std::uint64_t next_of(std::size_t bucket, SlotRanges& ranges) const {
    std::uint64_t target = ranges.next[bucket];
    while (target < ranges.ends[bucket] && bucket_of_slot_[target] == bucket) ++target;
    return ranges.next[bucket] = target;
  }

  static void copy_block(Range from, Range to) {
    std::uint64_t n = block_size;
    // Hides the constant size: for 512 bytes GCC emits moves of 8, half as fast as memcpy.
    asm("" : "+r"(n));
    copy_items(from, n, to);
  }

  /// Prefetches the items of a slot. It may be beyond the end: a prefetch is no access.
  static void prefetch(Range items) {
    const auto prefetch_array = [](const void* begin, std::size_t bytes) {
      for (std::size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(static_cast<const char*>(begin) + at, 1);
    };
    prefetch_array(items.keys, block_size * sizeof(Key));
    if constexpr (has_values<Value>) prefetch_array(items.values, block_size * sizeof(Value));
  }

  /// Moves a share's blocks to its ranges of their buckets. A block whose range is full stays in a
  /// slot of another bucket; with one share all blocks fit.
  void move_blocks(std::size_t share, std::size_t shares) {
    SlotRanges ranges;
    for (std::size_t bucket = 0; bucket < block_buckets; ++bucket) {
      ranges.next[bucket] = range_begin(bucket, share, shares);
      ranges.ends[bucket] = range_begin(bucket, share + 1, shares);
    }
    Block blocks[2];
    for (std::size_t home = 0; home < block_buckets; ++home) {
      const std::uint64_t first = range_begin(home, share, shares);
      const std::uint64_t end =
          share + 1 == shares ? std::min(next_bucket_begin(home), slots_) : ranges.ends[home];
      for (std::uint64_t start = first; start < end; ++start) {
        const std::size_t bucket = bucket_of_slot_[start];
        if (bucket == empty || (bucket == home && start < ranges.ends[home])) continue;
        if (next_of(bucket, ranges) < ranges.ends[bucket])
          move_cycle(start, ranges, &blocks[0], &blocks[1]);
      }
    }
  }

  /// Moves the block at `start`, then each displaced block, until one reaches an empty slot. If the
  /// range of a block is full, it goes to `start`.
  void move_cycle(std::uint64_t start, SlotRanges& ranges, Block* carried, Block* displaced) {
    copy_block(slot(start), carried->items());
    std::size_t bucket = std::exchange(bucket_of_slot_[start], empty);
    while (bucket != empty) {
      std::uint64_t target = next_of(bucket, ranges);
      const bool has_space = target < ranges.ends[bucket];
      // `start` is still empty: filling it ends the cycle.
      if (!has_space) target = start;
      const std::size_t there =
          std::exchange(bucket_of_slot_[target], static_cast<std::uint16_t>(bucket));
      if (target == slots_) {  // partly beyond the end
        copy_block(carried->items(), overflow_.items());
        return;
      }
      if (there != empty) {
        prefetch(slot(next_of(there, ranges)));
        copy_block(slot(target), displaced->items());
      }
      copy_block(carried->items(), slot(target));
      std::swap(carried, displaced);
      bucket = there;
    }
  }

  /// Fills the gaps of each bucket before its first block and after its last, with buffered items
  /// and with items of its last block beyond its end. These are in gaps of later buckets.
  void fill_gaps(const std::array<std::uint64_t, block_buckets>& ends) {
    std::uint64_t begin = 0;
    for (std::size_t bucket = 0; bucket < block_buckets; ++bucket) {
      const std::uint64_t end = ends[bucket];
      const std::uint64_t head = std::min(first_slot_[bucket] * block_size, end);
      std::uint64_t blocks = blocks_[bucket];
      const bool overflows = blocks > 0 && first_slot_[bucket] + blocks - 1 == slots_;
      if (overflows) --blocks;
      const std::uint64_t blocks_end = (first_slot_[bucket] + blocks) * block_size;
      const std::uint64_t tail = std::min(std::max(head, blocks_end), end);
      std::uint64_t place = begin;
      // copy(first, n, to) writes n of the items, from number `first` on.
      const auto fill = [&](std::uint64_t n, auto copy) {
        for (std::uint64_t done = 0; done < n;) {
          if (place == head) place = tail;
          const std::uint64_t left = n - done;
          const std::uint64_t part = place < head ? std::min(left, head - place) : left;
          copy(done, part, items_.from(place));
          done += part;
          place += part;
        }
      };
      const auto copy_from = [](Range from) {
        return [from](std::uint64_t first, std::uint64_t n, Range to) {
          copy_items(from.from(first), n, to);
        };
      };
      if (blocks > 0 && blocks_end > end) fill(blocks_end - end, copy_from(items_.from(end)));
      if (overflows) fill(block_size, copy_from(overflow_.items()));
      for (const BufferBlocks<Key, Value>& stripe : stripes_) {
        fill(stripe.buffered(bucket), [&](std::uint64_t first, std::uint64_t n, Range to) {
          stripe.copy(bucket, first, n, to);
        });
      }
      begin = end;
    }
  }

  std::vector<BufferBlocks<Key, Value>> stripes_;
  std::vector<std::uint16_t> bucket_of_slot_;  ///< of the block there, or `empty`
  Range items_;
  std::uint64_t n_ = 0;
  std::uint64_t slots_ = 0;  ///< of block_size items each
  Digit digit_;
  std::array<std::uint64_t, block_buckets> blocks_{};      ///< of each bucket
  std::array<std::uint64_t, block_buckets> first_slot_{};  ///< of each bucket
  std::uint64_t share_blocks_;
  Block overflow_;
};

}  // namespace sortie::multisort
