#include <algorithm>

#include "sortie/apps/bench/sort_peers/sort_peer.hpp"

namespace sortie::bench {

void sort_by_std(const PeerItems& array, int /*threads*/) {
  with_peer_items(array, [](auto items) { std::sort(items.begin(), items.end()); });
}

void sort_by_std_stable(const PeerItems& array, int /*threads*/) {
  with_peer_items(array, [](auto items) { std::stable_sort(items.begin(), items.end()); });
}

}  // namespace sortie::bench
