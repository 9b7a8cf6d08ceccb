// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "primitives/host/items.hpp"
#include "primitives/host/radix_pass.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sortie {

/// Buffer in which items are collected until they fill a cache line.
struct alignas(64) CacheLine {
  char bytes[64];
};

/// Whether a cache line holds a whole number of items.
template <class Item>
inline constexpr bool fills_lines = std::is_trivially_copyable_v<Item> &&
                                    sizeof(CacheLine) % sizeof(Item) == 0;

/// Writes items to the next slots of the buckets of an array, through one buffered cache line per
/// bucket, which is written past the caches with streaming stores once it is full.
///
/// A direct write to one of 256 positions in a large array costs a cache line that is read,
/// modified and later evicted, and a TLB entry. Full lines that are not read soon need neither. One
/// core of an Intel Xeon (Sapphire Rapids, virtual), u64 pairs, nanoseconds per pair written
/// directly, by lines through the caches, and by lines past the caches: 38, 27 and 11 for 2^20
/// pairs; 39, 31 and 13 for 2^24; 4.3, 3.9 and 3.9 for 2^16, but then the output is not in the
/// cache afterwards. A Zen 5 core, 2^26 u32 keys: 4.2, 3.9 and 1.7.
template <class Item>
requires fills_lines<Item>
class LineWriter {
 public:
  /// \param lines  one per bucket, overwritten
  /// \param to     begin of the array, at a multiple of the item's size
  LineWriter(CacheLine* lines, Item* to)
      : lines_(lines),
        to_(to),
        phase_(reinterpret_cast<std::uintptr_t>(to) / sizeof(Item) % line_items) {}

  /// Whether the lines of the array hold whole items.
  [[nodiscard]] static bool fits(const Item* to) {
    return reinterpret_cast<std::uintptr_t>(to) % sizeof(Item) == 0;
  }

  /// Buffers the item for `place`, the next slot of a bucket.
  /// \return whether the line is full; then write_line() must be called
  [[nodiscard]] [[gnu::always_inline]] bool put(std::size_t bucket, std::size_t place,
                                                const Item& item) {
    const std::size_t slot = (place + phase_) % line_items;
    std::memcpy(lines_[bucket].bytes + slot * sizeof(Item), &item, sizeof item);
    return slot == line_items - 1;
  }

  /// Writes the buffered items of a bucket, whose items begin at `first`, up to `end`, the end of a
  /// line.
  void write_line(std::size_t bucket, std::size_t first, std::size_t end) {
    // The first line of a bucket may be shared with the preceding bucket.
    if (end - first < line_items) return write_items(bucket, first, end);
    const char* const from = lines_[bucket].bytes;
    char* const to = reinterpret_cast<char*>(to_ + (end - line_items));
#ifdef __SSE2__
    for (std::size_t i = 0; i < sizeof(CacheLine); i += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
#else
    std::memcpy(to, from, sizeof(CacheLine));
#endif
  }

  /// Writes the remaining buffered items of a bucket whose items are in [first, end).
  void finish(std::size_t bucket, std::size_t first, std::size_t end) {
    write_items(bucket, end - std::min((end + phase_) % line_items, end - first), end);
  }

  /// Must be called before another thread reads the array.
  static void make_visible() {
#ifdef __SSE2__
    _mm_sfence();
#endif
  }

 private:
  static constexpr std::size_t line_items = sizeof(CacheLine) / sizeof(Item);

  void write_items(std::size_t bucket, std::size_t begin, std::size_t end) {
    for (std::size_t place = begin; place < end; ++place)
      std::memcpy(to_ + place, lines_[bucket].bytes + (place + phase_) % line_items * sizeof(Item),
                  sizeof(Item));
  }

  CacheLine* lines_;
  Item* to_;
  std::size_t phase_;  ///< index of slot 0 within its line
};

/// The stable scatter() by whole lines, for arrays beyond the caches. Within the second-level cache
/// scatter() is faster. Values of which no line holds a whole number are scattered directly.
/// \tparam Buckets  most buckets; each takes 72 bytes of work space, with values 136
/// \tparam OnHeap   whether the constructor allocates the work space, one array after the other:
///                  unused arrays below the threshold of mmap cost little. Otherwise the object
///                  holds it.
template <class Key, class Value, std::size_t Buckets, bool OnHeap>
class LineScatter {
 public:
  LineScatter() {
    if constexpr (OnHeap) {
      key_lines_ = std::make_unique_for_overwrite<CacheLine[]>(Buckets);
      value_lines_ = std::make_unique_for_overwrite<CacheLine[]>(has_values<Value> ? Buckets : 1);
      firsts_ = std::make_unique_for_overwrite<std::uint64_t[]>(Buckets);
    }
  }

  /// \param buckets  numbers that bucket_of() returns
  /// Does not allocate and does not throw.
  template <class Start, class BucketOf>
  void operator()(Items<Key, Value> from, std::uint64_t n, Start* starts, BucketOf bucket_of,
                  Items<Key, Value> to, std::size_t buckets = Buckets) {
    if constexpr (!fills_lines<Value>) {
      scatter(from, n, starts, bucket_of, to);
    } else {
      if (!LineWriter<Value>::fits(to.values)) return scatter(from, n, starts, bucket_of, to);
      std::copy_n(starts, buckets, &firsts_[0]);
      LineWriter<Key> keys(&key_lines_[0], to.keys);
      LineWriter<Value> values(&value_lines_[0], to.values);
      for (std::uint64_t i = 0; i < n; ++i) {
        const Key key = from.keys[i];
        const std::size_t bucket = bucket_of(key);
        const std::uint64_t place = starts[bucket]++;
        const bool fills_keys = keys.put(bucket, place, key);
        bool fills_values = false;
        if constexpr (has_values<Value>) fills_values = values.put(bucket, place, from.values[i]);
        // Mostly both lines fill up at once, so one branch suffices in the common case.
        if (fills_keys | fills_values) {
          if (fills_keys) keys.write_line(bucket, firsts_[bucket], place + 1);
          if (fills_values) values.write_line(bucket, firsts_[bucket], place + 1);
        }
      }
      finish(keys, starts, buckets);
      if constexpr (has_values<Value>) finish(values, starts, buckets);
    }
  }

 private:
  template <class Item, class Start>
  void finish(LineWriter<Item>& writer, const Start* ends, std::size_t buckets) {
    for (std::size_t bucket = 0; bucket < buckets; ++bucket)
      writer.finish(bucket, firsts_[bucket], ends[bucket]);
    writer.make_visible();
  }

  template <class T, std::size_t Size>
  using Array = std::conditional_t<OnHeap, std::unique_ptr<T[]>, std::array<T, Size>>;

  Array<CacheLine, Buckets> key_lines_;
  Array<CacheLine, has_values<Value> ? Buckets : 1> value_lines_;
  Array<std::uint64_t, Buckets> firsts_;  ///< where the items of each bucket begin
};

}  // namespace sortie
