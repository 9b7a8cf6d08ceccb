// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"
#include "primitives/key_codec.hpp"
#include "segsort/cuda/key_vector.cuh"
#include "segsort/cuda/launch.cuh"

/// Sort of keys of 1 or 2 bytes alone: counts how often each key occurs, and writes it as often.
namespace sortie::segsort::counting {

template <class Word>
inline constexpr unsigned int key_values = 1u << (8 * sizeof(Word));

/// Fewer keys of 2 bytes are sorted by their digits, with less storage than counters take.
template <class Word>
inline constexpr std::uint64_t least_counted = sizeof(Word) == 1 ? 1 : 1 << 19;

/// Counters per key value in the shared memory of a block, chosen by the lane, so that the lanes of
/// a warp rarely wait for each other even if all keys are equal.
template <class Word>
inline constexpr unsigned int copies = sizeof(Word) == 1 ? 8 : 1;

inline constexpr unsigned int count_threads = 1024;
inline constexpr unsigned int scan_threads = 1024;
inline constexpr unsigned int fill_threads = 256;
/// Words of a thread. More save searches, fewer use all multiprocessors for short arrays.
inline constexpr unsigned int fill_vectors(std::uint64_t bytes) {
  return bytes >= 1 << 23 ? 4 : 1;
}
/// Keys for which another block is worthwhile.
inline constexpr std::uint64_t least_keys_of_block = 1 << 14;

/// Tiles of an array. Its first 16-byte word may begin before it.
template <class Word>
__host__ __device__ constexpr std::uint64_t fill_tiles(std::uint64_t n, unsigned int vectors) {
  return (n + vector_keys<Word> - 2) /
         (std::uint64_t{fill_threads} * vectors * vector_keys<Word>)+1;
}

/// The keys that are sorted: all `n`, or the first segment of them.
struct CountedRange {
  std::uint64_t n;
  DeviceOffsets begin_offsets{nullptr, false};  ///< null: all keys
  DeviceOffsets end_offsets{nullptr, false};
  const std::int64_t* device_num_segments = nullptr;  ///< 0 there: no keys

