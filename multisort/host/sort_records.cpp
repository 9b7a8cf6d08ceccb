// SPDX-License-Identifier: Apache-2.0
#include "sortie/sort_records.hpp"

#include <cstring>
#include <vector>

#include "core/phase_timer.hpp"
#include "multisort/backends.hpp"
#include "multisort/plan/exchange.hpp"
#include "multisort/plan/multi_sequence.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::detail {

void sort_records(const Context& context, const RecordSort& sort, int devices) {
  if (context.backend == Backend::cuda)
    throw Error(ErrorKind::unavailable,
                "sort: found backend cuda, expected host: a comparator of the host cannot run on a "
                "GPU");
  namespace plan = multisort::plan;
  const std::size_t count = multisort::start_devices(context, devices);
  const std::vector<std::uint64_t> sizes = EqualShares{sort.count, count}.sizes();
  const std::vector<std::uint64_t> begins = begins_of(sizes);
  const std::uint64_t bytes = sort.count * sort.record_bytes;
  const ItemStorage<std::byte, NoValue> storage(context, bytes, "scratch of the sort");
  auto* const records = static_cast<std::byte*>(sort.records);
  std::byte* const scratch = storage.items().keys;
  const auto at = [&](std::byte* array, std::uint64_t index) {
    return array + index * sort.record_bytes;
  };
  report_progress(context, "sort", 0, sort.count);
  {
    const PhaseTimer timer(context, "local sort");
    for_each_task(count, [&](std::size_t device) {
      sort.sort_share(at(records, begins[device]), at(scratch, begins[device]), sizes[device]);
    });
  }
  if (count == 1) return report_progress(context, "sort", sort.count, sort.count);
  plan::Exchange exchange;
  {
    const PhaseTimer timer(context, "pivots");
    const auto read = [&](std::size_t device, std::uint64_t position) -> const void* {
      return at(records, begins[device] + position);
    };
    exchange =
        plan::exchange_of_runs(plan::split_for_destinations(sizes, sizes, read, sort.before));
  }
  {
    const PhaseTimer timer(context, "exchange", 2 * bytes);
    for_each_task(count, [&](std::size_t source) {
      for (const plan::Transfer& transfer : exchange.by_source[source])
        std::memcpy(at(scratch, begins[transfer.destination] + transfer.destination_begin),
                    at(records, begins[source] + transfer.source_begin),
                    transfer.size * sort.record_bytes);
    });
  }
  const PhaseTimer timer(context, "merge", 2 * bytes);
  std::vector<std::vector<RecordRun>> runs(count, std::vector<RecordRun>(count));
  for (std::size_t source = 0; source < count; ++source) {
    for (const plan::Transfer& transfer : exchange.by_source[source])
      runs[transfer.destination][source] = {
          at(scratch, begins[transfer.destination] + transfer.destination_begin), transfer.size};
  }
  for_each_task(count,
                [&](std::size_t device) { sort.merge(runs[device], at(records, begins[device])); });
  report_progress(context, "sort", sort.count, sort.count);
}

}  // namespace sortie::detail
