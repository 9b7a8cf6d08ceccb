// SPDX-License-Identifier: Apache-2.0
#include "sortie/sort_records.hpp"

#include <cstring>
#include <vector>

#include "core/phase_timer.hpp"
#include "multisort/backends.hpp"
#include "multisort/host/merge_sort.hpp"
#include "primitives/host/items.hpp"
#include "sortie/error.hpp"

namespace sortie::detail {

namespace {

/// The steps of multisort::merge_sort() for records.
struct RecordSteps {
  const RecordSort& description;
  std::byte* records;
  std::byte* scratch;

  [[nodiscard]] std::byte* at(std::byte* array, std::uint64_t i) const {
    return array + i * description.record_bytes;
  }
  void sort(std::size_t, std::uint64_t begin, std::uint64_t size) const {
    description.sort_share(at(records, begin), at(scratch, begin), size);
  }
  [[nodiscard]] const void* read(std::uint64_t i) const { return at(records, i); }
  [[nodiscard]] bool before(const void* a, const void* b) const { return description.before(a, b); }
  void copy(std::uint64_t begin, std::uint64_t size, std::uint64_t to) const {
    std::memcpy(at(scratch, to), at(records, begin), size * description.record_bytes);
  }
  [[nodiscard]] RecordRun run(std::uint64_t begin, std::uint64_t size) const {
    return {at(scratch, begin), size};
  }
  void merge(const std::vector<RecordRun>& runs, std::uint64_t begin, std::uint64_t) const {
    description.merge(runs, at(records, begin));
  }
};

}  // namespace

void sort_records(const Context& context, const RecordSort& sort, int devices) {
  if (context.backend == Backend::cuda)
    throw Error(ErrorKind::unavailable,
                "sort: found backend cuda, expected host: a comparator of the host cannot run on a "
                "GPU");
  const std::size_t count = multisort::start_devices(context, devices);
  const ItemStorage<std::byte, NoValue> storage(context, sort.count * sort.record_bytes,
                                                "scratch of the sort");
  RecordSteps steps{sort, static_cast<std::byte*>(sort.records), storage.items().keys};
  report_progress(context, "sort", 0, sort.count);
  if (count > 1) {
    multisort::merge_sort(context, sort.count, sort.record_bytes, count, steps);
  } else {
    const PhaseTimer timer(context, "local sort");
    steps.sort(0, 0, sort.count);
  }
  report_progress(context, "sort", sort.count, sort.count);
}

}  // namespace sortie::detail
