#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sortie/core/host_memory.hpp"
#include "sortie/core/run_report.hpp"
#include "sortie/multisort/host/devices.hpp"
#include "sortie/multisort/host/in_place_sort.hpp"
#include "sortie/multisort/host/items.hpp"
#include "sortie/multisort/host/local_sort.hpp"
#include "sortie/multisort/host/merge_sort.hpp"
#include "sortie/multisort/host/ordered_input.hpp"
#include "sortie/multisort/host/radix_sort.hpp"
#include "sortie/multisort/host/sort_typed.hpp"
#include "sortie/multisort/plan/shares.hpp"
#include "sortie/segsort/host/key_form.hpp"

/// For host/instances/ only.

namespace sortie::multisort {

/// Whether a copy of the items is within the budget, or without one within what is free.
inline bool has_room_for_copy(const Context& context, const Request& request) {
  if (context.memory_budget != 0) return request.bytes() <= context.memory_budget;
  // What is free is looked up for large arrays only: small ones are sorted in less time.
  constexpr std::uint64_t looked_up = std::uint64_t{1} << 28;
  return request.bytes() < looked_up || request.bytes() <= host_memory_available();
}

/// How many devices sort an array in place, of `most`; 0: it is sorted by way of a copy.
///
/// In place as long as the work space is less than a copy, and nobody asks for a stable order,
/// which keys alone have in any case. On a Xeon with 2 MiB of second-level cache 2^26 u32 keys
/// took 11.8 to 12.4 ns of processor time each, with scratch 16.8 to 20.1: most of the difference
/// are the page faults of the scratch, which take up to ten times as long as copying so much. Where
/// the budget is short, fewer devices share the work.
template <class Key, class Value>
std::size_t devices_in_place(const Context& context, const Request& request, std::size_t most) {
  const std::uint64_t budget = context.memory_budget;
  const auto work_space = [&](std::size_t devices) {
    return InPlaceSort<Key, Value>::work_space(request.num_items, devices);
  };
  if (has_values<Value> && request.options.stable) return 0;
  if (work_space(most) <= request.bytes() && (budget == 0 || work_space(most) <= budget))
    return most;
  if (has_room_for_copy(context, request)) return 0;
  std::size_t devices = most;
  while (devices > 0 && budget != 0 && work_space(devices) > budget) --devices;
  return devices;
}

/// Sorts keys alone where they are by the vector sort of one device, if these are few enough that
/// dividing them among more takes longer. \return whether it has
///
/// On a Xeon 2^20 u32 keys take 5.4 ms so, and by way of a copy 10.6 on one thread.
template <class Key, class Value>
bool sort_undivided(const Context& context, Items<Key, Value> items, std::uint64_t n,
                    const segsort::KeyForm<Key>& form, std::size_t devices) {
  using Sorter = LocalSort<Key, Value>;
  constexpr std::uint64_t fewest_divided = std::uint64_t{1} << 17;
  if constexpr (!has_values<Value>) {
    if (devices > 2 && n > fewest_divided) return false;
    Sorter sorter;
    if (n > sorter.items_without_scratch()) return false;
    const PhaseTimer timer(context, "local sort");
    std::array<Key, Sorter::short_part> scratch;
    form.encode(items.keys, n);
    sorter.sort(items, {scratch.data(), nullptr}, n);
    form.decode(items.keys, n);
    return true;
  }
  return false;
}

template <class Key, class Value>
void sort_typed(const Context& context, const Request& request, std::size_t devices) {
  using Range = Items<Key, Value>;
  const Range items{static_cast<Key*>(request.keys),
                    has_values<Value> ? static_cast<Value*>(request.values) : nullptr};
  const segsort::KeyForm<Key> form(kind_of(request.key_type), request.options.order);
  if (request.options.algorithm != SortAlgorithm::merge) {
    using Sort = RadixSort<Key, Value>;
    const int digit_bits = Sort::usual_digit_bits(request.num_items);
    const std::size_t used =
        request.options.devices > 0 ? devices : Sort::usual_devices(request.num_items, devices);
    if (OrderedInput<Key, Value>(context, items, request.num_items, form, used).sort()) return;
    if (sort_undivided(context, items, request.num_items, form, used)) return;
    const std::size_t in_place = devices_in_place<Key, Value>(context, request, used);
    if (in_place > 0) {
      InPlaceSort<Key, Value>(context, items, request.num_items, form, in_place).run();
      return;
    }
    Sort(context, items, request.num_items, form, used, digit_bits).run();
    return;
  }
  std::vector<LocalSort<Key, Value>> sorters(devices);
  const std::vector<std::uint64_t> begins =
      plan::begins_of(plan::equal_shares(request.num_items, devices));
  for_each_device(devices, [&](std::size_t device) {
    form.encode(items.keys + begins[device], begins[device + 1] - begins[device]);
  });
  try {
    merge_sort(
        context, items, request.num_items, devices,
        [&](std::size_t device, Range part, Range scratch, std::uint64_t n) {
          sorters[device].sort(part, scratch, n);
        },
        std::less<Key>{}, [&](Range part, std::uint64_t n) { form.decode(part.keys, n); });
  } catch (...) {
    // Nothing is thrown once keys have been decoded.
    form.decode(items.keys, request.num_items);
    throw;
  }
}

template <class Key>
void sort_keys_of(const Context& context, const Request& request, std::size_t devices) {
  switch (request.value_bytes) {
    case 0:
      return sort_typed<Key, NoValue>(context, request, devices);
    case 4:
      return sort_typed<Key, Opaque<4>>(context, request, devices);
    default:
      return sort_typed<Key, Opaque<8>>(context, request, devices);
  }
}

}  // namespace sortie::multisort
