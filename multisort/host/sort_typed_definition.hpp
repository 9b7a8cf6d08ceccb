// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "multisort/host/in_place_sort.hpp"
#include "multisort/host/local_sort.hpp"
#include "multisort/host/merge_runs.hpp"
#include "multisort/host/merge_sort.hpp"
#include "multisort/host/radix_sort.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "sortie/sort.hpp"

/// Included by the instances that CMake generates.

namespace sortie::multisort {

/// Whether keys come in the order wanted, or in the opposite one: then items are reversed. For a
/// stable sort with values, they count as such only where no two keys are equal.
///
/// The first few keys rule out at least one of the two orders, and both for most arrays. Otherwise
/// keys are read as long as the order holds: at most once, a tenth of the time of a sort.
template <class Key, class Value>
class OrderedInput {
 public:
  /// \param devices  share the work where there is enough for them
  OrderedInput(const Context& context, Items<Key, Value> items, std::uint64_t n,
               const KeyCodec<Key>& codec, bool stable, std::size_t devices)
      : context_(context),
        items_(items),
        n_(n),
        codec_(codec),
        strict_(has_values<Value> && stable) {
    constexpr std::uint64_t fewest_shared = std::uint64_t{1} << 16;
    devices_ = n < fewest_shared ? 1 : devices;
  }

  /// Brings the items in order if they come in one. \return whether they do
  [[nodiscard]] bool sort() const {
    const std::uint64_t few = std::min(n_, prefix_keys);
    const bool ascending = is_ordered<false>(0, few);
    if (!ascending && !is_ordered<true>(0, few)) return false;
    const PhaseTimer timer(context_, "order");
    if (ascending) return all_are_ordered<false>();
    if (!all_are_ordered<true>()) return false;
    reverse();
    return true;
  }

 private:
  static constexpr std::uint64_t prefix_keys = 64;

  /// Whether none of keys begin .. end precedes the one before it; `Descending`: whether each does,
  /// or equals it if the sort need not be stable.
  template <bool Descending>
  [[nodiscard]] bool is_ordered(std::uint64_t begin, std::uint64_t end) const {
    unsigned others = 0;
    for (std::uint64_t i = begin + 1; i < end; ++i) {
      const Key key = codec_.encoded(items_.keys[i]);
      const Key before = codec_.encoded(items_.keys[i - 1]);
      const bool is_other = Descending ? before < key || (strict_ && before == key) : key < before;
      others |= is_other ? 1 : 0;
    }
    return others == 0;
  }

  /// The same for all keys, by parts that have a key in common with the next.
  template <bool Descending>
  [[nodiscard]] bool all_are_ordered() const {
    // Some thousand keys at a time, so that all devices stop soon after one has found otherwise.
    constexpr std::uint64_t keys_at_once = 4096;
    std::atomic<bool> so_far = true;
    for_each_share({n_, devices_}, [&](std::uint64_t, std::uint64_t begin, std::uint64_t next) {
      const std::uint64_t end = std::min(next + 1, n_);
      for (std::uint64_t i = begin; i < end; i += keys_at_once) {
        if (!so_far.load(std::memory_order_relaxed)) return;
        if (!is_ordered<Descending>(i, std::min(end, i + keys_at_once + 1)))
          so_far.store(false, std::memory_order_relaxed);
      }
    });
    return so_far.load();
  }

  void reverse() const {
    for_each_share({n_ / 2, devices_}, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      const auto exchange = [&](auto* from) {
        std::swap_ranges(from + begin, from + end, std::make_reverse_iterator(from + n_ - begin));
      };
      exchange(items_.keys);
      if constexpr (has_values<Value>) exchange(items_.values);
    });
  }

  const Context& context_;
  Items<Key, Value> items_;
  std::uint64_t n_;
  KeyCodec<Key> codec_;
  bool strict_;
  std::size_t devices_;
};

/// Whether a copy of the items is within the budget, or without one within what is free.
inline bool copy_fits(const Context& context, const Request& request) {
  // What is free is looked up for large arrays only: small ones are sorted in less time.
  constexpr std::uint64_t always_fits = std::uint64_t{1} << 28;
  if (context.memory_budget == 0 && request.bytes() < always_fits) return true;
  return request.bytes() <= host_memory_limit(context);
}

