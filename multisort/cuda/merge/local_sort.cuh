// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "multisort/cuda/merge/merge_kernels.cuh"
#include "multisort/cuda/merge/network_sort.cuh"

/// The merge sort of the items of one device.
namespace sortie::multisort::merge {

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

/// Items per run after the first pass. Keys alone are sorted by the bitonic network, which is faster
/// but not stable.
template <class Key, class Value>
[[nodiscard]] constexpr std::uint64_t first_run() {
  if constexpr (!has_values<Value>) {
    return bitonic::TileShape<Key, NoValue>::items;
  } else {
    return TileShape<Key>::items;
  }
}

/// Capacity for the splits of the passes over n items, and of a merge of up to `runs` runs.
template <class Key, class Value>
[[nodiscard]] std::uint64_t split_capacity(std::uint64_t n, std::uint64_t runs) {
  std::uint64_t most = n / TileShape<Key>::items + runs + 1;
  for (std::uint64_t run = first_run<Key, Value>(); run < n; run *= 2)
    most = std::max(most, RunPairs<Key, Value>::neighbours({}, n, run).tiles());
  return most;
}

/// Enqueues the sort of a device's items. They are on Side::data before, and on `end` after.
///
/// Passes: one that sorts tiles, then ceil(log2(n / first_run)) that merge. Each pass reads and
/// writes every item once. \param splits  capacity split_capacity()
template <class Key, class Value>
void sort_locally(const TwoSides<Key, Value>& items, Side end, const WordOrder<Key>& order,
                  bool decode, std::uint64_t* splits, cudaStream_t stream) {
  if (items.n == 0) return;
  constexpr std::uint64_t tile = first_run<Key, Value>();
  int merges = 0;
  for (std::uint64_t run = tile; run < items.n; run *= 2) ++merges;
  Side side = merges % 2 == 0 ? end : other(end);
  const bool is_one_tile = merges == 0;
  if constexpr (!has_values<Value>) {
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
