// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/check.hpp"
#include "papers/classics/counted_memory.cuh"
#include "sortie/device_buffer.hpp"

namespace sortie::papers::classics {
namespace {

/// Thread i counts the keys before key i in sorted order: smaller keys, and equal keys with a lower
/// index. The block loads all keys into shared memory, one tile at a time; each thread compares its
/// key with all keys of the tile.
template <class Memory>
__global__ void __launch_bounds__(threads)
    rank_kernel(Memory memory, Keys keys, std::uint32_t* sorted) {
  __shared__ std::uint32_t tile[threads];
  const std::uint64_t i = thread_of_grid();
  const std::uint32_t key = i < keys.n ? memory.load(keys.data + i) : 0;
  std::uint64_t rank = 0;
  for (std::uint64_t begin = 0; begin < keys.n; begin += threads) {
    __syncthreads();
    const std::uint64_t j = begin + threadIdx.x;
    if (j < keys.n) tile[threadIdx.x] = memory.load(keys.data + j);
    __syncthreads();
    const auto count = static_cast<unsigned int>(min(std::uint64_t{threads}, keys.n - begin));
    for (unsigned int k = 0; k < count; ++k)
      rank += tile[k] < key || (tile[k] == key && begin + k < i) ? 1 : 0;
  }
  if (i < keys.n) memory.store(sorted + rank, key);
}

}  // namespace

void counting(Keys keys, const Run& run) {
  if (keys.n < 2) return;
  DeviceBuffer<std::uint32_t> sorted(keys.n, run.stream);
  with_memory(run, [&](auto memory) {
    rank_kernel<<<blocks_for(keys.n, threads), threads, 0, run.stream>>>(memory, keys,
                                                                         sorted.data());
    check_cuda(cudaGetLastError());
  });
  check_cuda(cudaMemcpyAsync(keys.data, sorted.data(), sorted.bytes(), cudaMemcpyDeviceToDevice,
                             run.stream));
}

}  // namespace sortie::papers::classics
