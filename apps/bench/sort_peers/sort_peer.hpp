#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sortie/apps/bench/key_dispatch.hpp"
#include "sortie/segsort/key_types.hpp"

/// Sorts of one array on the host that are packaged with the system: baselines of Sortie's.
namespace sortie::bench {

/// A key and its value, side by side as peers need them; of keys without values, see PeerItem.
template <class Key, class Value>
struct KeyedItem {
  Key key;
  Value value;
  friend bool operator<(const KeyedItem& a, const KeyedItem& b) { return a.key < b.key; }
};

/// What a peer sorts: bare keys where there are no values, since some peers do better on them.
template <class Key, class Value>
using PeerItem = std::conditional_t<std::is_same_v<Value, NoValue>, Key, KeyedItem<Key, Value>>;

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
  with_key_type(array.key, [&]<class Key>(Key) {
    with_value_bytes(array.value_bytes, [&]<class Value>(Value) {
      using Item = PeerItem<Key, Value>;
      function(std::span<Item>(static_cast<Item*>(array.items), array.size));
    });
  });
}

/// Bytes of one item, padding included. \throws Error (usage) another width of values
[[nodiscard]] std::size_t peer_item_bytes(KeyType key, int value_bytes);

/// Brings keys and values side by side.
void gather(std::span<const std::byte> keys, std::span<const std::byte> values,
            const PeerItems& into);
/// Brings them apart again.
void scatter(const PeerItems& from, std::span<std::byte> keys, std::span<std::byte> values);

/// Sorts ascending by key, in place, with at most `threads` threads where the peer has more than
/// one. \throws std::bad_alloc
using PeerSort = void (*)(const PeerItems& array, int threads);

struct SortPeer {
  std::string name;
  bool stable = false;
  PeerSort sort = nullptr;
};

/// Those that this build has, std::sort and std::stable_sort first.
[[nodiscard]] std::vector<SortPeer> sort_peers();

/// std::sort and std::stable_sort, one thread.
void sort_by_std(const PeerItems& array, int threads);
void sort_by_std_stable(const PeerItems& array, int threads);

/// libstdc++'s parallel mode: multiway merge sort (Singler et al.: MCSTL, Euro-Par 2007), not the
/// stable one; memory for one copy. In builds with SORTIE_HAVE_GNU_PARALLEL.
void sort_by_gnu_parallel(const PeerItems& array, int threads);

/// tbb::parallel_sort: parallel quicksort, in place. In builds with SORTIE_HAVE_TBB.
void sort_by_tbb(const PeerItems& array, int threads);

/// Boost.Sort, in builds with SORTIE_HAVE_BOOST_SORT: pattern-defeating quicksort (one thread), a
/// hybrid of radix and comparison sort (one thread), and the block-indirect sort, which merges
/// blocks in place by many threads.
void sort_by_boost_pdqsort(const PeerItems& array, int threads);
void sort_by_boost_spreadsort(const PeerItems& array, int threads);
void sort_by_boost_block_indirect(const PeerItems& array, int threads);

}  // namespace sortie::bench
