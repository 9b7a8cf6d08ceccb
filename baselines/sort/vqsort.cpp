// SPDX-License-Identifier: Apache-2.0
#include <hwy/contrib/sort/vqsort.h>

#include "baselines/sort/sort_peer.hpp"

namespace sortie::baselines {

void sort_by_vqsort(const PeerItems& array, int /*threads*/) {
  with_peer_items(array, [](auto items) {
    if constexpr (std::is_arithmetic_v<typename decltype(items)::value_type>) {
      const hwy::Sorter sorter;
      sorter(items.data(), items.size(), hwy::SortAscending());
    } else {
      throw Error(ErrorKind::usage, "vqsort: found values, expected keys alone");
    }
  });
}

}  // namespace sortie::baselines