/// The number of devices, at most `most`, that sort an array in place; 0: sort it with a copy.
///
/// In place if the work space is less than a copy, and the sort need not be stable. On a Xeon with
/// 2 MiB of second-level cache 2^26 u32 keys took 11.8 to 12.4 ns of processor time each, with
/// scratch 16.8 to 20.1: most of the difference are the page faults of the scratch, which take up to
/// ten times as long as copying so much. Where the budget is short, fewer devices share the work.
template <class Key, class Value>
std::size_t devices_in_place(const Context& context, const Request& request, std::size_t most,
                             bool needs_stability) {
  const std::uint64_t budget = context.memory_budget;
  const auto work_space = [&](std::size_t devices) {
    return InPlaceSort<Key, Value>::work_space(request.num_items, devices);
  };
  if (needs_stability) return 0;
  if (work_space(most) <= request.bytes() && (budget == 0 || work_space(most) <= budget))
    return most;
  if (copy_fits(context, request)) return 0;
  std::size_t devices = most;
  while (devices > 0 && budget != 0 && work_space(devices) > budget) --devices;
  return devices;
}

/// Whether a stable sort may sort equal keys by their values instead: pairs are sorted as words, and
/// the values ascend, as the positions of an argsort do. Read as long as they do.
template <class Key, class Value>
bool are_ordered_by_value(Items<Key, Value> items, std::uint64_t n) {
  if constexpr (has_values<Value> && are_words<Key, Value>) {
    const bool are_aligned = reinterpret_cast<std::uintptr_t>(items.values) % sizeof(Value) == 0;
    if (!has_fast_word_sort() || !are_aligned) return false;
    constexpr std::uint64_t values_at_once = 1024;
    for (std::uint64_t begin = 1; begin < n; begin += values_at_once) {
      const std::uint64_t end = std::min(n, begin + values_at_once);
      unsigned others = 0;
      for (std::uint64_t i = begin; i < end; ++i)
        others |= items.values[i].word < items.values[i - 1].word ? 1 : 0;
      if (others != 0) return false;
    }
    return true;
  }
  return false;
}

/// Sorts keys by the vector sort. Encodes them as they are divided for the first time, and decodes
/// each part while it is in the cache.
/// \param depth    divisions before a part is sorted as it is, however large: pivots may be bad
/// \param encoded  whether the keys are encoded
/// \pre has_vector_sort<Key>()
template <class Key>
void sort_and_decode(Key* keys, std::uint64_t n, const KeyCodec<Key>& codec, int depth,
                     bool encoded) {
  constexpr std::uint64_t cached_keys = (std::uint64_t{1} << 20) / sizeof(Key);
  if (n > cached_keys && depth > 0 && !codec.is_identity()) {
    const std::uint64_t lesser = encoded ? divide_words(keys, n) : divide_keys(keys, n, codec);
    encoded = true;
    if (lesser > 0) {
      sort_and_decode(keys, lesser, codec, depth - 1, true);
      sort_and_decode(keys + lesser, n - lesser, codec, depth - 1, true);
      return;
    }
  }
  if (!encoded) codec.encode(keys, n);
  sort_words(keys, n);
  if (codec.is_identity()) return;
  run_on_unit(
      vector_unit(), [ keys, n, codec ]() __attribute__((always_inline)) {
        for (std::uint64_t i = 0; i < n; ++i) keys[i] = codec.decoded(keys[i]);
      });
}

/// Sorts keys alone where they are by the vector sort of one device or two, if these are few enough
/// that dividing them by digits among more takes longer, or if memory does not allow that.
/// \return whether it has
/// \param can_divide  whether there is memory to divide them
///
/// On a Xeon 2^20 u32 keys take 5.4 ms this way, and with a copy 10.6 on one thread.
template <class Key, class Value>
bool sort_undivided(const Context& context, Items<Key, Value> items, std::uint64_t n,
                    const KeyCodec<Key>& codec, std::size_t devices, bool can_divide) {
  using Sorter = LocalSort<Key, Value>;
  constexpr std::uint64_t fewest_divided = std::uint64_t{1} << 17;
  if constexpr (!has_values<Value> && sizeof(Key) >= 4) {
    if (can_divide && devices > 2 && n > fewest_divided) return false;
    if (n > Sorter().items_without_scratch()) return false;
    const PhaseTimer timer(context, "local sort");
    constexpr int most_divisions = 16;
    const bool is_shared = devices > 1 && n > fewest_divided;
    // Two devices sort a part each. Where all keys are equal, the first part is empty.
    const std::uint64_t lesser = is_shared ? divide_keys(items.keys, n, codec) : 0;
    const std::uint64_t parts = is_shared ? 2 : 1;
    for_each_task(parts, [&](std::uint64_t part) {
      const std::uint64_t begin = part == 0 ? 0 : lesser;
      const std::uint64_t end = part + 1 == parts ? n : lesser;
      sort_and_decode(items.keys + begin, end - begin, codec, most_divisions, is_shared);
    });
    return true;
  }
  return false;
}

