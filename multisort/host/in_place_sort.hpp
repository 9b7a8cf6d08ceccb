// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/phase_timer.hpp"
#include "multisort/host/block_partition.hpp"
#include "multisort/host/part_sort.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/host/radix_pass.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/context.hpp"

namespace sortie::multisort {

/// Radix sort of one array without a copy of it.
///
/// 1. *range*: finds the bits in which keys differ. If a sample shows that the highest digit begins
///    with the highest bit, the other keys are not read;
/// 2. *scatter*, *exchange*: parts of more than 2^20 items are divided in place by their highest
///    digit (BlockPartition), stripe by stripe and share by share by all devices;
/// 3. *local sort*: devices take parts from a common list, the largest first, divide them in place
///    until they fit the cache, and sort them there with a small scratch.
///
/// Keys alone that differ in no more than 16 bits are counted instead, and written anew
/// (*histogram*, *local sort*). How parts are divided depends on their sizes alone, so the result is
/// the same for any number of devices. Stable where equal keys come by value and the values ascend.
///
/// Work space: about 1.5 MiB a device (with values 3 MiB) and 2 MiB for u32 keys, and two bytes for
/// 512 bytes of keys; for keys of 8 and 16 bits alone 8 bytes for each value of a key, and as many
/// a device. O(n) for a level of digits; at most key bits / 9 levels.
template <std::unsigned_integral Key, class Value>
class InPlaceSort {
 public:
  using Range = Items<Key, Value>;
  using Sorter = PartSort<Key, Value>;

  [[nodiscard]] static std::uint64_t work_space(std::uint64_t n, std::size_t devices) {
    const std::uint64_t counters =
        has_values<Value> ? 0 : (devices + 1) * most_counted * sizeof(std::uint64_t);
    if (always_counted) return counters;
    const std::uint64_t team = n > team_items ? Partition::bytes(n, team_stripes) : 0;
    return counters + team + devices * Sorter::bytes(std::min(n, team_items));
  }

  /// \param codec    encodes keys as unsigned integers of the requested order
  /// \throws Error (out_of_memory)  even the work space of this sort is beyond the budget
  InPlaceSort(const Context& context, Range items, std::uint64_t n, KeyCodec<Key> codec,
              std::size_t devices, EqualKeys equal_keys = EqualKeys::in_any_order)
      : context_(context),
        items_(items),
        n_(n),
        codec_(codec),
        devices_(devices),
        equal_keys_(equal_keys) {
    require_budget(context, "work space of the sort in place", work_space(n, devices));
    if (always_counted) return;
    if (n > team_items) team_ = std::make_unique<Partition>(n, team_stripes);
    for (std::size_t device = 0; device < devices; ++device)
      workers_.push_back(std::make_unique<Sorter>(context, std::min(n, team_items), equal_keys));
  }

  /// \throws std::bad_alloc  no memory for the list of parts; the items are in any order then
  void run() {
    if (n_ == 0) return;
    try {
      const Key differing = differ_in_highest_bit() ? static_cast<Key>(~Key{0}) : survey();
      if (is_counted(differing)) {
        sort_by_counting(differing);
        return;
      }
      add({0, n_, differing});
      while (!large_.empty()) divide();
      std::sort(small_.begin(), small_.end(), [](const Part& a, const Part& b) {
        return a.size != b.size ? a.size > b.size : a.begin < b.begin;
      });
    } catch (...) {
      if (encoded_) codec_.decode(items_.keys, n_);
      throw;
    }
    sort_locally();
  }

 private:
  using Partition = BlockPartition<Key, Value>;

  /// Neighbouring items that are to be sorted by themselves.
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
    Key differing = 0;  ///< no keys differ in other bits than these, and those below them
  };

