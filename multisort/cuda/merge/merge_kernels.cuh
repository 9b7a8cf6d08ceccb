// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/check.hpp"
#include "multisort/cuda/merge/merge_tile.cuh"

/// The kernels of the merge sort on one device: tiles are sorted, then runs are merged in pairs
/// until one is left. Stable.
namespace sortie::multisort::merge {

/// Pairs of sorted runs to merge. Pair q is a run of `first_run` items at
/// first + q * (first_run + second_run) and a run of `second_run` items at second + the same
/// offset. All pairs together have n items; the last pair may be shorter.
template <class Key, class Value>
struct RunPairs {
  Items<Key, Value> first;
  Items<Key, Value> second;
  std::uint64_t first_run;
  std::uint64_t second_run;
  std::uint64_t n;

  /// Neighbouring runs of `run` items of one array.
  [[nodiscard]] static RunPairs neighbours(Items<Key, Value> array, std::uint64_t n,
                                           std::uint64_t run) {
    return {array, array.from(run), run, run, n};
  }

  [[nodiscard]] __host__ __device__ std::uint64_t pair_size() const {
    return first_run + second_run;
  }
  [[nodiscard]] __host__ __device__ std::uint64_t tiles_a_pair() const {
    constexpr int tile = TileShape<Key>::items;
    const std::uint64_t most = pair_size() < n ? pair_size() : n;
    return (most + tile - 1) / tile;
  }
  [[nodiscard]] __host__ __device__ std::uint64_t tiles() const {
    constexpr int tile = TileShape<Key>::items;
    return n / pair_size() * tiles_a_pair() + (n % pair_size() + tile - 1) / tile;
  }
};

/// A tile of the output, and the pair of runs that it belongs to.
template <class Key, class Value>
struct TileOfPair {
  Items<Key, Value> first;
  Items<Key, Value> second;
  std::uint64_t first_size;
  std::uint64_t second_size;
  std::uint64_t begin;  ///< begin of the pair in the output
  std::uint64_t rank;   ///< rank of the tile's first item in the pair
  bool is_last;         ///< whether this is the last tile of the pair

  [[nodiscard]] __device__ static TileOfPair of(const RunPairs<Key, Value>& pairs,
                                                std::uint64_t tile) {
    const std::uint64_t tiles_a_pair = pairs.tiles_a_pair();
    const std::uint64_t pair = tile / tiles_a_pair;
    TileOfPair result;
    result.begin = pair * pairs.pair_size();
    result.first = pairs.first.from(result.begin);
    result.second = pairs.second.from(result.begin);
    const std::uint64_t left = pairs.n - result.begin;
    result.first_size = min(pairs.first_run, left);
    result.second_size = min(pairs.second_run, left - result.first_size);
    result.rank = (tile - pair * tiles_a_pair) * TileShape<Key>::items;
    result.is_last = result.rank + TileShape<Key>::items >= result.first_size + result.second_size;
    return result;
  }
};

/// Finds for each tile of the output how many items of its pair's first run precede it. One thread
/// per tile.
template <class Key, class Value, class Order>
__global__ void partition_kernel(RunPairs<Key, Value> pairs, Order before, std::uint64_t* splits) {
  const std::uint64_t tile = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (tile >= pairs.tiles()) return;
  const auto work = TileOfPair<Key, Value>::of(pairs, tile);
  splits[tile] = merge_path(
      work.first_size, work.second_size, work.rank, before,
      [&](std::uint64_t i) { return work.first.keys[i]; },
      [&](std::uint64_t i) { return work.second.keys[i]; });
}

/// Merges pairs of runs. One block writes one tile of the output.
///
///   shared memory  the tile's ranges of both runs, one after the other; then the merged keys
///   thread t       finds its items_a_thread ranks by merge path and merges them in registers
///
/// Loads and stores go through shared memory, so neighbouring threads access neighbouring items.
/// Values are loaded from the places of their keys once the order is known.
template <class Key, class Value, class Order>
__global__ void __launch_bounds__(TileShape<Key>::threads, merging_blocks<Key, Value>)
    merge_kernel(RunPairs<Key, Value> pairs, Items<Key, Value> out, Order order, bool decode,
                 const std::uint64_t* splits) {
  using Shape = TileShape<Key>;
  __shared__ TileStorage<Key> tile;
  __shared__ TileNumbers<Key, Value> sources;
  const int thread = static_cast<int>(threadIdx.x);

  const auto work = TileOfPair<Key, Value>::of(pairs, blockIdx.x);
  const std::uint64_t first_begin = splits[blockIdx.x];
  const std::uint64_t second_begin = work.rank - first_begin;
  const std::uint64_t first_end = work.is_last ? work.first_size : splits[blockIdx.x + 1];
  const std::uint64_t rank_end =
      work.is_last ? work.first_size + work.second_size : work.rank + Shape::items;
  const int first_count = static_cast<int>(first_end - first_begin);
  const int count = static_cast<int>(rank_end - work.rank);
  const Key* const first = work.first.keys + first_begin;
  const Key* const second = work.second.keys + second_begin - first_count;

  Key keys[Shape::items_a_thread];
  for_each_coalesced<Shape>(count,
                            [&](int r, int i) { keys[r] = (i < first_count ? first : second)[i]; });
  for_each_coalesced<Shape>(count, [&](int r, int i) { tile.keys[i] = keys[r]; });
  __syncthreads();

  const int rank = min(thread * Shape::items_a_thread, count);
  const int split = merge_path(
      first_count, count - first_count, rank, order, [&](int i) { return tile.keys[i]; },
      [&](int i) { return tile.keys[first_count + i]; });
  int places[Shape::items_a_thread];
  merge_in_thread(tile.keys, split, first_count, first_count + rank - split, count, order, keys,
                  places);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < Shape::items_a_thread; ++r) {
    tile.keys[thread * Shape::items_a_thread + r] = keys[r];
    if constexpr (has_values<Value>)
      sources.numbers[thread * Shape::items_a_thread + r] = static_cast<std::uint16_t>(places[r]);
  }
  __syncthreads();

