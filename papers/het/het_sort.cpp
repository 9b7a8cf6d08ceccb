// SPDX-License-Identifier: Apache-2.0
#include "papers/het/het_sort.hpp"

#include <functional>

#include "core/phase_timer.hpp"
#include "multisort/cuda/chunked_sort.hpp"

namespace sortie::papers {

void het_sort(const Context& context, const std::vector<int>& ordinals,
              const multisort::Request& request) {
  if (request.num_items == 0) return;
  const multisort::ChunkedArray array(context, ordinals, request);
  const std::function<void()> merge = prepare_merge(context, request, array.sizes());
  array.sort_chunks(array.items());
  const PhaseTimer timer(context, "merge", 4 * request.bytes());
  merge();
}

}  // namespace sortie::papers
