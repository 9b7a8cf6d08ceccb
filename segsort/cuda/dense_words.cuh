// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "segsort/cuda/tile.cuh"

/// Words of tiles of few distinct keys, whose windows would leave most bins of a distribution empty:
///
///     | rank of its key among the distinct ones | its index e, scaled to all values | e |
///
/// Items of one key are thus spread over as many bins as its rank has, in the order of e. Words in
/// order are items in order, without ties.
namespace sortie::segsort {

/// The distinct keys of a tile, in a hash table in place of the words.
template <class T>
struct DistinctKeys {
  /// Type of a key that atomicCAS takes. All ones mark a free slot.
  using Key = std::conditional_t<sizeof(typename T::Word) == 4, unsigned int, unsigned long long>;
  static constexpr unsigned int slots = T::capacity >= 2048 ? 512 : 256;
  static constexpr unsigned int most = slots / 2;

  Key keys[slots];
  Key found[most];  ///< the keys by the order of their insertion
  std::uint16_t ranks[slots];
  std::uint16_t slots_of[most];  ///< of the keys in `found`
  unsigned int used;

  /// The slot of a key, which is inserted if it is new; `slots` if there is no place.
  __device__ unsigned int slot_of(Key key) {
    constexpr Key is_free = ~Key{0};
    if (key == is_free) return slots;
    const auto folded = static_cast<unsigned int>(key ^ static_cast<Key>(std::uint64_t{key} >> 32));
    unsigned int slot = folded * 0x9e3779b1u >> (slots == 512 ? 23 : 24);
    while (*const_cast<volatile unsigned int*>(&used) <= most) {
      Key other = *const_cast<volatile Key*>(&keys[slot]);
      if (other == key) return slot;
      if (other == is_free) {
        other = atomicCAS(&keys[slot], is_free, key);
        if (other == key) return slot;
        if (other == is_free) {
          const unsigned int place = atomicAdd(&used, 1);
          if (place >= most) return slots;
          found[place] = key;
          slots_of[place] = static_cast<std::uint16_t>(slot);
          return slot;
        }
      }
      slot = (slot + 1) % slots;
    }
    return slots;
  }
};

/// Has a tile place for a table? Blocks have, but for the smallest ones of the tuner.
template <class T>
inline constexpr bool holds_distinct_keys =
    T::warps > 1 && sizeof(DistinctKeys<T>) <= sizeof(T::words) && alignof(DistinctKeys<T>) <= 8;

/// Words of the items r * threads + thread of a tile.
template <int Items>
struct DenseWords {
  bool exist;  ///< false: the tile has too many distinct keys
  std::uint32_t words[Items];
};

/// \pre the tile is one segment of `length` items, and its words are not needed. Begins and ends
/// with a barrier. Not inlined: see order_ties().
template <class T>
__device__ __noinline__ DenseWords<T::items> dense_words(T& tile, int length,
                                                         typename T::Word compare_mask) {
  using Table = DistinctKeys<T>;
  static_assert(holds_distinct_keys<T>);
  Table& table = *reinterpret_cast<Table*>(tile.words);
  const int thread = T::thread();
  T::synchronise();
  for (unsigned int i = static_cast<unsigned int>(thread); i < Table::slots; i += T::threads)
    table.keys[i] = ~typename Table::Key{0};
  if (thread == 0) table.used = 0;
  T::synchronise();
  ShortNumbers<T::items, 16> slots;
  bool failed = false;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * T::threads + thread;
    const unsigned int slot = e < length ? table.slot_of(tile.keys[e] & compare_mask) : 0;
    failed |= slot == Table::slots;
    slots.set(r, slot);
  }
  DenseWords<T::items> dense{};
  if (T::any(failed)) return dense;
  const unsigned int used = table.used;
  for (unsigned int i = static_cast<unsigned int>(thread); i < used; i += T::threads) {
    unsigned int rank = 0;
#pragma unroll 8
    for (unsigned int other = 0; other < used; ++other)
      rank += table.found[other] < table.found[i] ? 1 : 0;
    table.ranks[table.slots_of[i]] = static_cast<std::uint16_t>(rank);
  }
  T::synchronise();
  const int rank_bits = bits_of(max(used - 1, 1u));
  const std::uint32_t scale = ~std::uint32_t{0} / static_cast<std::uint32_t>(length);
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const auto e = static_cast<std::uint32_t>(r * T::threads + thread);
    const std::uint32_t rank = table.ranks[slots[r]];
    dense.words[r] = e < static_cast<std::uint32_t>(length)
                         ? rank << (32 - rank_bits) | (e * scale >> rank_bits & ~T::index_mask) | e
                         : 0xffffffffu;
  }
  dense.exist = true;
  T::synchronise();
  return dense;
}

}  // namespace sortie::segsort