  [[nodiscard]] __device__ SegmentExtent extent() const {
    if (begin_offsets.data == nullptr) return {0, n};
    if (device_num_segments != nullptr && *device_num_segments <= 0) return {0, 0};
    return SegmentOffsets{begin_offsets[0], end_offsets[0]}.extent();
  }
};

/// Adds the number of keys of each value to `totals`. All values of 2 bytes do not fit the shared
/// memory of a block, so block b counts part b % parts of them, and reads all keys of its share.
/// \pre the number of blocks is a multiple of `parts`
template <class Word>
__global__ void __launch_bounds__(count_threads)
    count_keys_kernel(const Word* keys, CountedRange range, unsigned int parts,
                      unsigned long long* totals) {
  const SegmentExtent whole = range.extent();
  keys += whole.begin;
  const std::uint64_t n = whole.length;
  auto* const counts = reinterpret_cast<unsigned int*>(dynamic_shared_memory());
  const unsigned int values = key_values<Word> / parts;
  const unsigned int first_value = blockIdx.x % parts * values;
  const unsigned int block = blockIdx.x / parts;
  const unsigned int blocks = gridDim.x / parts;
  const unsigned int thread = threadIdx.x;
  for (unsigned int i = thread; i < values * copies<Word>; i += count_threads) counts[i] = 0;
  __syncthreads();
  const auto count = [&](Word key, unsigned int times) {
    const unsigned int value = key - first_value;
    if (value < values) atomicAdd(&counts[value * copies<Word> + lane() % copies<Word>], times);
  };
  const std::uint64_t head = keys_before_vectors(keys, n);
  const std::uint64_t vectors = (n - head) / vector_keys<Word>;
  const auto* const from = reinterpret_cast<const uint4*>(keys + head);
#pragma unroll 2
  for (std::uint64_t i = std::uint64_t{block} * count_threads + thread; i < vectors;
       i += std::uint64_t{blocks} * count_threads) {
    KeyVector<Word> vector;
    vector.whole = from[i];
    if constexpr (copies < Word >> 1) {
#pragma unroll
      for (unsigned int k = 0; k < vector_keys<Word>; ++k) count(vector.keys[k], 1);
    } else {  // runs of equal keys are counted at once
      unsigned int run = 1;
#pragma unroll
      for (unsigned int k = 0; k < vector_keys<Word>; ++k) {
        if (k + 1 < vector_keys<Word> && vector.keys[k + 1] == vector.keys[k]) {
          ++run;
          continue;
        }
        count(vector.keys[k], run);
        run = 1;
      }
    }
  }
  if (block == 0) {
    for (std::uint64_t i = thread; i < head; i += count_threads) count(keys[i], 1);
    for (std::uint64_t i = head + vectors * vector_keys<Word> + thread; i < n; i += count_threads)
      count(keys[i], 1);
  }
  __syncthreads();
  for (unsigned int value = thread; value < values; value += count_threads) {
    unsigned int sum = 0;
    for (unsigned int copy = 0; copy < copies<Word>; ++copy)
      sum += counts[value * copies<Word> + copy];
    if (sum != 0) atomicAdd(&totals[first_value + value], static_cast<unsigned long long>(sum));
  }
}

/// Turns the totals, by key, into the positions of the first key of each value, in sort order. Each
/// block handles as many values as it has threads, and sums all before them.
template <class Word>
__global__ void __launch_bounds__(scan_threads)
    positions_kernel(const unsigned long long* totals, KeyCodec<Word> codec,
                     std::uint64_t* positions) {
  constexpr int warps = scan_threads / 32;
  __shared__ std::uint64_t sums[warps];
  wait_for_preceding_kernels();
  const auto total = [&](unsigned int value) -> std::uint64_t {
    return totals[codec.decoded(static_cast<Word>(value))];
  };
  std::uint64_t before = 0;
#pragma unroll 16
  for (unsigned int i = 0; i < blockIdx.x; ++i) before += total(i * scan_threads + threadIdx.x);
  before = prefix_sum_in_block<warps>(before, sums).total;
  const unsigned int value = blockIdx.x * scan_threads + threadIdx.x;
  const std::uint64_t own = value < key_values<Word> ? total(value) : 0;
  const std::uint64_t in_block = prefix_sum_in_block<warps>(own, sums).before;
  if (value < key_values<Word>) positions[value] = before + in_block;
}

/// The last of the values low .. high in sort order whose first position is not beyond `place`.
template <class NumberOf>
__device__ unsigned int value_at(std::uint64_t place, unsigned int low, unsigned int high,
                                 const NumberOf& first_position) {
  while (low < high) {
    const unsigned int middle = low + (high - low + 1) / 2;
    if (first_position(middle) <= place) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// The same for a place that mostly belongs to `low` or to a value soon after it.
template <class NumberOf>
__device__ unsigned int value_from(std::uint64_t place, unsigned int low, unsigned int high,
                                   const NumberOf& first_position) {
  unsigned int step = 1;
  while (low + step <= high && first_position(low + step) <= place) {
    low += step;
    step *= 2;
  }
  return value_at(place, low, min(low + step - 1, high), first_position);
}

/// Writes tile `number` of an array of ascending keys: each thread some 16-byte words. Two warps
/// find the values of the first and the last key of the tile, so that the threads search a small
/// range.
/// \param vectors    words of a thread
/// \param values     number of values
/// \param positions  of the first key of each value
/// \param key_of     the key of a value
template <class Word, class KeyOf>
__device__ __forceinline__ void fill_tile(std::uint64_t number, unsigned int vectors,
                                          const std::uint64_t* positions, unsigned int values,
                                          const KeyOf& key_of, Word* keys, std::uint64_t n) {
  const std::uint64_t tile = std::uint64_t{fill_threads} * vectors * vector_keys<Word>;
  __shared__ unsigned int bounds[2];
  const auto position = [&](unsigned int value) { return positions[value]; };
  // Words are numbered from that which holds the first key, or parts of it.
  const std::uint64_t shift = reinterpret_cast<std::uintptr_t>(keys) % 16 / sizeof(Word);
  const std::uint64_t begin = number * tile;
  if (threadIdx.x % 32 == 0 && threadIdx.x < 64) {
    const std::uint64_t place = threadIdx.x == 0 ? begin : begin + tile - 1;
    bounds[threadIdx.x / 32] =
        value_at(min(place < shift ? 0 : place - shift, n - 1), 0, values - 1, position);
  }
  __syncthreads();
  const unsigned int highest = bounds[1];
  for (unsigned int v = 0; v < vectors; ++v) {
    const std::uint64_t place = begin + (v * fill_threads + threadIdx.x) * vector_keys<Word>;
    if (place >= n + shift) break;
    unsigned int value = bounds[0];
    std::uint64_t next = 0;  // position at which the value ends
    Word key{};
    KeyVector<Word> vector;
    for (unsigned int k = 0; k < vector_keys<Word>; ++k) {
      const std::uint64_t i = min(place + k < shift ? 0 : place + k - shift, n - 1);
      if (i >= next) {
        value = value_from(i, value, highest, position);
        next = value < highest ? positions[value + 1] : n;
        key = key_of(value);
      }
      vector.keys[k] = key;
    }
    if (place >= shift && place + vector_keys<Word> <= n + shift) {
      *reinterpret_cast<uint4*>(keys + (place - shift)) = vector.whole;
    } else {
      for (unsigned int k = 0; k < vector_keys<Word>; ++k)
        if (place + k >= shift && place + k < n + shift) keys[place + k - shift] = vector.keys[k];
    }
  }
}

/// Block b writes tile b of the sorted keys.
template <class Word>
__global__ void __launch_bounds__(fill_threads)
    fill_keys_kernel(unsigned int vectors, const std::uint64_t* positions, KeyCodec<Word> codec,
                     Word* keys, CountedRange range) {
  wait_for_preceding_kernels();
  const SegmentExtent whole = range.extent();
  // A segment may be shorter than the array.
  if (blockIdx.x >= fill_tiles<Word>(whole.length, vectors) || whole.length == 0) return;
  fill_tile(
      blockIdx.x, vectors, positions, key_values<Word>,
      [&](unsigned int value) { return codec.decoded(static_cast<Word>(value)); },
      keys + whole.begin, whole.length);
}

/// Totals and positions.
template <class Word>
inline constexpr std::size_t storage_bytes = 2 * key_values<Word> * sizeof(std::uint64_t);

/// Sorts keys. \param storage  storage_bytes  \pre range.n > 0
template <class Word>
cudaError_t sort(const Word* keys_in, Word* keys_out, const CountedRange& range,
                 const KeyCodec<Word>& codec, void* storage, const DeviceLimits& limits,
                 cudaStream_t stream) {
  const std::uint64_t n = range.n;
  auto* const totals = static_cast<unsigned long long*>(storage);
  auto* const positions = reinterpret_cast<std::uint64_t*>(totals + key_values<Word>);
  const LaunchOrder order =
      limits.has_dependent_launch ? LaunchOrder::overlapping : LaunchOrder::after;
  cudaError_t status = cudaMemsetAsync(totals, 0, key_values<Word> * sizeof(std::uint64_t), stream);
  const unsigned int vectors = fill_vectors(n * sizeof(Word));
  unsigned int parts = 1;
  std::size_t shared_bytes = key_values<Word> * copies<Word> * sizeof(unsigned int);
  for (; shared_bytes > static_cast<std::size_t>(limits.shared_bytes); shared_bytes /= 2)
    parts *= 2;
  const std::uint64_t blocks = std::clamp<std::uint64_t>(
      (n - 1) / least_keys_of_block + 1, 1,
      static_cast<std::uint64_t>(limits.multiprocessors) * (sizeof(Word) == 1 ? 2 : 1) / parts);
  if (status == cudaSuccess) status = allow_shared_memory(count_keys_kernel<Word>, shared_bytes);
  if (status == cudaSuccess)
    status =
        launch(count_keys_kernel<Word>, static_cast<unsigned int>(blocks) * parts, count_threads,
               shared_bytes, stream, LaunchOrder::after, keys_in, range, parts, totals);
  if (status == cudaSuccess)
    status =
        launch(positions_kernel<Word>, (key_values<Word> - 1) / scan_threads + 1, scan_threads, 0,
               stream, order, static_cast<const unsigned long long*>(totals), codec, positions);
  if (status == cudaSuccess)
    status = launch(fill_keys_kernel<Word>, static_cast<unsigned int>(fill_tiles<Word>(n, vectors)),
                    fill_threads, 0, stream, order, vectors,
                    static_cast<const std::uint64_t*>(positions), codec, keys_out, range);
  return status;
}

}  // namespace sortie::segsort::counting
