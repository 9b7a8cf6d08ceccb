// SPDX-License-Identifier: Apache-2.0
#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include "baselines/sort/sort_peer.hpp"

namespace sortie::baselines {

void sort_by_tbb(const PeerItems& array, int threads) {
  // The control permits more threads than cores if requested; the arena limits this sort to the
  // number of threads.
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  with_peer_items(array, [&](auto items) {
    arena.execute([&] { tbb::parallel_sort(items.data(), items.data() + items.size()); });
  });
}

}  // namespace sortie::baselines
