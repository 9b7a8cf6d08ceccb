// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include "core/cuda/check.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/payload.hpp"

/// Sorts tiles by a bitonic network: the first pass of the merge sort of keys alone, and of the sort
/// in place of papers/bitonic. Not stable.
///
/// A tile is the items of one block, compared in registers and regrouped through shared memory.
/// A place in a tile is a number of log_items bits. A step compares places that differ in one bit;
/// the first step of a stage, places that differ in all bits up to one. Each thread holds the 2^B
/// items that differ in B adjacent bits, and so does B steps in registers. Then the block
/// regroups the items for the next B bits.
namespace sortie::multisort::bitonic {

inline constexpr int log_threads = 9;
inline constexpr int threads = 1 << log_threads;

/// Two blocks of 512 threads per multiprocessor leave 64 registers per thread.
inline constexpr int blocks_a_multiprocessor = 2;

template <class Key, class Value>
struct TileShape {
  /// Keys of less than four bytes are compared as 32-bit words.
  using Word = std::conditional_t<(sizeof(Key) < 4), std::uint32_t, Key>;
  static constexpr bool has_values = sortie::has_values<Value>;
  static constexpr int item_bytes =
      static_cast<int>(sizeof(Word)) + (has_values ? static_cast<int>(sizeof(Value)) : 0);
  /// 32 registers per thread hold items, half of all; 24 for keys and values of 12 bytes together.
  static constexpr int log_items_a_thread = item_bytes == 4 ? 5 : item_bytes == 8 ? 4 : 3;
  static constexpr int items_a_thread = 1 << log_items_a_thread;
  static constexpr int log_items = log_threads + log_items_a_thread;
  static constexpr int items = 1 << log_items;
  /// 64 bytes of keys: two memory sectors.
  static constexpr int log_least_columns = sizeof(Key) == 1   ? 6
                                           : sizeof(Key) == 2 ? 5
                                           : sizeof(Key) == 4 ? 4
                                                              : 3;
};

/// Shared memory for one array of a tile, with one word of padding after every 128 bytes: then
/// neighbouring threads that hold 2^B consecutive items each access different banks.
template <class Word, int Items>
struct PaddedArray {
  static constexpr int log_row = sizeof(Word) == 8 ? 4 : 5;
  Word words[Items + (Items >> log_row)];

  /// Index of a place in `words`. If two places have no bit in common, at(a + b) = at(a) + at(b).
  [[nodiscard]] __host__ __device__ static constexpr int at(int place) {
    return place + (place >> log_row);
  }
};

template <class Key, class Value>
struct TileStorage {
  using Shape = TileShape<Key, Value>;
  PaddedArray<typename Shape::Word, Shape::items> keys;
  PaddedArray<Value, Shape::items> values;
};

template <class Key>
struct TileStorage<Key, NoValue> {
  using Shape = TileShape<Key, NoValue>;
  PaddedArray<typename Shape::Word, Shape::items> keys;
};

template <class Key, class Value>
struct ThreadItems {
  using Shape = TileShape<Key, Value>;
  typename Shape::Word keys[Shape::items_a_thread];
  Value values[Shape::items_a_thread];

  /// Moves the smaller key to i. Equal keys do not move, so the filler beyond the end of the array,
  /// which is the largest key, is never exchanged with an item of the same key.
  __device__ void compare(int i, int j) {
    if constexpr (Shape::has_values) {
      if (keys[j] < keys[i]) {
        const auto key = keys[i];
        keys[i] = keys[j];
        keys[j] = key;
        const Value value = values[i];
        values[i] = values[j];
        values[j] = value;
      }
    } else {
      const auto less = keys[i] < keys[j] ? keys[i] : keys[j];
      const auto more = keys[i] < keys[j] ? keys[j] : keys[i];
      keys[i] = less;
      keys[j] = more;
    }
  }

  /// Does the steps of the `steps` lowest of the B bits, from the highest down. With `mirrored`, a
  /// step comes first that compares item r with the item whose B bits are complemented.
  __device__ void run(int steps, bool mirrored) {
    constexpr int count = Shape::items_a_thread;
    if (mirrored) {
#pragma unroll
      for (int r = 0; r < count / 2; ++r) compare(r, count - 1 - r);
    }
#pragma unroll
    for (int bit = Shape::log_items_a_thread - 1; bit >= 0; --bit) {
      if (bit < steps) {
#pragma unroll
        for (int r = 0; r < count; ++r)
          if ((r >> bit & 1) == 0) compare(r, r | 1 << bit);
      }
    }
  }
};

/// Which places of the tile a thread holds: item r has the bits of r from bit `low_bit` on. Before
/// a mirrored step, items of the upper half have the bits below complemented, because they are
/// compared with the place that differs in all bits.
struct Grouping {
  int low_bit;
  int lower;  ///< the other bits of the places of the lower half of the items
  int upper;  ///< and of the upper half

