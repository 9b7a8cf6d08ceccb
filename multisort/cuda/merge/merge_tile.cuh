// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include "primitives/cuda/merge_path.cuh"
#include "primitives/payload.hpp"

/// The part of a merge sort that one block does: a tile of items in shared memory. Merge path
/// (Green, McColl, Bader: GPU Merge Path, 2012) gives every thread the same number of items.
namespace sortie::multisort::merge {

/// A tile's shape. The number of items per thread is odd, so threads that read shared memory at
/// that stride, or about half of it, use all banks.
///
/// On an H200, 2^28 keys of 4 bytes: a merge takes 0.60 ms with 15 items per thread and 6 blocks
/// per multiprocessor, 0.64 with 17 and 5, 0.63 with 11 and 8, 0.71 with 23 and 4; a copy 0.51.
/// 2^27 keys of 8 bytes: 0.54 with 11 and 5, 0.57 with 13.
template <class Key>
struct TileShape {
  static constexpr int threads = 256;
  static constexpr int items_a_thread = sizeof(Key) <= 4    ? 15
                                        : sizeof(Key) <= 8  ? 11
                                        : sizeof(Key) <= 16 ? 7
                                        : sizeof(Key) <= 32 ? 3
                                                            : 1;
  static constexpr int items = threads * items_a_thread;
  static_assert(sizeof(Key) * (items + 1) <= 48 * 1024, "records of up to 184 bytes");
};

/// Resident merging blocks per multiprocessor (launch bound); 0: no bound.
template <class Key, class Value>
inline constexpr int merging_blocks = has_values<Value>  ? 0
                                      : sizeof(Key) <= 4 ? 6
                                      : sizeof(Key) <= 8 ? 5
                                                         : 0;

/// Merges `count` items from two sorted runs in shared memory, the first at places [a, a_end), the
/// second at [b, b_end), and stores the place of origin of each.
template <class Key, class Order, int Count>
__device__ void merge_in_thread(const Key* shared, int a, int a_end, int b, int b_end,
                                const Order& before, Key (&keys)[Count], int (&places)[Count]) {
  // Reads beyond the runs stay within the tile: its last place is never an item's.
  Key next_a = shared[a];
  Key next_b = shared[b];
#pragma unroll
  for (int r = 0; r < Count; ++r) {
    const bool takes_b = b < b_end && (a >= a_end || before(next_b, next_a));
    keys[r] = takes_b ? next_b : next_a;
    places[r] = takes_b ? b : a;
    if (takes_b) {
      b = b < b_end ? b + 1 : b;
      next_b = shared[b];
    } else {
      a = a < a_end ? a + 1 : a;
      next_a = shared[a];
    }
  }
}

/// Sorts the first `valid` items of a thread, stably, by odd-even transposition.
template <class Key, class Order, int Count>
__device__ void sort_in_thread(Key (&keys)[Count], int (&places)[Count], int valid,
                               const Order& before) {
#pragma unroll
  for (int round = 0; round < Count; ++round) {
#pragma unroll
    for (int r = round % 2; r + 1 < Count; r += 2) {
      if (r + 1 < valid && before(keys[r + 1], keys[r])) {
        const Key key = keys[r];
        keys[r] = keys[r + 1];
        keys[r + 1] = key;
        const int place = places[r];
        places[r] = places[r + 1];
        places[r + 1] = place;
      }
    }
  }
}

/// Shared memory of one tile, and one place more, which merge_in_thread() may read.
template <class Key>
struct TileStorage {
  Key keys[TileShape<Key>::items + 1];
};

/// Input places of the items of a tile, if they have values.
template <class Key, class Value>
struct TileNumbers {
  std::uint16_t numbers[TileShape<Key>::items];
};
template <class Key>
struct TileNumbers<Key, NoValue> {};

}  // namespace sortie::multisort::merge