/// The steps of merge_sort() for encoded keys, which merge() decodes.
template <class Key, class Value>
struct KeySteps {
  Items<Key, Value> items;
  Items<Key, Value> scratch;
  const KeyCodec<Key>& codec;
  std::vector<LocalSort<Key, Value>> sorters;  ///< one a device

  void sort(std::size_t device, std::uint64_t begin, std::uint64_t size) {
    sorters[device].sort(items.from(begin), scratch.from(begin), size);
  }
  [[nodiscard]] Key read(std::uint64_t i) const { return items.keys[i]; }
  [[nodiscard]] bool before(Key a, Key b) const { return a < b; }
  void copy(std::uint64_t begin, std::uint64_t size, std::uint64_t to) const {
    copy_items(items.from(begin), size, scratch.from(to));
  }
  [[nodiscard]] Run<Key, Value> run(std::uint64_t begin, std::uint64_t size) const {
    return {scratch.from(begin), size};
  }
  void merge(std::vector<Run<Key, Value>> runs, std::uint64_t begin, std::uint64_t size) const {
    if (sorters.size() > 1) merge_runs(std::move(runs), items.from(begin));
    codec.decode(items.keys + begin, size);
  }
};

template <class Key, class Value>
void sort_typed(const Context& context, const Request& request, std::size_t devices) {
  const Items<Key, Value> items{static_cast<Key*>(request.keys),
                                has_values<Value> ? static_cast<Value*>(request.values) : nullptr};
  const KeyCodec<Key> codec(kind_of(request.key_type), request.options.order);
  if (request.options.algorithm != SortAlgorithm::merge) {
    using Sort = RadixSort<Key, Value>;
    const int digit_bits = Sort::usual_digit_bits(request.num_items);
    const std::size_t used =
        request.options.devices > 0 ? devices : Sort::usual_devices(request.num_items, devices);
    if (OrderedInput<Key, Value>(context, items, request.num_items, codec, request.options.stable,
                                 used)
            .sort())
      return;
    const bool by_value = has_values<Value> && request.options.stable &&
                          are_ordered_by_value(items, request.num_items);
    const bool needs_stability = has_values<Value> && request.options.stable && !by_value;
    const std::size_t in_place =
        devices_in_place<Key, Value>(context, request, used, needs_stability);
    const bool can_divide = has_values<Value> || in_place > 0 || copy_fits(context, request);
    if (sort_undivided(context, items, request.num_items, codec, used, can_divide)) return;
    if (in_place > 0) {
      const auto equal_keys = by_value ? EqualKeys::by_value : EqualKeys::in_any_order;
      InPlaceSort<Key, Value>(context, items, request.num_items, codec, in_place, equal_keys).run();
      return;
    }
    Sort(context, items, request.num_items, codec, used, digit_bits).run();
    return;
  }
  for_each_share({request.num_items, devices},
                 [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
                   codec.encode(items.keys + begin, end - begin);
                 });
  try {
    const ItemStorage<Key, Value> storage(context, request.num_items, "scratch of the sort");
    KeySteps<Key, Value> steps{items, storage.items(), codec,
                               std::vector<LocalSort<Key, Value>>(devices)};
    merge_sort(context, request.num_items, item_bytes<Key, Value>, devices, steps);
  } catch (...) {
    codec.decode(items.keys, request.num_items);
    throw;
  }
}

/// Sorts keys of the width of `Key`, an unsigned integer. CMake generates a source file for each
/// width.
template <class Key>
void sort_keys_of(const Context& context, const Request& request, std::size_t devices) {
  switch (request.value_bytes) {
    case 0:
      return sort_typed<Key, NoValue>(context, request, devices);
    case 4:
      return sort_typed<Key, Opaque<std::uint32_t>>(context, request, devices);
    default:
      return sort_typed<Key, Opaque<std::uint64_t>>(context, request, devices);
  }
}

}  // namespace sortie::multisort
