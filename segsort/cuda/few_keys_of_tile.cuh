// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/few_keys.cuh"
#include "segsort/cuda/tile.cuh"

/// Sorts a tile of one segment with few distinct keys by counting. A hash table finds the distinct
/// keys and their order; then each warp ranks its items, stably, among those of the same key, with
/// one ballot per bit of the number of the key.
namespace sortie::segsort {

/// In the place of the words of the tile.
template <class T>
struct FewKeysOfTile {
  static constexpr unsigned int most = 128;
  static constexpr unsigned int slots = 2 * most;

  alignas(16) typename T::Word keys[most];  ///< the distinct keys, as they were found
  /// Items of each key in each warp; then the position of the first of them in the tile.
  std::uint16_t counts[T::warps][most];
  std::uint32_t items[slots];  ///< one more than an item with the key of the slot; 0: free
  unsigned int used;           ///< number of keys
  std::uint8_t slot_of[most];  ///< of a key
  std::uint8_t ranks[slots];   ///< of the key of a slot among all keys
};

/// Tiles of teams of several warps have one segment each.
template <class T>
inline constexpr bool counts_few_keys = (T::warps > 2) &&
                                        sizeof(FewKeysOfTile<T>) + alignof(FewKeysOfTile<T>) <=
                                            sizeof(T::words);

/// The words of a tile of keys alone are aligned to their own size only.
template <class T>
__device__ __forceinline__ FewKeysOfTile<T>& few_keys_at(std::uint32_t tile_distance) {
  constexpr std::uint32_t alignment = alignof(FewKeysOfTile<T>);
  const auto words = static_cast<std::uint32_t>(
      reinterpret_cast<const unsigned char*>(tile_at<T>(tile_distance).words) -
      dynamic_shared_memory());
  return *reinterpret_cast<FewKeysOfTile<T>*>(dynamic_shared_memory() +
                                              (words + alignment - 1) / alignment * alignment);
}

/// Sorts a tile: item e belongs to the thread e / items. \pre counts_few_keys<T>, a segment.
/// On success tile.words holds the indices of the items in order, without windows; otherwise its
/// contents are lost. Begins and ends with a barrier. Not inlined: see sort_uneven_tile().
/// \return false if there are more than FewKeysOfTile<T>::most keys
template <class T>
__device__ __noinline__ bool sort_few_keys(std::uint32_t tile_distance, int length,
                                           typename T::Word compare_mask) {
  using Word = typename T::Word;
  using Few = FewKeysOfTile<T>;
  T& tile = tile_at<T>(tile_distance);
  Few& few = few_keys_at<T>(tile_distance);
  const int thread = T::thread();
  const int warp = thread / 32;
  const int first = warp * 32 * T::items + thread % 32;
  const auto key_of = [&](int e) { return static_cast<Word>(tile.keys[e] & compare_mask); };

  // Buckets of a partition that have one key each are in order already.
  bool inverted = false;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = first + 32 * r;
    if (e + 1 < length) inverted |= key_of(e) > key_of(e + 1);
  }
  if (!T::any(inverted)) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const int e = first + 32 * r;
      tile.words[banked(e)] = static_cast<std::uint32_t>(e);
    }
    T::synchronise();
    return true;
  }
  for (unsigned int i = thread; i < Few::slots; i += T::threads) few.items[i] = 0;
  auto* const counts_of_all = reinterpret_cast<std::uint32_t*>(few.counts);
  for (unsigned int i = thread; i < sizeof(few.counts) / 4; i += T::threads) counts_of_all[i] = 0;
  if (thread == 0) few.used = 0;
  T::synchronise();

  ShortNumbers<T::items, 8> slots;
  bool failed = false;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    // Of many keys, the first items have enough to tell.
    if (r == 1 && T::any(failed)) return false;
    const int e = first + 32 * r;
    unsigned int slot = 0;
    if (e < length) {
      const Word key = key_of(e);
      static_assert(few::slots % Few::slots == 0 && Few::slots <= 256);
      slot = few::first_slot(key) / (few::slots / Few::slots);
      for (unsigned int probe = 0;; ++probe) {
        std::uint32_t found = *const_cast<volatile std::uint32_t*>(&few.items[slot]);
        if (found == 0) found = atomicCAS(&few.items[slot], 0u, static_cast<std::uint32_t>(e) + 1);
        if (found == 0) {
          const unsigned int number = atomicAdd(&few.used, 1u);
          failed |= number >= Few::most;
          if (failed) break;
          few.keys[number] = key;
          few.slot_of[number] = static_cast<std::uint8_t>(slot);
          break;
        }
        if (key_of(static_cast<int>(found) - 1) == key) break;
        failed |= probe >= few::most_probes;
        if (failed) break;
        slot = (slot + 1) % Few::slots;
      }
    }
    slots.set(r, slot);
  }
  if (T::any(failed)) return false;

  const auto keys = static_cast<int>(few.used);
  for (int i = thread; i < keys; i += T::threads) {
    const Word key = few.keys[i];
    unsigned int rank = 0;
#pragma unroll 8
    for (int other = 0; other < keys; ++other) rank += few.keys[other] < key ? 1 : 0;
    few.ranks[few.slot_of[i]] = static_cast<std::uint8_t>(rank);
  }
  T::synchronise();

  std::uint16_t* const counts = few.counts[warp];
  const int bits = bits_of(static_cast<std::uint32_t>(keys - 1));
  ShortNumbers<T::items, 16> ranks;  // among the warp's items of the key
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const bool is_item = first + 32 * r < length;
    const std::uint32_t number = is_item ? few.ranks[slots[r]] : 0;
    unsigned int peers = __ballot_sync(full_warp, is_item);
#pragma unroll 1
    for (int bit = 0; bit < bits; ++bit) {
      const bool is_set = (number >> bit & 1) != 0;
      const unsigned int set = __ballot_sync(full_warp, is_set);
      peers &= is_set ? set : ~set;
    }
    const std::uint32_t before = counts[number];
    const std::uint32_t lower = rank_among(peers);
    __syncwarp();
    if (is_item && lower == 0)
      counts[number] = static_cast<std::uint16_t>(before + lanes_of(peers));
    __syncwarp();
    ranks.set(r, before + lower);
  }
  T::synchronise();

  if (warp == 0) {  // lane l sums up keys 4 l .. 4 l + 3, which share a word
    static_assert(Few::most == 4 * 32 && T::capacity < 1 << 16);
    auto* const rows = reinterpret_cast<std::uint64_t*>(few.counts) + thread;
    std::uint64_t sum = 0;
#pragma unroll
    for (int w = 0; w < T::warps; ++w) sum += rows[32 * w];
    const std::uint64_t up_to = sum + (sum << 16) + (sum << 32) + (sum << 48);
    const auto all = static_cast<std::uint32_t>(up_to >> 48);
    const std::uint32_t before = inclusive_sum_in_warp(all) - all;
    std::uint64_t start = (up_to << 16) + before * std::uint64_t{0x0001000100010001};
#pragma unroll
    for (int w = 0; w < T::warps; ++w) {
      const std::uint64_t count = rows[32 * w];
      rows[32 * w] = start;
      start += count;
    }
  }
  T::synchronise();

  ShortNumbers<T::items, 16> places;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const bool is_item = first + 32 * r < length;
    places.set(r, is_item ? counts[few.ranks[slots[r]]] + ranks[r] : 0);
  }
  T::synchronise();
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = first + 32 * r;
    if (e < length) tile.words[banked(static_cast<int>(places[r]))] = static_cast<std::uint32_t>(e);
  }
  T::synchronise();
  return true;
}

}  // namespace sortie::segsort
