#pragma once

#include <string_view>

#include "sortie/core/run_report.hpp"
#include "sortie/multisort/cuda/device_group.hpp"
#include "sortie/multisort/device_sort.hpp"

namespace sortie::multisort {

/// An algorithm that sorts chunks in place; `group` has a logical device for each chunk, in order.
/// `request` has been checked: no null pointers where there are items, value_bytes 0, 4 or 8.
/// Returns when the sort is done, or throws with nothing left on the group's streams.
using ChunkSort = void (*)(const Context& context, const DeviceGroup& group,
                           const ChunkRequest& request);

/// The algorithm by that name. \throws Error (usage) one that does not sort chunks
[[nodiscard]] ChunkSort chunk_sort(SortAlgorithm algorithm);

/// Times a phase of work on a group. The host waits for it at its end, but only where somebody
/// wants to know: without a report, phases follow each other on the streams.
class GroupPhase {
 public:
  GroupPhase(const Context& context, const DeviceGroup& group, std::string_view name,
             std::uint64_t bytes = 0)
      : group_(context.report == nullptr ? nullptr : &group), timer_(context, name, bytes) {}
  /// Ends the phase; without it, it ends with the scope, and errors of the device come up later.
  void stop() {
    if (group_ != nullptr) group_->synchronise();
    timer_.stop();
  }

 private:
  const DeviceGroup* group_;
  PhaseTimer timer_;
};

}  // namespace sortie::multisort
