// SPDX-License-Identifier: Apache-2.0
#include <parallel/algorithm>

#include "baselines/sort/sort_peer.hpp"

namespace sortie::baselines {

void sort_by_gnu_parallel(const PeerItems& array, int threads) {
  // The tag sets the maximum number of threads. Below a threshold of the library, it uses one.
  const __gnu_parallel::default_parallel_tag team(
      static_cast<__gnu_parallel::_ThreadIndex>(threads));
  with_peer_items(array, [&](auto items) {
    __gnu_parallel::sort(items.data(), items.data() + items.size(), team);
  });
}

}  // namespace sortie::baselines
