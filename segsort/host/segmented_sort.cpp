// Segmented sort on the host: keys become unsigned integers of the same order (KeyForm), which
// SegmentSorter sorts.

#include "sortie/segsort/segmented_sort.hpp"

#include "sortie/core/host_runtime.hpp"
#include "sortie/core/run_report.hpp"
#include "sortie/segsort/host/sort_typed.hpp"

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
