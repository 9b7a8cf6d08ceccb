// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/cuda/check.hpp"
#include "papers/classics/counted_memory.cuh"
#include "sortie/device_buffer.hpp"

/// Prefix sums for the classics: within a block by ballots or shuffles, and over an array by three
/// kernels (sum of each tile, scan of the sums by one block, scan of each tile).
namespace sortie::papers::classics {

inline constexpr unsigned int scan_threads = 1024;

/// Sum of the values of the threads before this one in a block of 1024; `total` is the sum of all.
/// \param shared  33 values; may be reused after the next barrier
__device__ inline std::uint32_t sum_before(std::uint32_t value, std::uint32_t* shared,
                                           std::uint32_t& total) {
  const unsigned int lane = threadIdx.x % 32;
  const unsigned int warp = threadIdx.x / 32;
  std::uint32_t sum = value;
  for (unsigned int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(~0U, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) shared[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    const std::uint32_t own = lane < blockDim.x / 32 ? shared[lane] : 0;
    std::uint32_t sums = own;
    for (unsigned int distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t other = __shfl_up_sync(~0U, sums, distance);
      if (lane >= distance) sums += other;
    }
    shared[lane] = sums - own;
    if (lane == 31) shared[32] = sums;
  }
  __syncthreads();
  total = shared[32];
  return shared[warp] + sum - value;
}

template <class Memory>
__global__ void __launch_bounds__(scan_threads)
    sum_tiles_kernel(Memory memory, const std::uint32_t* values, std::uint64_t n,
                     std::uint32_t* sums) {
  __shared__ std::uint32_t shared[33];
  const std::uint64_t i = thread_of_grid();
  std::uint32_t total = 0;
  sum_before(i < n ? memory.load(values + i) : 0, shared, total);
  if (threadIdx.x == 0) memory.store(sums + blockIdx.x, total);
}

/// Scan by a single block, one tile after the other.
template <class Memory>
__global__ void __launch_bounds__(scan_threads)
    scan_sums_kernel(Memory memory, std::uint32_t* sums, std::uint64_t n) {
  __shared__ std::uint32_t shared[33];
  std::uint32_t before = 0;
  for (std::uint64_t begin = 0; begin < n; begin += scan_threads) {
    const std::uint64_t i = begin + threadIdx.x;
    std::uint32_t total = 0;
    const std::uint32_t own = sum_before(i < n ? memory.load(sums + i) : 0, shared, total);
    if (i < n) memory.store(sums + i, before + own);
    before += total;
    __syncthreads();
  }
}

template <class Memory>
__global__ void __launch_bounds__(scan_threads)
    scan_tiles_kernel(Memory memory, std::uint32_t* values, std::uint64_t n,
                      const std::uint32_t* sums) {
  __shared__ std::uint32_t shared[33];
  const std::uint64_t i = thread_of_grid();
  std::uint32_t total = 0;
  const std::uint32_t own = sum_before(i < n ? memory.load(values + i) : 0, shared, total);
  if (i < n) memory.store(values + i, memory.load(sums + blockIdx.x) + own);
}

/// Replaces each value by the sum of those before it. \pre n > 0; the sum of all is below 2^32
template <class Memory>
void prefix_sum(Memory memory, std::uint32_t* values, std::uint64_t n, cudaStream_t stream) {
  const unsigned int blocks = blocks_for(n, scan_threads);
  DeviceBuffer<std::uint32_t> sums(blocks, stream);
  sum_tiles_kernel<<<blocks, scan_threads, 0, stream>>>(memory, values, n, sums.data());
  scan_sums_kernel<<<1, scan_threads, 0, stream>>>(memory, sums.data(), blocks);
  scan_tiles_kernel<<<blocks, scan_threads, 0, stream>>>(memory, values, n, sums.data());
  check_cuda(cudaGetLastError());
}

}  // namespace sortie::papers::classics