  /// Items that all devices divide; also those that a device decodes at a time where all are equal.
  static constexpr std::uint64_t team_items = std::uint64_t{1} << 20;
  static constexpr std::size_t team_stripes = 8;
  /// Values of keys that are counted: their counters fit the second-level cache.
  static constexpr int counted_bits = std::min(16, 8 * static_cast<int>(sizeof(Key)));
  static constexpr std::size_t most_counted = std::size_t{1} << counted_bits;
  /// Whether all keys are counted, unless they are equal. Then no part is divided or sorted.
  static constexpr bool always_counted = !has_values<Value> && sizeof(Key) <= 2;
  static_assert(!always_counted || counted_bits == 8 * sizeof(Key));
  /// With so few values neighbours often agree: counted in two alternating tables.
  static constexpr std::size_t few_counted = 1024;
  /// Keys of the sample, at equal distances.
  static constexpr std::uint64_t sampled_keys = 1024;

  [[nodiscard]] EqualShares shares_of(std::uint64_t n) const { return {n, devices_}; }

  /// Whether keys of a sample differ in their highest bit. Then the highest digit is known without
  /// reading all keys, and they are encoded as they are divided.
  [[nodiscard]] bool differ_in_highest_bit() const {
    if (n_ < sampled_keys || 8 * sizeof(Key) <= counted_bits) return false;
    const PhaseTimer timer(context_, "range", sampled_keys * sizeof(Key));
    const Key first = codec_.encoded(items_.keys[0]);
    Key differs = 0;
    for (std::uint64_t i = 1; i < sampled_keys; ++i)
      differs |= static_cast<Key>(codec_.encoded(items_.keys[n_ / sampled_keys * i]) ^ first);
    return std::bit_width(differs) == 8 * sizeof(Key);
  }

  /// Encodes the keys and returns the bits in which they differ.
  Key survey() {
    const PhaseTimer timer(context_, "range", n_ * sizeof(Key));
    encoded_ = true;
    const Key first = codec_.encoded(items_.keys[0]);
    std::atomic<Key> all{0};
    for_each_share(shares_of(n_), [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      all |= encode_and_compare(items_.keys + begin, end - begin, codec_, first,
                                [](const Key*, std::uint64_t) {});
    });
    return all;
  }

  [[nodiscard]] Key find_differing(const Part& part) {
    const PhaseTimer timer(context_, "range", part.size * sizeof(Key));
    return differing_bits_by_devices(items_.keys + part.begin, part.size, devices_);
  }

  [[nodiscard]] static bool is_counted(Key differing) {
    return !has_values<Value> && differing != 0 && differing < most_counted;
  }

