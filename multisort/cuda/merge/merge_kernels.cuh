// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/check.hpp"
#include "primitives/cuda/merge_path.cuh"
#include "primitives/key_codec.hpp"
#include "primitives/payload.hpp"

/// The kernels of the merge sort on one device: tiles are sorted, then runs are merged in pairs
/// until one is left. Stable. A block has a tile of items in shared memory; merge path (Green,
/// McColl, Bader: GPU Merge Path, 2012) gives every thread the same number of them.
namespace sortie::multisort::merge {

/// The order of keys of any supported type: each is encoded when it is first read, and decoded when
/// it is last written. In between keys are compared as unsigned integers; the host compares them
/// too, to find the borders between devices.
template <class Word>
struct WordOrder {
  KeyCodec<Word> codec;

  explicit WordOrder(const KeyOrder& order) : codec(order.codec<Word>()) {}

  [[nodiscard]] bool is_identity() const { return codec.is_identity(); }
  [[nodiscard]] __device__ Word encode(Word key) const { return codec.encoded(key); }
  [[nodiscard]] __device__ Word decode(Word word) const { return codec.decoded(word); }
  [[nodiscard]] __host__ __device__ bool operator()(Word a, Word b) const { return a < b; }
};

/// A tile's shape. The number of items per thread is odd, so threads that read shared memory at
/// that stride, or about half of it, use all banks.
///
/// On an H200, 2^28 keys of 4 bytes: a merge takes 0.60 ms with 15 items per thread and 6 blocks
/// per multiprocessor, 0.64 with 17 and 5, 0.63 with 11 and 8, 0.71 with 23 and 4; a copy 0.51.
/// 2^27 keys of 8 bytes: 0.54 with 11 and 5, 0.57 with 13.
template <class Key>
struct TileShape {
  static constexpr int threads = 256;
  static constexpr int items_a_thread = sizeof(Key) <= 4 ? 15 : 11;
  static constexpr int items = threads * items_a_thread;
};

/// Resident merging blocks per multiprocessor (launch bound); 0: no bound.
template <class Key, class Value>
inline constexpr int merging_blocks = has_values<Value>  ? 0
                                      : sizeof(Key) <= 4 ? 6
                                                         : 5;

/// Calls body(r, i) for each item i that the thread loads or stores as its r-th of a tile:
/// neighbouring threads take neighbouring items.
template <class Shape, class Body>
__device__ __forceinline__ void for_each_coalesced(int count, Body body) {
#pragma unroll
  for (int r = 0; r < Shape::items_a_thread; ++r) {
    const int i = r * Shape::threads + static_cast<int>(threadIdx.x);
    if (i < count) body(r, i);
  }
}

/// Merges `count` items from two sorted runs in shared memory, the first at places [a, a_end), the
/// second at [b, b_end), and stores the place of origin of each.
template <class Key, int Count>
__device__ void merge_in_thread(const Key* shared, int a, int a_end, int b, int b_end,
                                const WordOrder<Key>& before, Key (&keys)[Count],
                                int (&places)[Count]) {
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
template <class Key, int Count>
__device__ void sort_in_thread(Key (&keys)[Count], int (&places)[Count], int valid,
                               const WordOrder<Key>& before) {
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

/// One thread per tile of the output: how many items of its pair's first run precede it.
template <class Key, class Value>
__global__ void partition_kernel(RunPairs<Key, Value> pairs, WordOrder<Key> before,
                                 std::uint64_t* splits) {
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
template <class Key, class Value>
__global__ void __launch_bounds__(TileShape<Key>::threads, merging_blocks<Key, Value>)
    merge_kernel(RunPairs<Key, Value> pairs, Items<Key, Value> out, WordOrder<Key> order,
                 bool decode, const std::uint64_t* splits) {
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

/// Sorts tiles of consecutive pairs, from `in` to `out`, which may be the same. One block sorts one
/// tile. Each thread sorts items_a_thread neighbouring items in registers; then groups of 2, 4, ...
/// threads merge through shared memory.
template <class Key, class Value>
__global__ void __launch_bounds__(TileShape<Key>::threads)
    sort_tiles_kernel(Items<Key, Value> in, Items<Key, Value> out, std::uint64_t n,
                      WordOrder<Key> order, bool decode) {
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
#pragma unroll
      for (int r = 0; r < Shape::items_a_thread; ++r)
        if (own + r < count) places[r] = numbers.numbers[places[r]];
    }
  }

  Value values[Shape::items_a_thread];
  for_each_coalesced<Shape>(count,
                            [&](int r, int i) { values[r] = source.values[numbers.numbers[i]]; });
  __syncthreads();  // `out` may be `in`
  for_each_coalesced<Shape>(count, [&](int r, int i) {
    target.keys[i] = decode ? order.decode(tile.keys[i]) : tile.keys[i];
    target.values[i] = values[r];
  });
}

/// Merges pairs of runs into `out`. \param splits  capacity pairs.tiles()
template <class Key, class Value>
void launch_merge(const RunPairs<Key, Value>& pairs, Items<Key, Value> out,
                  const WordOrder<Key>& order, bool decode, std::uint64_t* splits,
                  cudaStream_t stream) {
  if (pairs.n == 0) return;
  constexpr unsigned int partition_threads = 128;
  const auto tiles = static_cast<unsigned int>(pairs.tiles());
  const unsigned int partition_blocks = (tiles - 1) / partition_threads + 1;
  partition_kernel<<<partition_blocks, partition_threads, 0, stream>>>(pairs, order, splits);
  check_cuda(cudaGetLastError());
  merge_kernel<<<tiles, TileShape<Key>::threads, 0, stream>>>(pairs, out, order, decode, splits);
  check_cuda(cudaGetLastError());
}

/// Sorts tiles of keys with values into runs of TileShape<Key>::items. \pre n > 0
template <class Key, class Value>
void launch_tile_sort(Items<Key, Value> in, Items<Key, Value> out, std::uint64_t n,
                      const WordOrder<Key>& order, bool decode, cudaStream_t stream) {
  const std::uint64_t tiles = (n - 1) / TileShape<Key>::items + 1;
  sort_tiles_kernel<<<static_cast<unsigned int>(tiles), TileShape<Key>::threads, 0, stream>>>(
      in, out, n, order, decode);
  check_cuda(cudaGetLastError());
}

}  // namespace sortie::multisort::merge
