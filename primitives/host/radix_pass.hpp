// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "primitives/host/items.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/// The digits of keys, and the steps of a radix sort: count the items of each bucket, turn the counts
/// into starts, move the items. A bucket is a digit of the key, or another monotonic function of it.

namespace sortie {

__extension__ typedef unsigned __int128 DoubleWord;

/// std::bit_width(), also of two words.
template <class Key>
[[nodiscard]] constexpr int width_of(Key key) {
  if constexpr (sizeof(Key) > sizeof(std::uint64_t)) {
    const auto high = static_cast<std::uint64_t>(key >> 64);
    return high != 0 ? 64 + width_of(high) : width_of(static_cast<std::uint64_t>(key));
  } else {
    return static_cast<int>(std::bit_width(key));
  }
}

/// A digit of an unsigned key: some neighbouring bits.
struct Digit {
  int shift = 0;
  std::size_t mask = 0;

  /// The digit of `width` bits that starts at the lowest bit set in `differing`.
  template <std::unsigned_integral Key>
  [[nodiscard]] static Digit lowest(Key differing, int width) {
    return {std::countr_zero(differing), (std::size_t{1} << width) - 1};
  }
  /// The digit of up to `width` bits that ends at the highest bit set in `differing`.
  /// \param low  bits that it leaves out; fewer than `differing` has
  template <class Key>
  [[nodiscard]] static Digit highest(Key differing, int width, int low = 0) {
    const int bits = width_of(differing);
    const int shift = std::max(low, bits - width);
    return {shift, (std::size_t{1} << (bits - shift)) - 1};
  }

  [[nodiscard]] std::size_t values() const { return mask + 1; }

  template <class Key>
  [[nodiscard]] [[gnu::always_inline]] std::size_t operator()(Key key) const {
    return static_cast<std::size_t>(key >> shift) & mask;
  }
  /// `bits` without those of the digit.
  template <class Key>
  [[nodiscard]] Key removed_from(Key bits) const {
    return static_cast<Key>(bits & ~(static_cast<Key>(mask) << shift));
  }
  bool operator==(const Digit&) const = default;
};

/// The bits in which any of n keys differs from `sample`.
template <class Key>
[[nodiscard]] Key differing_bits(const Key* keys, std::uint64_t n, Key sample) {
  Key differing = 0;
  for (std::uint64_t i = 0; i < n; ++i) differing |= static_cast<Key>(keys[i] ^ sample);
  return differing;
}

/// The bits in which n keys differ.
template <class Key>
[[nodiscard]] Key differing_bits(const Key* keys, std::uint64_t n) {
  return n == 0 ? Key{0} : differing_bits(keys, n, keys[0]);
}

/// Histogram of a digit over any number of ranges of keys.
/// \tparam Values  most values of the digit
template <std::size_t Values>
class DigitCounts {
 public:
  template <std::unsigned_integral Key>
  void add(const Key* keys, std::uint64_t n, Digit digit) {
    std::uint64_t i = 0;
    for (; i + tables <= n; i += tables)
      for (std::size_t t = 0; t < tables; ++t) ++table_[t][digit(keys[i + t])];
    for (; i < n; ++i) ++table_[0][digit(keys[i])];
  }

  /// Writes the counts of the lowest `values` values.
  void store(std::uint64_t* counts, std::size_t values) const {
    for (std::size_t value = 0; value < values; ++value) {
      counts[value] = 0;
      for (const auto& part : table_) counts[value] += part[value];
    }
  }

 private:
  // Two tables: increments of one counter by neighbours with equal digits would be serialised.
  static constexpr std::size_t tables = 2;
  std::array<std::array<std::uint64_t, Values>, tables> table_{};
};

template <class Key, class BucketOf, class Count>
void count_keys(const Key* keys, std::uint64_t n, BucketOf bucket_of, Count* counts) {
  for (std::uint64_t i = 0; i < n; ++i) ++counts[bucket_of(keys[i])];
}

/// Replaces counts by starts; returns their sum.
/// \param counts  counts[part * buckets + bucket], for each part of the items. Parts follow each
///                other within a bucket, so the scatter of the parts, one by one or at the same
///                time, is stable.
template <class Count>
Count counts_to_starts(Count* counts, std::size_t buckets, std::size_t parts = 1) {
  Count sum = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket)
    for (std::size_t part = 0; part < parts; ++part)
      sum += std::exchange(counts[part * buckets + bucket], sum);
  return sum;
}

/// Moves each item to the next place of its bucket. Stable.
/// \param starts  for each bucket its next place in `to`; on return the places behind its items
template <class Key, class Value, class Start, class BucketOf>
void scatter(Items<Key, Value> from, std::uint64_t n, Start* starts, BucketOf bucket_of,
             Items<Key, Value> to) {
  for (std::uint64_t i = 0; i < n; ++i) {
    const Key key = from.keys[i];
    const Start place = starts[bucket_of(key)]++;
    to.keys[place] = key;
    if constexpr (has_values<Value>) to.values[place] = from.values[i];
  }
}

/// scatter() as a function object.
struct DirectScatter {
  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    scatter(arguments...);
  }
};

/// One pass of a radix sort: moves the items to `to`, by ascending bucket. Stable.
/// \param ends  receives the end of each of `buckets` buckets
/// \param move  has the form of scatter(), as LineScatter does
template <class Key, class Value, class End, class BucketOf, class Move = DirectScatter>
void radix_pass(Items<Key, Value> from, std::uint64_t n, BucketOf bucket_of, End* ends,
                std::size_t buckets, Items<Key, Value> to, const Move& move = {}) {
  std::fill_n(ends, buckets, End{0});
  count_keys(from.keys, n, bucket_of, ends);
  counts_to_starts(ends, buckets);
  move(from, n, ends, bucket_of, to);
}

/// Bits of a digit of sort_by_least_digits().
inline constexpr int least_digit_bits = 8;

/// Sorts items by the bits of `differing`, least significant digit first. Stable. Each digit starts
/// at the lowest remaining bit, so constant bits cost nothing wherever they are.
/// \return where the items are: `items` or `scratch`
template <class Key, class Value>
[[nodiscard]] Items<Key, Value> sort_by_least_digits(Items<Key, Value> items,
                                                     Items<Key, Value> scratch, std::uint64_t n,
                                                     Key differing) {
  while (differing != 0) {
    const Digit digit = Digit::lowest(differing, least_digit_bits);
    differing = digit.removed_from(differing);
    std::array<std::uint64_t, std::size_t{1} << least_digit_bits> ends;
    radix_pass(items, n, digit, ends.data(), ends.size(), scratch);
    std::swap(items, scratch);
  }
  return items;
}

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
