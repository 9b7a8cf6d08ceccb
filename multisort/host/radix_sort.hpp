// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/phase_timer.hpp"
#include "multisort/host/local_sort.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/host/radix_pass.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/context.hpp"

namespace sortie::multisort {

/// Radix sort of one array over logical devices that share memory.
///
/// 1. *range*, *histogram*: each device looks at its share: in which bits keys differ, and how
///    often each value of their highest digit occurs;
/// 2. *scatter*: each device moves its share straight to the buckets of all, in scratch. As memory
///    is shared, there is nothing to exchange;
/// 3. a bucket that is too large for one device is divided by all of them again, by its next digit;
/// 4. *local sort*: devices take one bucket after the other, the largest first, and sort it back.
///
/// Any distribution ends in buckets of at most 1/8 of a share, or of a single value, which can be
/// copied in parts. So the load is balanced for any keys. Stable.
///
/// Work space: scratch for a copy of all items; 2^digit_bits counters and as many cache lines a
/// device. O(n) for a level of digits; at most key bits / digit_bits levels.
template <std::unsigned_integral Key, class Value>
class RadixSort {
 public:
  using Range = Items<Key, Value>;
  using Sorter = LocalSort<Key, Value>;

  /// Widest digit that the devices count: so wide that buckets take half of what a local sort keeps
  /// in its cache, as far as that costs no more than 8 bits. On a Xeon with 2 MiB of it, 2^26 u32
  /// keys took 17.0 ns of processor time each with buckets of 512 KiB, 14.9 with 256 KiB.
  static constexpr int widest_digit = Sorter::widest_digit;
  [[nodiscard]] static int usual_digit_bits(std::uint64_t n) {
    const std::uint64_t parts = 2 * n / Sorter::cached_items;
    return std::clamp(static_cast<int>(std::bit_width(parts)), 8, widest_digit);
  }

  /// Devices that are worth it, of `most`: below this many items each, starting threads takes
  /// longer than they save.
  [[nodiscard]] static std::size_t usual_devices(std::uint64_t n, std::size_t most) {
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(n / least_share, 1, most));
  }

  /// \param codec       encodes keys as unsigned integers of the requested order
  /// \param digit_bits  bits that are counted at a time, widest_digit at most
  /// \throws Error (out_of_memory)
  RadixSort(const Context& context, Range items, std::uint64_t n, KeyCodec<Key> codec,
            std::size_t devices, int digit_bits)
      : context_(context),
        items_(items),
        n_(n),
        codec_(codec),
        digit_bits_(digit_bits),
        devices_(devices),
        storage_(context, n, "scratch of the sort"),
        scratch_(storage_.items()),
        counts_(devices * places()),
        scatters_(devices),
        sorters_(devices) {}

  /// \throws std::bad_alloc  no memory for the list of buckets; the items are in any order then
  void run() {
    if (n_ == 0) return;
    bool counted = false;
    const Part whole{0, n_, survey(counted), false};
    try {
      if (is_for_one_device(whole)) {
        small_.push_back(whole);
      } else if (whole.differing == 0) {
        small_.reserve(task_count(whole));
        add_equal(whole);
      } else {
        large_.push_back(whole);
        divide(counted && Digit::highest(whole.differing, digit_bits_) == guess_);
        while (!large_.empty()) divide(false);
      }
    } catch (...) {
      restore_items();
      throw;
    }
    sort_locally();
  }

