// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "primitives/cuda/hardware.cuh"
#include "segsort/cuda/bit_range_codec.cuh"
#include "segsort/cuda/tile.cuh"

/// Loads items from global memory into a tile, and stores them from a tile to their destination.
///
/// Thread t loads items e = r * threads + t: the key into register r and then shared memory, the
/// value directly into shared memory. Thread t stores positions r * threads + t.
namespace sortie::segsort {

/// Address of the value at `index` of an array of values; null if there are none.
template <class T, class Array, class Index>
__device__ __forceinline__ auto value_at(Array* values, Index index) {
  using Value =
      std::conditional_t<std::is_const_v<Array>, const typename T::Value, typename T::Value>;
  auto* const typed = static_cast<Value*>(values);
  if constexpr (T::value_bytes == 0) {
    return typed;
  } else {
    return in_global_memory(typed) + index;
  }
}

/// Starts the asynchronous copy of one value to shared memory; of zeros if `is_item` is false.
/// finish_values() waits for all copies of the thread.
template <class T>
__device__ __forceinline__ void fetch_value(T& tile, int e, const typename T::Value* value,
                                            bool is_item = true) {
  if constexpr (T::value_bytes != 0)
    __pipeline_memcpy_async(&tile.values[e], value, T::value_bytes, is_item ? 0 : T::value_bytes);
}

/// Starts to load the items of a tile, which are contiguous in memory: item e = r * threads +
/// thread, its key into register r, its value into shared memory. Keys from `length` on are copies
/// of the first.
template <class T>
__device__ __forceinline__ void load_items(T& tile, typename T::Word (&keys)[T::items],
                                           const typename T::Word* keys_in,
                                           const typename T::Value* values_in, int length) {
  // Relative to the thread's first item, all others are at compile-time offsets.
  const int thread = T::thread();
  const typename T::Word any_key = *keys_in;
  keys_in += thread;
  if constexpr (T::value_bytes != 0) values_in += thread;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * T::threads + thread;
    keys[r] = any_key;
    if (e < length) keys[r] = keys_in[r * T::threads];
    if constexpr (T::value_bytes != 0) fetch_value(tile, e, values_in + r * T::threads, e < length);
  }
}

/// Waits for the copies started by fetch_value(). Ends with a barrier.
template <class T>
__device__ __forceinline__ void finish_values(T&) {
  if constexpr (T::value_bytes != 0) {
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }
  T::synchronise();
}

/// Writes a sorted tile: the item at position r * threads + thread goes to index
/// index_of(its word, r) of the arrays.
template <class T, class IndexOf>
__device__ __forceinline__ void store_tile(T& tile, const BitRangeCodec<typename T::Word>& codec,
                                           int length, typename T::Word* keys_out,
                                           typename T::Value* values_out, const IndexOf& index_of) {
  const auto store = [&](int r, bool plain) {
    if (r * T::threads + T::thread() >= length) return;
    const std::uint32_t word = tile.striped(r);
    const std::uint32_t e = word & T::index_mask;
    const auto index = index_of(word, r);
    const typename T::Word key = tile.keys[e];
    keys_out[index] = plain ? key : codec.decode(key);
    if constexpr (T::value_bytes != 0) values_out[index] = tile.values[e];
  };
  if (codec.plain) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) store(r, true);
  } else {
#pragma unroll 4
    for (int r = 0; r < T::items; ++r) store(r, false);
  }
}

/// Writes a sorted tile to a contiguous range.
template <class T>
__device__ __forceinline__ void store_items(T& tile, const BitRangeCodec<typename T::Word>& codec,
                                            int length, typename T::Word* keys_out,
                                            typename T::Value* values_out) {
  keys_out += T::thread();
  if constexpr (T::value_bytes != 0) values_out += T::thread();
  store_tile(tile, codec, length, keys_out, values_out,
             [](std::uint32_t, int r) { return r * T::threads; });
}

/// Writes the encoded keys to the tile and leaves the compared bits in `keys`. Ends with a barrier.
template <class T>
__device__ __forceinline__ void keep_keys(T& tile, typename T::Word (&keys)[T::items],
                                          const BitRangeCodec<typename T::Word>& codec) {
  if (codec.plain) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.keys[r * T::threads + T::thread()] = keys[r];
  } else {
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const typename T::Word encoded = codec.encode(keys[r]);
      tile.keys[r * T::threads + T::thread()] = encoded;
      keys[r] = encoded & codec.compare_mask;
    }
  }
  T::synchronise();
}

}  // namespace sortie::segsort
