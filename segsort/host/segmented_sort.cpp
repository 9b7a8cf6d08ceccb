// SPDX-License-Identifier: Apache-2.0

// Segmented sort on the host: KeyCodec maps keys to unsigned integers of the same order, which
// SegmentSorter sorts.

#include "sortie/segmented_sort.hpp"

#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "segsort/backends.hpp"
#include "sortie/run_report.hpp"

namespace sortie::segsort {

void sort_on_host(const Context& context, const Request& request) {
  start_host_runtime(context.threads);
  const PhaseTimer timer(context, "segmented sort");
  if (key_bits(request.key_type) == 32) {
    sort_keys_of<std::uint32_t>(context, request);
  } else {
    sort_keys_of<std::uint64_t>(context, request);
  }
}

}  // namespace sortie::segsort
