// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/check.hpp"
#include "multisort/cuda/merge/network_tile.cuh"
#include "primitives/key_codec.hpp"

/// Sorts tiles by a bitonic network: the first pass of the merge sort of keys alone, and of the sort
/// in place of papers/bitonic. Not stable.
namespace sortie::multisort::bitonic {

/// Keys and values in global memory. The first pass encodes the keys, the last decodes them.
template <class Key, class Value>
struct Array {
  Key* keys;
  Value* values;
  std::uint64_t n;
  KeyCodec<Key> codec;
  bool encode;
  bool decode;
};

/// Maps the places of a tile to indices of the array. The tile is rows of 2^log_columns
/// neighbouring items at a distance of 2^log_distance. In a mirrored pass the columns of the upper
/// half of the rows are the mirror image of those of the lower half.
struct TileInMemory {
  std::uint64_t row;            ///< index of the first row's block
  std::uint64_t columns;        ///< first column of the lower half, in a row's block
  std::uint64_t upper_columns;  ///< the same for the upper half
  std::uint64_t end;            ///< all indices of the tile are less
  int log_items;
  int log_columns;
  int log_distance;

  /// Tile `number` of consecutive items.
  template <class Shape>
  [[nodiscard]] __device__ static TileInMemory of_neighbours(unsigned int number) {
    const std::uint64_t begin = std::uint64_t{number} << Shape::log_items;
    return {.row = begin,
            .columns = 0,
            .upper_columns = 0,
            .end = begin + Shape::items,
            .log_items = Shape::log_items,
            .log_columns = 0,
            .log_distance = 0};
  }

  [[nodiscard]] __device__ std::uint64_t index(int place) const {
    const bool is_upper = place >> (log_items - 1) != 0;
    const int column = place & ((1 << log_columns) - 1);
    return row + (static_cast<std::uint64_t>(place >> log_columns) << log_distance) +
           (is_upper ? upper_columns : columns) + static_cast<std::uint64_t>(column);
  }
};

/// Calls body(r, index) for each item of this thread that is in the array. \pre the grouping's bits
/// are bits of the row
template <class Shape, class Body>
__device__ void for_each_in_array(const TileInMemory& tile, const Grouping& grouping,
                                  std::uint64_t n, Body body) {
  constexpr int half = Shape::items_a_thread / 2;
  const std::uint64_t lower = tile.index(grouping.lower);
  const std::uint64_t upper = tile.index(grouping.upper | half << grouping.low_bit);
  const int log_stride = grouping.low_bit - tile.log_columns + tile.log_distance;
  const auto index_of = [&](int r) {
    return (r < half ? lower : upper) + (static_cast<std::uint64_t>(r % half) << log_stride);
  };
  if (tile.end <= n) {
#pragma unroll
    for (int r = 0; r < Shape::items_a_thread; ++r) body(r, index_of(r));
  } else {
#pragma unroll
    for (int r = 0; r < Shape::items_a_thread; ++r)
      if (index_of(r) < n) body(r, index_of(r));
  }
}

template <class Key, class Value>
__device__ void load(const Array<Key, Value>& array, const TileInMemory& tile,
                     const Grouping& grouping, ThreadItems<Key, Value>& items) {
  using Shape = TileShape<Key, Value>;
#pragma unroll
  for (int r = 0; r < Shape::items_a_thread; ++r) {
    items.keys[r] = ~typename Shape::Word{0};
    items.values[r] = Value{};
  }
  for_each_in_array<Shape>(tile, grouping, array.n, [&](int r, std::uint64_t index) {
    const Key key = array.keys[index];
    items.keys[r] = array.encode ? array.codec.encoded(key) : key;
    if constexpr (Shape::has_values) items.values[r] = array.values[index];
  });
}

template <class Key, class Value>
__device__ void store(const Array<Key, Value>& array, const TileInMemory& tile,
                      const Grouping& grouping, const ThreadItems<Key, Value>& items) {
  using Shape = TileShape<Key, Value>;
  for_each_in_array<Shape>(tile, grouping, array.n, [&](int r, std::uint64_t index) {
    const Key word = static_cast<Key>(items.keys[r]);
    array.keys[index] = array.decode ? array.codec.decoded(word) : word;
    if constexpr (Shape::has_values) array.values[index] = items.values[r];
  });
}

/// Sorts every tile of consecutive items of `array` into `out`, which may be the same array: stages
/// 1 to `stages` of the network.
///
/// One block holds one tile. It loads and stores rows of 512 items. In between, thread t holds
/// items t * 2^B to (t + 1) * 2^B - 1 of the tile, sorts them in registers, and then regroups for
/// every B bits.
template <class Key, class Value>
__global__ void __launch_bounds__(threads, blocks_a_multiprocessor)
    sort_tiles_kernel(Array<Key, Value> array, Array<Key, Value> out, int stages) {
  using Shape = TileShape<Key, Value>;
  constexpr int bits = Shape::log_items_a_thread;
  extern __shared__ __align__(16) unsigned char shared[];
  auto& tile = *reinterpret_cast<TileStorage<Key, Value>*>(shared);
  const TileInMemory memory = TileInMemory::of_neighbours<Shape>(blockIdx.x);
  const Grouping rows = Grouping::make<Shape>(log_threads, false);
  Grouping grouping = rows;
  ThreadItems<Key, Value> items;
  load(array, memory, grouping, items);
  regroup(tile, grouping, Grouping::make<Shape>(0, false), items);
#pragma unroll
  for (int stage = 1; stage <= bits; ++stage) {
#pragma unroll
    for (int r = 0; r < Shape::items_a_thread; ++r) {
      const int mirror = r ^ ((1 << stage) - 1);
      if (r < mirror) items.compare(r, mirror);
    }
#pragma unroll
    for (int bit = stage - 2; bit >= 0; --bit) {
#pragma unroll
      for (int r = 0; r < Shape::items_a_thread; ++r)
        if ((r >> bit & 1) == 0) items.compare(r, r | 1 << bit);
    }
  }
  for (int stage = bits + 1; stage <= stages; ++stage) {
    regroup(tile, grouping, Grouping::make<Shape>(stage - bits, true), items);
    run_steps(tile, stage, 0, true, grouping, items);
  }
  regroup(tile, grouping, rows, items);
  store(out, memory, rows, items);
}

template <class Key, class Value>
inline constexpr int shared_bytes = static_cast<int>(sizeof(TileStorage<Key, Value>));

/// Launches the sort of tiles of TileShape<Key, Value>::items. \pre array.n > 0
template <class Key, class Value>
void launch_sort_tiles(const Array<Key, Value>& array, const Array<Key, Value>& out, int stages,
                       cudaStream_t stream) {
  constexpr int bytes = shared_bytes<Key, Value>;
  check_cuda(cudaFuncSetAttribute(sort_tiles_kernel<Key, Value>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const std::uint64_t tiles = (array.n - 1) / TileShape<Key, Value>::items + 1;
  sort_tiles_kernel<<<static_cast<unsigned int>(tiles), threads, bytes, stream>>>(array, out,
                                                                                  stages);
  check_cuda(cudaGetLastError());
}

}  // namespace sortie::multisort::bitonic
