// SPDX-License-Identifier: Apache-2.0
#include "baselines/sort/sort_peer.hpp"

#include <algorithm>
#include <cstring>

namespace sortie::baselines {
namespace {

// Calls copy.key() and copy.value() with the parts of each item and their byte offsets in the
// arrays of keys and of values.
template <class Copy>
void with_parts(const PeerItems& array, Copy copy) {
  with_segment_key_type(array.key, [&]<class Key>(Key) {
    with_value_bytes(array.value_bytes, [&]<class Value>(Value) {
      auto* const items = static_cast<PeerItem<Key, Value>*>(array.items);
      for (std::uint64_t i = 0; i < array.size; ++i) {
        if constexpr (std::is_same_v<Value, NoValue>) {
          copy.key(items[i], i * sizeof(Key));
        } else {
          copy.key(items[i].key, i * sizeof(Key));
          copy.value(items[i].value, i * sizeof(Value));
        }
      }
    });
  });
}

struct Gather {
  const std::byte* keys;
  const std::byte* values;
  template <class Key>
  void key(Key& key, std::size_t place) const {
    std::memcpy(&key, keys + place, sizeof key);
  }
  template <class Value>
  void value(Value& value, std::size_t place) const {
    std::memcpy(&value, values + place, sizeof value);
  }
};

struct Scatter {
  std::byte* keys;
  std::byte* values;
  template <class Key>
  void key(const Key& key, std::size_t place) const {
    std::memcpy(keys + place, &key, sizeof key);
  }
  template <class Value>
  void value(const Value& value, std::size_t place) const {
    std::memcpy(values + place, &value, sizeof value);
  }
};

}  // namespace

std::size_t peer_item_bytes(KeyType key, int value_bytes) {
  return with_segment_key_type(key, [&]<class Key>(Key) {
    return with_value_bytes(value_bytes,
                            []<class Value>(Value) { return sizeof(PeerItem<Key, Value>); });
  });
}

void gather(std::span<const std::byte> keys, std::span<const std::byte> values,
            const PeerItems& into) {
  with_parts(into, Gather{keys.data(), values.data()});
}

void scatter(const PeerItems& from, std::span<std::byte> keys, std::span<std::byte> values) {
  with_parts(from, Scatter{keys.data(), values.data()});
}

std::vector<SortPeer> sort_peers([[maybe_unused]] int value_bytes) {
  std::vector<SortPeer> peers{
      {"std::sort", false, sort_by_std},
      {"std::stable_sort", true, sort_by_std_stable},
      {"paradis", false, sort_by_paradis},
#ifdef SORTIE_HAVE_GNU_PARALLEL
      {"gnu-parallel-sort", false, sort_by_gnu_parallel},
#endif
#ifdef SORTIE_HAVE_TBB
      {"tbb-parallel-sort", false, sort_by_tbb},
#endif
#ifdef SORTIE_HAVE_BOOST_SORT
      {"boost-pdqsort", false, sort_by_boost_pdqsort},
      {"boost-spreadsort", false, sort_by_boost_spreadsort},
      {"boost-block-indirect-sort", false, sort_by_boost_block_indirect},
#endif
  };
#ifdef SORTIE_HAVE_VQSORT
  if (value_bytes == 0) peers.push_back({"vqsort", false, sort_by_vqsort});
#endif
  return peers;
}

void sort_by_std(const PeerItems& array, int /*threads*/) {
  with_peer_items(array, [](auto items) { std::sort(items.begin(), items.end()); });
}

void sort_by_std_stable(const PeerItems& array, int /*threads*/) {
  with_peer_items(array, [](auto items) { std::stable_sort(items.begin(), items.end()); });
}

}  // namespace sortie::baselines
