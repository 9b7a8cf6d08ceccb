// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/phase_timer.hpp"
#include "multisort/host/local_sort.hpp"
#include "multisort/host/merge_runs.hpp"
#include "multisort/plan/exchange.hpp"
#include "multisort/plan/multi_sequence.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/context.hpp"
#include "sortie/run_report.hpp"

namespace sortie::multisort {

/// Merge sort over logical devices.
///
/// Each device sorts its share; one exact selection splits the sorted shares; one exchange gives
/// each device a run from every other device; each device merges its runs. Tanasic et al. (section
/// 3.3) merge halves in log2(G) rounds for powers of two; this takes one round for any number of
/// devices. Stable.
///
/// \param codec  has encoded the keys, which are decoded at last; nothing is thrown after that
/// \throws Error (out_of_memory)
template <class Key, class Value>
void merge_sort(const Context& context, Items<Key, Value> items, std::uint64_t n,
                const KeyCodec<Key>& codec, std::size_t devices) {
  const std::vector<std::uint64_t> sizes = EqualShares{n, devices}.sizes();
  const std::vector<std::uint64_t> begins = begins_of(sizes);
  const ItemStorage<Key, Value> storage(context, n, "scratch of the sort");
  const Items<Key, Value> scratch = storage.items();
  const std::uint64_t bytes = n * item_bytes<Key, Value>;
  std::vector<LocalSort<Key, Value>> sorters(devices);
  {
    const PhaseTimer timer(context, "local sort");
    for_each_task(devices, [&](std::size_t device) {
      sorters[device].sort(items.from(begins[device]), scratch.from(begins[device]), sizes[device]);
    });
  }
  plan::Exchange exchange;
  {
    const PhaseTimer timer(context, "pivots");
    const auto read = [&](std::size_t device, std::uint64_t position) {
      return items.keys[begins[device] + position];
    };
    exchange =
        plan::exchange_of_runs(plan::split_for_destinations(sizes, sizes, read, std::less<Key>{}));
  }
  if (devices > 1) {
    const PhaseTimer timer(context, "exchange", 2 * bytes);
    for_each_task(devices, [&](std::size_t source) {
      for (const plan::Transfer& transfer : exchange.by_source[source]) {
        copy_items(items.from(begins[source] + transfer.source_begin), transfer.size,
                   scratch.from(begins[transfer.destination] + transfer.destination_begin));
      }
    });
  }
  const PhaseTimer timer(context, "merge", devices > 1 ? 2 * bytes : 0);
  std::vector<std::vector<Run<Key, Value>>> runs(devices, std::vector<Run<Key, Value>>(devices));
  for (std::size_t source = 0; source < devices; ++source) {
    for (const plan::Transfer& transfer : exchange.by_source[source]) {
      const std::uint64_t begin = begins[transfer.destination] + transfer.destination_begin;
      runs[transfer.destination][source] = {scratch.from(begin), transfer.size};
    }
  }
  for_each_task(devices, [&](std::size_t device) {
    const Items<Key, Value> part = items.from(begins[device]);
    if (devices > 1) merge_runs(std::move(runs[device]), part);
    codec.decode(part.keys, sizes[device]);
  });
}

}  // namespace sortie::multisort
