// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/cuda/check.hpp"
#include "papers/classics/counted_memory.cuh"
#include "sortie/device_buffer.hpp"

namespace sortie::papers::classics {
namespace {

constexpr unsigned int merge_tile_keys = 256;  // one per thread

/// Sorts each tile by an odd-even merge network in shared memory. Comparisons with positions beyond
/// the end are omitted.
template <class Memory, class Item>
__global__ void __launch_bounds__(merge_tile_keys)
    sort_tiles_kernel(Memory memory, Array<Item> keys) {
  __shared__ Item tile[merge_tile_keys];
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * merge_tile_keys;
  const auto count = static_cast<unsigned int>(min(std::uint64_t{merge_tile_keys}, keys.n - begin));
  const unsigned int i = threadIdx.x;
  if (i < count) tile[i] = memory.load(keys.data + begin + i);
  __syncthreads();
  for (unsigned int p = merge_tile_keys / 2; p > 0; p /= 2) {
    unsigned int r = 0;
    unsigned int distance = p;
    for (unsigned int q = merge_tile_keys / 2; q >= p; q /= 2) {
      if (i + distance < count && (i & p) == r && tile[i + distance] < tile[i]) {
        const Item key = tile[i];
        tile[i] = tile[i + distance];
        tile[i + distance] = key;
      }
      distance = q - p;
      r = p;
      __syncthreads();
    }
  }
  if (i < count) memory.store(keys.data + begin + i, tile[i]);
}

/// Thread i moves key i to its position in the merge of its run with the neighbouring run: its
/// index in its own run plus the number of keys of the other run before it. Of equal keys, those of
/// the left run come first.
template <class Memory, class Item>
__global__ void merge_kernel(Memory memory, Array<Item> keys, std::uint64_t run, Item* out) {
  const std::uint64_t i = thread_of_grid();
  if (i >= keys.n) return;
  const Item key = memory.load(keys.data + i);
  const std::uint64_t pair = i / (2 * run) * (2 * run);
  const std::uint64_t middle = min(pair + run, keys.n);
  const bool is_left = i < middle;
  const std::uint64_t other_begin = is_left ? middle : pair;
  std::uint64_t low = other_begin;
  std::uint64_t high = is_left ? min(pair + 2 * run, keys.n) : middle;
  while (low < high) {
    const std::uint64_t half = low + (high - low) / 2;
    const Item other = memory.load(keys.data + half);
    if (is_left ? other < key : other <= key) {
      low = half + 1;
    } else {
      high = half;
    }
  }
  const std::uint64_t own_begin = is_left ? pair : middle;
  memory.store(out + pair + (i - own_begin) + (low - other_begin), key);
}

}  // namespace

template <class Item>
void tiled_merge(Array<Item> keys, const Run& run) {
  if (keys.n < 2) return;
  DeviceBuffer<Item> other(keys.n, run.stream);
  with_memory(run, [&](auto memory) {
    const unsigned int blocks = blocks_for(keys.n, merge_tile_keys);
    sort_tiles_kernel<<<blocks, merge_tile_keys, 0, run.stream>>>(memory, keys);
    Array<Item> from = keys;
    Array<Item> to{other.data(), keys.n};
    for (std::uint64_t sorted = merge_tile_keys; sorted < keys.n; sorted *= 2) {
      merge_kernel<<<blocks, merge_tile_keys, 0, run.stream>>>(memory, from, sorted, to.data);
      std::swap(from, to);
    }
    check_cuda(cudaGetLastError());
    if (from.data != keys.data)
      check_cuda(cudaMemcpyAsync(keys.data, from.data, other.bytes(), cudaMemcpyDeviceToDevice,
                                 run.stream));
  });
}

template void tiled_merge(Keys, const Run&);
template void tiled_merge(Pairs, const Run&);

}  // namespace sortie::papers::classics
