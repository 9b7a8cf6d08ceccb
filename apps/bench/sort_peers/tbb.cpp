#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include "sortie/apps/bench/sort_peers/sort_peer.hpp"

namespace sortie::bench {

void sort_by_tbb(const PeerItems& array, int threads) {
  // The control lets TBB have more threads than cores, where so many are asked for; the arena holds
  // this sort to them.
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  with_peer_items(array, [&](auto items) {
    arena.execute([&] { tbb::parallel_sort(items.data(), items.data() + items.size()); });
  });
}

}  // namespace sortie::bench
