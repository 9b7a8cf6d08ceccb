// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/phase_timer.hpp"
#include "multisort/plan/moves.hpp"
#include "multisort/plan/multi_sequence.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/context.hpp"

namespace sortie::multisort {

/// Merge sort of n items of `item_bytes` bytes over logical devices.
///
/// Each device sorts its share; one exact selection splits the sorted shares; one exchange gives
/// each device a run from every other device; each device merges its runs. Tanasic et al. (section
/// 3.3) merge halves in log2(G) rounds for powers of two; this takes one round for any number of
/// devices. Stable.
///
/// \param steps  does to the items, and to as much scratch, what depends on their type:
///               * sort(device, begin, size) sorts items;
///               * read(i) gives the key of item i, and before(a, b) compares two of these;
///               * copy(begin, size, to) copies items to the scratch;
///               * run(begin, size) describes a run in the scratch;
///               * merge(runs, begin, size) merges runs to the items
template <class Steps>
void merge_sort(const Context& context, std::uint64_t n, std::uint64_t item_bytes,
                std::size_t devices, Steps& steps) {
  const std::vector<std::uint64_t> sizes = EqualShares{n, devices}.sizes();
  const std::vector<std::uint64_t> begins = begins_of(sizes);
  const std::uint64_t moved_bytes = devices > 1 ? 2 * n * item_bytes : 0;
  {
    const PhaseTimer timer(context, "local sort");
    for_each_task(devices,
                  [&](std::size_t device) { steps.sort(device, begins[device], sizes[device]); });
  }
  plan::Exchange exchange;
  {
    const PhaseTimer timer(context, "pivots");
    exchange = plan::exchange_of_runs(plan::split_for_destinations(
        sizes, sizes,
        [&](std::size_t device, std::uint64_t i) { return steps.read(begins[device] + i); },
        [&](auto a, auto b) { return steps.before(a, b); }));
  }
  const auto target = [&](const plan::Transfer& transfer) {
    return begins[transfer.destination] + transfer.destination_begin;
  };
  if (devices > 1) {
    const PhaseTimer timer(context, "exchange", moved_bytes);
    for_each_task(devices, [&](std::size_t source) {
      for (const plan::Transfer& transfer : exchange.by_source[source])
        steps.copy(begins[source] + transfer.source_begin, transfer.size, target(transfer));
    });
  }
  const PhaseTimer timer(context, "merge", moved_bytes);
  using Runs = std::vector<decltype(steps.run(0, 0))>;
  std::vector<Runs> runs(devices, Runs(devices));
  for (std::size_t source = 0; source < devices; ++source)
    for (const plan::Transfer& transfer : exchange.by_source[source])
      runs[transfer.destination][source] = steps.run(target(transfer), transfer.size);
  for_each_task(devices, [&](std::size_t device) {
    steps.merge(std::move(runs[device]), begins[device], sizes[device]);
  });
}

}  // namespace sortie::multisort
