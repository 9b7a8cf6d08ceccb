// SPDX-License-Identifier: Apache-2.0
#include <boost/sort/sort.hpp>
#include <boost/sort/spreadsort/spreadsort.hpp>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "baselines/sort/sort_peer.hpp"

namespace sortie::baselines {
namespace {

namespace spreadsort = boost::sort::spreadsort;

template <class Item>
void spread(std::span<Item> items) {
  Item* const end = items.data() + items.size();
  if constexpr (std::is_arithmetic_v<Item>) {
    spreadsort::spreadsort(items.data(), end);
  } else if constexpr (std::is_floating_point_v<decltype(Item::key)>) {
    using Key = decltype(Item::key);
    using Bits = std::conditional_t<sizeof(Key) == 4, std::int32_t, std::int64_t>;
    spreadsort::float_sort(
        items.data(), end,
        [](const Item& item, unsigned shift) {
          return spreadsort::float_mem_cast<Key, Bits>(item.key) >> shift;
        },
        std::less<Item>());
  } else {
    spreadsort::integer_sort(
        items.data(), end, [](const Item& item, unsigned shift) { return item.key >> shift; },
        std::less<Item>());
  }
}

}  // namespace

void sort_by_boost_pdqsort(const PeerItems& array, int /*threads*/) {
  with_peer_items(
      array, [](auto items) { boost::sort::pdqsort(items.data(), items.data() + items.size()); });
}

void sort_by_boost_spreadsort(const PeerItems& array, int /*threads*/) {
  with_peer_items(array, [](auto items) { spread(items); });
}

void sort_by_boost_block_indirect(const PeerItems& array, int threads) {
  with_peer_items(array, [&](auto items) {
    boost::sort::block_indirect_sort(items.data(), items.data() + items.size(),
                                     static_cast<std::uint32_t>(threads));
  });
}

}  // namespace sortie::baselines
