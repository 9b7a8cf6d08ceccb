// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "multisort/cuda/merge/merge_kernels.cuh"
#include "multisort/cuda/merge/network_sort.cuh"
#include "primitives/key_codec.hpp"

/// The merge sort of the items of one device.
namespace sortie::multisort::merge {

/// The order of a merge sort has
/// * encode() and decode(), applied to each key when it is first read and last written;
/// * operator(): whether encoded key a precedes b. Also called on the host, to find the borders
///   between devices.
///
/// This one is for keys of any supported type, compared as unsigned integers of the same order.
template <class Word>
struct WordOrder {
  KeyCodec<Word> codec;

  explicit WordOrder(const KeyOrder& order) : codec(order.codec<Word>()) {}

  [[nodiscard]] bool is_identity() const { return codec.is_identity(); }
  [[nodiscard]] __device__ Word encode(Word key) const { return codec.encoded(key); }
  [[nodiscard]] __device__ Word decode(Word word) const { return codec.decoded(word); }
  [[nodiscard]] __host__ __device__ bool operator()(Word a, Word b) const { return a < b; }
};

/// The two buffers between which the passes alternate: the caller's data, and scratch of the same
/// size.
enum class Side { data, scratch };

[[nodiscard]] inline Side other(Side side) {
  return side == Side::data ? Side::scratch : Side::data;
}

template <class Key, class Value>
struct TwoSides {
  Items<Key, Value> data;
  Items<Key, Value> scratch;
  std::uint64_t n = 0;

  [[nodiscard]] Items<Key, Value> on(Side side) const {
    return side == Side::data ? data : scratch;
  }
};

/// Whether tiles may be sorted by the bitonic network, which is faster but not stable. It may if
/// equal keys are indistinguishable: without values, and if the order compares the whole key.
template <class Key, class Value, class Order>
inline constexpr bool sorts_tiles_by_network =
    std::is_same_v<Value, NoValue>&& std::is_same_v<Order, WordOrder<Key>>;

/// Items per run after the first pass.
template <class Key, class Value, class Order>
[[nodiscard]] constexpr std::uint64_t first_run() {
  if constexpr (sorts_tiles_by_network<Key, Value, Order>) {
    return bitonic::TileShape<Key, NoValue>::items;
  } else {
    return TileShape<Key>::items;
  }
}

/// Capacity for the splits of the passes over n items, and of a merge of up to `runs` runs.
template <class Key, class Value, class Order>
[[nodiscard]] std::uint64_t split_capacity(std::uint64_t n, std::uint64_t runs) {
  std::uint64_t most = n / TileShape<Key>::items + runs + 1;
  for (std::uint64_t run = first_run<Key, Value, Order>(); run < n; run *= 2)
    most = std::max(most, RunPairs<Key, Value>::neighbours({}, n, run).tiles());
  return most;
}

/// Enqueues the sort of a device's items. They are on Side::data before, and on `end` after.
///
/// Passes: one that sorts tiles, then ceil(log2(n / first_run)) that merge. Each pass reads and
/// writes every item once. \param splits  capacity split_capacity()
template <class Key, class Value, class Order>
void sort_locally(const TwoSides<Key, Value>& items, Side end, const Order& order, bool decode,
                  std::uint64_t* splits, cudaStream_t stream) {
  if (items.n == 0) return;
  constexpr std::uint64_t tile = first_run<Key, Value, Order>();
  int merges = 0;
  for (std::uint64_t run = tile; run < items.n; run *= 2) ++merges;
  Side side = merges % 2 == 0 ? end : other(end);
  const bool is_one_tile = merges == 0;
  if constexpr (sorts_tiles_by_network<Key, Value, Order>) {
    using Shape = bitonic::TileShape<Key, NoValue>;
    bitonic::Array<Key, NoValue> in{items.data.keys, nullptr, items.n, order.codec, true, false};
    bitonic::Array<Key, NoValue> out{items.on(side).keys, nullptr, items.n,
                                     order.codec,         false,   decode && is_one_tile};
    bitonic::launch_sort_tiles(in, out, Shape::log_items, stream);
  } else {
    launch_tile_sort(items.data, items.on(side), items.n, order, decode && is_one_tile, stream);
  }
  for (std::uint64_t run = tile; run < items.n; run *= 2) {
    const bool is_last = --merges == 0;
    launch_merge(RunPairs<Key, Value>::neighbours(items.on(side), items.n, run),
                 items.on(other(side)), order, decode && is_last, splits, stream);
    side = other(side);
  }
}

}  // namespace sortie::multisort::merge
