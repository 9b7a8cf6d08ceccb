// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/cuda/check.hpp"
#include "papers/classics/prefix_sum.cuh"

namespace sortie::papers::classics {
namespace {

constexpr int digit_bits = 4;
constexpr int digits = 1 << digit_bits;
constexpr int passes = 32 / digit_bits;
constexpr unsigned int tile_keys = scan_threads;  // one per thread

template <class Item>
[[nodiscard]] __device__ std::uint32_t digit_of(Item item, int pass) {
  return key_of(item) >> (pass * digit_bits) & (digits - 1);
}

/// Sorts each tile by its digit in shared memory, one binary split per bit, and counts its digits.
/// The counts are stored digit by digit for all tiles, so their prefix sum gives the output
/// positions.
template <class Memory, class Item>
__global__ void __launch_bounds__(tile_keys)
    sort_tiles_kernel(Memory memory, Array<Item> keys, int pass, Item* sorted,
                      std::uint32_t* counts) {
  __shared__ Item tile[tile_keys];
  __shared__ std::uint32_t shared[33];
  __shared__ std::uint32_t counted[digits];
  const std::uint64_t i = thread_of_grid();
  const bool is_key = i < keys.n;
  Item key = is_key ? memory.load(keys.data + i) : 0;
  const auto here =
      static_cast<unsigned int>(min(std::uint64_t{tile_keys}, keys.n - (i - threadIdx.x)));
  if (threadIdx.x < digits) counted[threadIdx.x] = 0;
  for (int bit = 0; bit < digit_bits; ++bit) {
    const bool is_zero = threadIdx.x < here && (digit_of(key, pass) >> bit & 1) == 0;
    std::uint32_t total = 0;
    const std::uint32_t zeros = sum_before(is_zero ? 1 : 0, shared, total);
    if (threadIdx.x < here) tile[is_zero ? zeros : total + threadIdx.x - zeros] = key;
    __syncthreads();
    key = tile[threadIdx.x];
    __syncthreads();
  }
  if (is_key) {
    atomicAdd(&counted[digit_of(key, pass)], 1U);
    memory.store(sorted + i, key);
  }
  __syncthreads();
  if (threadIdx.x < digits)
    memory.store(counts + std::uint64_t{threadIdx.x} * gridDim.x + blockIdx.x,
                 counted[threadIdx.x]);
}

/// Moves the runs of equal digits of each tile to their output positions.
template <class Memory, class Item>
__global__ void __launch_bounds__(tile_keys)
    move_runs_kernel(Memory memory, Array<Item> sorted, int pass, const std::uint32_t* places,
                     Item* out) {
  __shared__ std::uint32_t begin[digits];  // first key of each digit in the tile
  __shared__ std::uint32_t place[digits];
  __shared__ std::uint32_t tile[tile_keys];
  const std::uint64_t i = thread_of_grid();
  const Item key = i < sorted.n ? memory.load(sorted.data + i) : 0;
  tile[threadIdx.x] = digit_of(key, pass);
  if (threadIdx.x < digits)
    place[threadIdx.x] = memory.load(places + std::uint64_t{threadIdx.x} * gridDim.x + blockIdx.x);
  __syncthreads();
  const std::uint32_t digit = tile[threadIdx.x];
  if (i < sorted.n && (threadIdx.x == 0 || tile[threadIdx.x - 1] != digit))
    begin[digit] = threadIdx.x;
  __syncthreads();
  if (i < sorted.n) memory.store(out + place[digit] + (threadIdx.x - begin[digit]), key);
}

}  // namespace

template <class Item>
void tiled_radix(Array<Item> keys, const Run& run) {
  if (keys.n < 2) return;
  const unsigned int blocks = blocks_for(keys.n, tile_keys);
  DeviceBuffer<Item> other(keys.n, run.stream);
  const std::uint64_t num_counts = std::uint64_t{blocks} * digits;
  DeviceBuffer<std::uint32_t> counts(num_counts, run.stream);
  const Array<Item> sorted{other.data(), keys.n};
  with_memory(run, [&](auto memory) {
    for (int pass = 0; pass < passes; ++pass) {
      sort_tiles_kernel<<<blocks, tile_keys, 0, run.stream>>>(memory, keys, pass, sorted.data,
                                                              counts.data());
      prefix_sum(memory, counts.data(), num_counts, run.stream);
      move_runs_kernel<<<blocks, tile_keys, 0, run.stream>>>(memory, sorted, pass, counts.data(),
                                                             keys.data);
    }
    check_cuda(cudaGetLastError());
  });
}

template void tiled_radix(Keys, const Run&);
template void tiled_radix(Pairs, const Run&);

}  // namespace sortie::papers::classics
