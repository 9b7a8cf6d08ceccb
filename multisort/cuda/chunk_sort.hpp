// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/phase_timer.hpp"
#include "multisort/backends.hpp"
#include "multisort/cuda/device_group.hpp"
#include "sortie/run_report.hpp"

namespace sortie::multisort {

/// The function of an algorithm. \throws Error (usage) if the algorithm does not sort chunks
[[nodiscard]] ChunkSort chunk_sort(SortAlgorithm algorithm);

/// Times a phase of work on a group. With a report, the host waits for the group at the end of the
/// phase. Without one it does not wait, and phases follow each other on the streams.
class GroupPhase {
 public:
  GroupPhase(const Context& context, const DeviceGroup& group, std::string_view name,
             std::uint64_t bytes = 0)
      : group_(context.report == nullptr ? nullptr : &group), timer_(context, name, bytes) {}
  /// Ends the phase. Without this call the phase ends with the scope, and device errors are
  /// reported later.
  void stop() {
    if (group_ != nullptr) group_->synchronise();
    timer_.stop();
  }

 private:
  const DeviceGroup* group_;
  PhaseTimer timer_;
};

}  // namespace sortie::multisort