  void sort_by_counting(Key differing) {
    const Digit digit = Digit::highest(differing, 8 * static_cast<int>(sizeof(Key)));
    const std::size_t values = digit.values();
    const Key common = static_cast<Key>(items_.keys[0] & ~static_cast<Key>(digit.mask));
    std::vector<std::uint64_t> counts(devices_ * values);
    std::vector<std::uint64_t> ends(values);
    {
      const PhaseTimer timer(context_, "histogram", n_ * sizeof(Key));
      for_each_share(shares_of(n_),
                     [&](std::uint64_t device, std::uint64_t begin, std::uint64_t end) {
                       const Key* const keys = items_.keys + begin;
                       const std::uint64_t n = end - begin;
                       std::uint64_t* const counted = counts.data() + device * values;
                       if (values <= few_counted) {
                         DigitCounts<few_counted> few;
                         few.add(keys, n, digit);
                         few.store(counted, values);
                       } else {
                         count_keys(keys, n, digit, counted);
                       }
                     });
    }
    const PhaseTimer timer(context_, "local sort", n_ * sizeof(Key));
    std::uint64_t sum = 0;
    for (std::size_t value = 0; value < values; ++value) {
      for (std::size_t device = 0; device < devices_; ++device)
        sum += counts[device * values + value];
      ends[value] = sum;
    }
    for_each_share(shares_of(n_), [&](std::uint64_t, std::uint64_t place, std::uint64_t share_end) {
      auto value = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), place) -
                                            ends.begin());
      for (; place < share_end; ++value) {
        Key key = static_cast<Key>(common | static_cast<Key>(value));
        codec_.decode(&key, 1);
        const std::uint64_t end = std::min(ends[value], share_end);
        fill(place, end, share_end, key);
        place = end;
      }
    });
  }

  /// Fills the keys in [begin, end). Writes whole cache lines, past `end` where that is before
  /// `limit`: loops over a few keys, whose number varies, cause mispredicted branches.
  void fill(std::uint64_t begin, std::uint64_t end, std::uint64_t limit, Key key) const {
    constexpr std::uint64_t line_keys = 64 / sizeof(Key);
    for (; begin < end && limit - begin >= line_keys; begin += line_keys)
      std::fill_n(items_.keys + begin, line_keys, key);
    if (begin < end) std::fill(items_.keys + begin, items_.keys + end, key);
  }

  void add(const Part& part) {
    if (part.differing != 0) {
      (part.size > team_items ? large_ : small_).push_back(part);
      return;
    }
    // Equal keys: only to be decoded, unless values matter.
    if (equal_keys_ == EqualKeys::by_value) {
      small_.push_back(part);
      return;
    }
    for (std::uint64_t begin = 0; begin < part.size; begin += team_items)
      small_.push_back({part.begin + begin, std::min(team_items, part.size - begin), 0});
  }

  /// Divides the last of the large parts by its highest digit.
  void divide() {
    const Part part = large_.back();
    large_.pop_back();
    const Digit digit = Digit::highest(part.differing, block_digit_bits);
    std::array<std::uint64_t, block_buckets> ends;
    {
      const PhaseTimer timer(context_, "scatter", 2 * part.size * item_bytes<Key, Value>);
      team_->begin(items_.from(part.begin), part.size, digit);
      for_each_task(team_stripes, [&](std::size_t stripe) {
        if (encoded_) return team_->collect(stripe);
        team_->collect(stripe, [&](Key* keys, std::uint64_t n) { codec_.encode(keys, n); });
      });
      encoded_ = true;
    }
    {
      const PhaseTimer timer(context_, "exchange", 2 * part.size * item_bytes<Key, Value>);
      team_->place(ends);
      for_each_task(team_->shares(), [&](std::size_t share) { team_->exchange(share); });
      team_->finish(ends);
    }
    const Key below = static_cast<Key>((Key{1} << digit.shift) - 1);
    std::uint64_t begin = 0;
    for (const std::uint64_t end : ends) {
      Part bucket{part.begin + begin, end - begin, below};
      begin = end;
      if (bucket.size > team_items && below != 0) bucket.differing = find_differing(bucket);
      if (bucket.size > 0) add(bucket);
    }
  }

  void sort_locally() {
    const PhaseTimer timer(context_, "local sort");
    std::atomic<std::size_t> next{0};
    for_each_task(devices_, [&](std::size_t device) {
      for (std::size_t i = next++; i < small_.size(); i = next++) {
        const Part& part = small_[i];
        const Range items = items_.from(part.begin);
        // Only the whole array comes here without having been encoded.
        if (!encoded_) codec_.encode(items.keys, part.size);
        if constexpr (!always_counted)
          workers_[device]->sort(items, part.size,
                                 static_cast<int>(std::bit_width(part.differing)));
        codec_.decode(items.keys, part.size);
      }
    });
  }

  const Context& context_;
  Range items_;
  std::uint64_t n_;
  KeyCodec<Key> codec_;
  std::size_t devices_;
  EqualKeys equal_keys_;
  bool encoded_ = false;                          ///< whether the keys are encoded
  std::unique_ptr<Partition> team_;               ///< of parts that all devices divide
  std::vector<std::unique_ptr<Sorter>> workers_;  ///< one a device
  std::vector<Part> large_;                       ///< to be divided by all devices
  std::vector<Part> small_;                       ///< to be sorted, each by one device
};

}  // namespace sortie::multisort
