// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "baselines/segment_key_type.hpp"
#include "primitives/payload.hpp"
#include "sortie/key_types.hpp"

/// Array sorts of others on the host, used as baselines.
namespace sortie::baselines {

/// A pair of key and value as the peers require it. See PeerItem for keys without values.
template <class Key, class Value>
struct KeyedItem {
  Key key;
  Value value;
  friend bool operator<(const KeyedItem& a, const KeyedItem& b) { return a.key < b.key; }
};

/// The item type that a peer sorts: plain keys if there are no values, since some peers are faster
/// on them.
template <class Key, class Value>
using PeerItem = std::conditional_t<has_values<Value>, KeyedItem<Key, Value>, Key>;

/// An array of PeerItem, type erased.
struct PeerItems {
  void* items = nullptr;
  std::uint64_t size = 0;
  KeyType key = KeyType::u32;
  int value_bytes = 0;  ///< 0, 4 or 8
};

/// Calls `function` with the array as a span of its type.
template <class Function>
void with_peer_items(const PeerItems& array, Function function) {
  with_segment_key_type(array.key, [&]<class Key>(Key) {
    with_value_bytes(array.value_bytes, [&]<class Value>(Value) {
      using Item = PeerItem<Key, Value>;
      function(std::span<Item>(static_cast<Item*>(array.items), array.size));
    });
  });
}

/// Bytes of one item, padding included. \throws Error (usage) another width of values
[[nodiscard]] std::size_t peer_item_bytes(KeyType key, int value_bytes);

/// Combines keys and values into pairs.
void gather(std::span<const std::byte> keys, std::span<const std::byte> values,
            const PeerItems& into);
/// Splits pairs into keys and values.
void scatter(const PeerItems& from, std::span<std::byte> keys, std::span<std::byte> values);

/// Sorts ascending by key, in place, with at most `threads` threads if the peer is parallel.
/// \throws std::bad_alloc
using PeerSort = void (*)(const PeerItems& array, int threads);

struct SortPeer {
  std::string name;
  bool stable = false;
  PeerSort sort = nullptr;
};

/// The peers in this build that sort keys with values of so many bytes (0: keys alone), std::sort
/// and std::stable_sort first.
[[nodiscard]] std::vector<SortPeer> sort_peers(int value_bytes);

/// std::sort and std::stable_sort, one thread.
void sort_by_std(const PeerItems& array, int threads);
void sort_by_std_stable(const PeerItems& array, int threads);

/// PARADIS, a parallel radix sort in place, written here after its paper (paradis.cpp): the peer of
/// Ilic's thesis on the host. Not stable.
void sort_by_paradis(const PeerItems& array, int threads);

/// libstdc++'s parallel mode: multiway merge sort (Singler et al.: MCSTL, Euro-Par 2007), the
/// unstable variant; memory for one copy. In builds with SORTIE_HAVE_GNU_PARALLEL.
void sort_by_gnu_parallel(const PeerItems& array, int threads);

/// tbb::parallel_sort: parallel quicksort, in place. In builds with SORTIE_HAVE_TBB.
void sort_by_tbb(const PeerItems& array, int threads);

/// vqsort of Highway (Wassenberg et al.: arXiv:2205.05982): vector quicksort, one thread, in place,
/// keys alone. In builds with SORTIE_HAVE_VQSORT. \throws Error (usage) an array with values
void sort_by_vqsort(const PeerItems& array, int threads);

/// Boost.Sort, in builds with SORTIE_HAVE_BOOST_SORT: pattern-defeating quicksort (one thread), a
/// hybrid of radix and comparison sort (one thread), and the block-indirect sort, which merges
/// blocks in place with several threads.
void sort_by_boost_pdqsort(const PeerItems& array, int threads);
void sort_by_boost_spreadsort(const PeerItems& array, int threads);
void sort_by_boost_block_indirect(const PeerItems& array, int threads);

}  // namespace sortie::baselines
