// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "core/phase_timer.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/context.hpp"
#include "sortie/run_report.hpp"

namespace sortie::multisort {

/// Whether keys come in the order wanted, or in the opposite one: then items are reversed. With
/// values, they count as such only where no two keys are equal, so that the sort is stable.
///
/// The first few keys rule out at least one of the two orders, and both for most arrays. Otherwise
/// keys are read as long as the order holds: at most once, a tenth of the time of a sort.
template <class Key, class Value>
class OrderedInput {
 public:
  /// \param devices  share the work where there is enough for them
  OrderedInput(const Context& context, Items<Key, Value> items, std::uint64_t n,
               const KeyCodec<Key>& codec, std::size_t devices)
      : context_(context), items_(items), n_(n), codec_(codec) {
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
  /// or without values equals it.
  template <bool Descending>
  [[nodiscard]] bool is_ordered(std::uint64_t begin, std::uint64_t end) const {
    unsigned others = 0;
    for (std::uint64_t i = begin + 1; i < end; ++i) {
      const Key key = codec_.encoded(items_.keys[i]);
      const Key before = codec_.encoded(items_.keys[i - 1]);
      const bool is_other =
          Descending ? before < key || (has_values<Value> && before == key) : key < before;
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
  std::size_t devices_;
};

}  // namespace sortie::multisort