  const Items<Key, Value> target = out.from(work.begin + work.rank);
  for_each_coalesced<Shape>(count, [&](int, int i) {
    target.keys[i] = decode ? order.decode(tile.keys[i]) : tile.keys[i];
  });
  if constexpr (has_values<Value>) {
    const Value* const first_values = work.first.values + first_begin;
    const Value* const second_values = work.second.values + second_begin - first_count;
    Value values[Shape::items_a_thread];
    for_each_coalesced<Shape>(count, [&](int r, int i) {
      const int source = sources.numbers[i];
      values[r] = (source < first_count ? first_values : second_values)[source];
    });
    for_each_coalesced<Shape>(count, [&](int r, int i) { target.values[i] = values[r]; });
  }
}

/// Sorts tiles of consecutive items, from `in` to `out`, which may be the same. One block sorts one
/// tile. Each thread sorts items_a_thread neighbouring items in registers; then groups of 2, 4, ...
/// threads merge through shared memory.
template <class Key, class Value, class Order>
__global__ void __launch_bounds__(TileShape<Key>::threads)
    sort_tiles_kernel(Items<Key, Value> in, Items<Key, Value> out, std::uint64_t n, Order order,
                      bool decode) {
  using Shape = TileShape<Key>;
  __shared__ TileStorage<Key> tile;
  __shared__ TileNumbers<Key, Value> numbers;
  const int thread = static_cast<int>(threadIdx.x);
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * Shape::items;
  const int count = static_cast<int>(min(std::uint64_t{Shape::items}, n - begin));
  const Items<Key, Value> source = in.from(begin);
  const Items<Key, Value> target = out.from(begin);

  Key keys[Shape::items_a_thread];
  int places[Shape::items_a_thread];
  for_each_coalesced<Shape>(count,
                            [&](int, int i) { tile.keys[i] = order.encode(source.keys[i]); });
  __syncthreads();
  const int own = thread * Shape::items_a_thread;
#pragma unroll
  for (int r = 0; r < Shape::items_a_thread; ++r) {
    keys[r] = tile.keys[own + r];
    places[r] = own + r;
  }
  sort_in_thread(keys, places, count - own, order);

  // keys[r] is item places[r] of the input tile, at place own + r of the current runs of `run`
  // items.
  for (int run = Shape::items_a_thread;; run *= 2) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < Shape::items_a_thread; ++r) {
      tile.keys[own + r] = keys[r];
      if constexpr (has_values<Value>)
        numbers.numbers[own + r] = static_cast<std::uint16_t>(places[r]);
    }
    __syncthreads();
    if (run >= count) break;
    const int pair = own / (2 * run) * (2 * run);
    const int first_end = min(pair + run, count);
    const int second_end = min(pair + 2 * run, count);
    if (pair < count) {
      const int rank = min(own, second_end) - pair;
      const int split = merge_path(
          first_end - pair, second_end - first_end, rank, order,
          [&](int i) { return tile.keys[pair + i]; },
          [&](int i) { return tile.keys[first_end + i]; });
      merge_in_thread(tile.keys, pair + split, first_end, first_end + rank - split, second_end,
                      order, keys, places);
      if constexpr (has_values<Value>) {
#pragma unroll
        for (int r = 0; r < Shape::items_a_thread; ++r)
          if (own + r < count) places[r] = numbers.numbers[places[r]];
      }
    }
  }

  Value values[has_values<Value> ? Shape::items_a_thread : 1];
  if constexpr (has_values<Value>) {
    for_each_coalesced<Shape>(count,
                              [&](int r, int i) { values[r] = source.values[numbers.numbers[i]]; });
    __syncthreads();  // `out` may be `in`
  }
  for_each_coalesced<Shape>(count, [&](int r, int i) {
    target.keys[i] = decode ? order.decode(tile.keys[i]) : tile.keys[i];
    if constexpr (has_values<Value>) target.values[i] = values[r];
  });
}

/// Merges pairs of runs into `out`. \param splits  capacity pairs.tiles()
template <class Key, class Value, class Order>
void launch_merge(const RunPairs<Key, Value>& pairs, Items<Key, Value> out, const Order& order,
                  bool decode, std::uint64_t* splits, cudaStream_t stream) {
  if (pairs.n == 0) return;
  constexpr unsigned int partition_threads = 128;
  const auto tiles = static_cast<unsigned int>(pairs.tiles());
  const unsigned int partition_blocks = (tiles - 1) / partition_threads + 1;
  partition_kernel<<<partition_blocks, partition_threads, 0, stream>>>(pairs, order, splits);
  check_cuda(cudaGetLastError());
  merge_kernel<<<tiles, TileShape<Key>::threads, 0, stream>>>(pairs, out, order, decode, splits);
  check_cuda(cudaGetLastError());
}

/// Sorts tiles; the result is runs of TileShape<Key>::items.
template <class Key, class Value, class Order>
void launch_tile_sort(Items<Key, Value> in, Items<Key, Value> out, std::uint64_t n,
                      const Order& order, bool decode, cudaStream_t stream) {
  if (n == 0) return;
  const std::uint64_t tiles = (n - 1) / TileShape<Key>::items + 1;
  sort_tiles_kernel<<<static_cast<unsigned int>(tiles), TileShape<Key>::threads, 0, stream>>>(
      in, out, n, order, decode);
  check_cuda(cudaGetLastError());
}

}  // namespace sortie::multisort::merge