 private:
  /// Neighbouring places, in the items or in the scratch, that are to be sorted by themselves.
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
    Key differing = 0;  ///< no keys differ in other bits than these, and those below them
    bool in_scratch = false;
  };

  /// Keys that tell the digit which the survey counts beforehand.
  static constexpr std::uint64_t sampled_keys = 1024;
  static constexpr std::uint64_t least_share = std::uint64_t{1} << 15;
  /// Buckets of more than 1/8 of a share are divided by all devices.
  static constexpr std::uint64_t parts_of_share = 8;

  static constexpr std::size_t digit_values = std::size_t{1} << widest_digit;
  using Scatter = LineScatter<Key, Value, digit_values, true>;

  [[nodiscard]] std::size_t places() const { return std::size_t{1} << digit_bits_; }
  [[nodiscard]] std::uint64_t* counts_of(std::size_t device) {
    return counts_.data() + device * places();
  }
  [[nodiscard]] Range place_of(const Part& part) const {
    return (part.in_scratch ? scratch_ : items_).from(part.begin);
  }
  [[nodiscard]] Range opposite_of(const Part& part) const {
    return (part.in_scratch ? items_ : scratch_).from(part.begin);
  }
  [[nodiscard]] EqualShares shares_of(std::uint64_t n) const { return {n, devices_}; }
  /// Items that one device sorts without help.
  [[nodiscard]] std::uint64_t largest_task() const {
    if (devices_ == 1) return n_;
    return std::max<std::uint64_t>(n_ / devices_ / parts_of_share, 1);
  }
  /// Whether a part goes to a device as it is. Dividing the whole array is the work of all devices,
  /// even where there is but one, because the survey has counted for it.
  [[nodiscard]] bool is_for_one_device(const Part& part) const {
    return part.size <=
           (part.size == n_ ? (devices_ == 1 ? Sorter::cached_items : 0) : largest_task());
  }
  [[nodiscard]] std::uint64_t task_count(const Part& part) const {
    return (part.size + largest_task() - 1) / largest_task();
  }

  /// Encodes the keys, and counts the digit that a sample predicts as the highest; the count is
  /// discarded if the prediction was wrong. \param counts  receives whether it was counted
  /// \return the bits in which keys differ
  Key survey(bool& counts) {
    const PhaseTimer timer(context_, "range", n_ * sizeof(Key));
    const Key first = codec_.encoded(items_.keys[0]);
    Key differing = 0;
    for (std::uint64_t i = 0; i < sampled_keys; ++i) {
      const std::uint64_t place = EqualShares{n_, sampled_keys}.begin(i);
      differing |= static_cast<Key>(codec_.encoded(items_.keys[place]) ^ first);
    }
    guess_ = Digit::highest(differing, digit_bits_);
    counts = differing != 0 && !is_for_one_device({0, n_, differing, false});
    std::atomic<Key> all{0};
    for_each_share(shares_of(n_),
                   [&](std::uint64_t device, std::uint64_t begin, std::uint64_t end) {
                     DigitCounts<digit_values> counted;
                     all |= encode_and_compare(items_.keys + begin, end - begin, codec_, first,
                                               [&](const Key* keys, std::uint64_t n) {
                                                 if (counts) counted.add(keys, n, guess_);
                                               });
                     if (counts) counted.store(counts_of(device), places());
                   });
    return all;
  }

  [[nodiscard]] Key find_differing(const Part& part) {
    const PhaseTimer timer(context_, "range", part.size * sizeof(Key));
    return differing_bits_by_devices(place_of(part).keys, part.size, devices_);
  }

  /// Divides the last of the large parts by its highest digit.
  /// \param counted  how often each device has each value of the digit is known
  void divide(bool counted) {
    const Part part = large_.back();
    const Digit digit = Digit::highest(part.differing, digit_bits_);
    // Nothing is thrown once the first item has moved, so that every item is in some part.
    large_.reserve(large_.size() + places());
    small_.reserve(small_.size() + places() + task_count(part));
    if (!counted) count(part, digit);
    scatter(part, digit);
    large_.pop_back();
    const std::uint64_t* const ends = counts_of(devices_ - 1);
    const Key below = static_cast<Key>((Key{1} << digit.shift) - 1);
    std::uint64_t begin = 0;
    for (std::size_t value = 0; value <= digit.mask; ++value) {
      const Part bucket{part.begin + begin, ends[value] - begin, below, !part.in_scratch};
      begin = ends[value];
      if (bucket.size > 0) add(bucket);
    }
  }

  void add(Part part) {
    if (is_for_one_device(part)) {
      small_.push_back(part);
      return;
    }
    if (part.differing != 0) part.differing = find_differing(part);
    if (part.differing == 0) {
      add_equal(part);
    } else {
      large_.push_back(part);
    }
  }

  /// Equal keys need no sorting: any number of devices can bring them where they belong.
  void add_equal(const Part& part) {
    for (std::uint64_t begin = 0; begin < part.size; begin += largest_task()) {
      const std::uint64_t size = std::min(largest_task(), part.size - begin);
      small_.push_back({part.begin + begin, size, 0, part.in_scratch});
    }
  }

  void count(const Part& part, Digit digit) {
    const PhaseTimer timer(context_, "histogram", part.size * sizeof(Key));
    const Key* const keys = place_of(part).keys;
    for_each_share(shares_of(part.size),
                   [&](std::uint64_t device, std::uint64_t begin, std::uint64_t end) {
                     DigitCounts<digit_values> counted;
                     counted.add(keys + begin, end - begin, digit);
                     counted.store(counts_of(device), places());
                   });
  }

  /// Moves the items of a part to their buckets in the other array. Each device fills a range of
  /// each bucket, in the order of devices. The counts become the ends of these ranges.
  void scatter(const Part& part, Digit digit) {
    const PhaseTimer timer(context_, "scatter", 2 * part.size * item_bytes<Key, Value>);
    counts_to_starts(counts_.data(), places(), devices_);
    for_each_share(shares_of(part.size),
                   [&](std::uint64_t device, std::uint64_t begin, std::uint64_t end) {
                     scatters_[device](place_of(part).from(begin), end - begin, counts_of(device),
                                       digit, opposite_of(part), places());
                   });
  }

  void sort_locally() {
    const PhaseTimer timer(context_, "local sort");
    if (devices_ > 1) {
      std::sort(small_.begin(), small_.end(),
                [](const Part& a, const Part& b) { return a.size > b.size; });
    }
    std::atomic<std::size_t> next{0};
    for_each_task(devices_, [&](std::size_t device) {
      for (std::size_t i = next++; i < small_.size(); i = next++) {
        const Part& part = small_[i];
        const Range result = items_.from(part.begin);
        sorters_[device].sort(place_of(part), opposite_of(part), part.size,
                              static_cast<int>(std::bit_width(part.differing)), result);
        codec_.decode(result.keys, part.size);
      }
    });
  }

  /// Makes the items, in any order, the caller's again.
  void restore_items() {
    for (const std::vector<Part>* parts : {&large_, &small_}) {
      for (const Part& part : *parts)
        if (part.in_scratch) copy_items(place_of(part), part.size, opposite_of(part));
    }
    codec_.decode(items_.keys, n_);
  }

  const Context& context_;
  Range items_;
  std::uint64_t n_;
  KeyCodec<Key> codec_;
  int digit_bits_;
  std::size_t devices_;
  ItemStorage<Key, Value> storage_;
  Range scratch_;
  std::vector<std::uint64_t> counts_;  ///< for each device, of each value of a digit
  std::vector<Scatter> scatters_;
  std::vector<Sorter> sorters_;
  Digit guess_;              ///< the digit that the survey counts
  std::vector<Part> large_;  ///< to be divided by all devices
  std::vector<Part> small_;  ///< to be sorted, each by one device
};

}  // namespace sortie::multisort
