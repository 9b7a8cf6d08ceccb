#include <parallel/algorithm>

#include "sortie/apps/bench/sort_peers/sort_peer.hpp"

namespace sortie::bench {

void sort_by_gnu_parallel(const PeerItems& array, int threads) {
  // The tag says how many threads there are at most; the library's own threshold says from which
  // length on it takes more than one.
  const __gnu_parallel::default_parallel_tag team(
      static_cast<__gnu_parallel::_ThreadIndex>(threads));
  with_peer_items(array, [&](auto items) {
    __gnu_parallel::sort(items.data(), items.data() + items.size(), team);
  });
}

}  // namespace sortie::bench