  template <class Shape>
  [[nodiscard]] __device__ static Grouping make(int low_bit, bool mirrored) {
    const int low_mask = (1 << low_bit) - 1;
    const int thread = static_cast<int>(threadIdx.x);
    const int low = thread & low_mask;
    const int high = (thread & ~low_mask) << Shape::log_items_a_thread;
    return {low_bit, high | low, high | (mirrored ? low_mask - low : low)};
  }
};

/// Makes low_bit a compile-time constant, and so the address offsets of items. Otherwise address
/// arithmetic is half of the cost of moving items through shared memory.
template <class Body>
__device__ void with_constant(int low_bit, Body body) {
  static_assert(log_threads == 9);
  switch (low_bit) {
    case 0:
      return body(std::integral_constant<int, 0>{});
    case 1:
      return body(std::integral_constant<int, 1>{});
    case 2:
      return body(std::integral_constant<int, 2>{});
    case 3:
      return body(std::integral_constant<int, 3>{});
    case 4:
      return body(std::integral_constant<int, 4>{});
    case 5:
      return body(std::integral_constant<int, 5>{});
    case 6:
      return body(std::integral_constant<int, 6>{});
    case 7:
      return body(std::integral_constant<int, 7>{});
    case 8:
      return body(std::integral_constant<int, 8>{});
    default:
      return body(std::integral_constant<int, 9>{});
  }
}

template <int LowBit, int Count, class Word, int Items, class Body>
__device__ void for_each_word(PaddedArray<Word, Items>& array, const Grouping& grouping,
                              Body body) {
  using Array = PaddedArray<Word, Items>;
  Word* const lower = array.words + Array::at(grouping.lower);
  Word* const upper = array.words + Array::at(grouping.upper);
#pragma unroll
  for (int r = 0; r < Count; ++r) body(r, (r < Count / 2 ? lower : upper)[Array::at(r << LowBit)]);
}

/// Calls body(word, item) for each key and each value of the thread and its word of the tile.
template <class Key, class Value, class Body>
__device__ void for_each_item(TileStorage<Key, Value>& tile, const Grouping& grouping,
                              ThreadItems<Key, Value>& items, Body body) {
  using Shape = TileShape<Key, Value>;
  constexpr int count = Shape::items_a_thread;
  with_constant(grouping.low_bit, [&](auto low_bit) {
    for_each_word<low_bit.value, count>(tile.keys, grouping,
                                        [&](int r, auto& word) { body(word, items.keys[r]); });
    if constexpr (Shape::has_values)
      for_each_word<low_bit.value, count>(tile.values, grouping,
                                          [&](int r, auto& word) { body(word, items.values[r]); });
  });
}

/// Regroups the items of all threads. Each thread writes to the places that it alone has read since
/// the last barrier, so one barrier suffices.
template <class Key, class Value>
__device__ void regroup(TileStorage<Key, Value>& tile, Grouping& now, const Grouping& next,
                        ThreadItems<Key, Value>& items) {
  for_each_item(tile, now, items, [](auto& word, auto& item) { word = item; });
  __syncthreads();
  for_each_item(tile, next, items, [](auto& word, auto& item) { item = word; });
  now = next;
}

/// Does the steps of bits `top` - 1 to `low` of the places. `grouping` is that of the first step
/// before, and that of the last step after.
template <class Key, class Value>
__device__ void run_steps(TileStorage<Key, Value>& tile, int top, int low, bool mirrored,
                          Grouping& grouping, ThreadItems<Key, Value>& items) {
  using Shape = TileShape<Key, Value>;
  constexpr int bits = Shape::log_items_a_thread;
  const auto low_bit_of = [&](int top_bit) { return max(low, top_bit - bits); };
  for (int p = low_bit_of(top);;) {
    // A mirrored group uses all B bits; the mirrored step is the first.
    items.run(mirrored ? bits - 1 : top - p, mirrored);
    mirrored = false;
    if (p == low) return;
    top = p;
    p = low_bit_of(top);
    regroup(tile, grouping, Grouping::make<Shape>(p, false), items);
  }
}

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

/// \pre array.n > 0
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
