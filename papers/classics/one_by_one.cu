// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/check.hpp"
#include "papers/classics/counted_memory.cuh"

namespace sortie::papers::classics {
namespace {

constexpr unsigned int sequential_threads = 1024;

/// One block. Round i exchanges key i with the smallest key from there on, the first of them: a
/// minimum over (key, position) by all threads.
template <class Memory>
__global__ void __launch_bounds__(sequential_threads) selection_kernel(Memory memory, Keys keys) {
  __shared__ unsigned long long of_warp[32];
  const unsigned int lane = threadIdx.x % 32;
  const auto least_of_warp = [](unsigned long long least) {
    for (unsigned int distance = 16; distance > 0; distance /= 2)
      least = min(least, __shfl_xor_sync(~0U, least, distance));
    return least;
  };
  for (std::uint64_t i = 0; i + 1 < keys.n; ++i) {
    unsigned long long least = ~0ULL;
    for (std::uint64_t j = i + threadIdx.x; j < keys.n; j += sequential_threads)
      least = min(least, static_cast<unsigned long long>(memory.load(keys.data + j)) << 32 | j);
    least = least_of_warp(least);
    if (lane == 0) of_warp[threadIdx.x / 32] = least;
    __syncthreads();
    if (threadIdx.x < 32) {
      least = least_of_warp(of_warp[lane]);
      if (lane == 0) {
        const std::uint32_t key = memory.load(keys.data + i);
        memory.store(keys.data + (least & ~0U), key);
        memory.store(keys.data + i, static_cast<std::uint32_t>(least >> 32));
      }
    }
    __syncthreads();
  }
}

/// One block. Round i moves the keys before key i that are greater one place to the right, in tiles
/// from the right, and puts key i into the gap.
template <class Memory>
__global__ void __launch_bounds__(sequential_threads) insertion_kernel(Memory memory, Keys keys) {
  for (std::uint64_t i = 1; i < keys.n; ++i) {
    const std::uint32_t key = memory.load(keys.data + i);
    std::uint64_t end = i;  // keys before it have not moved
    for (bool more = true; more;) {
      const bool inside = threadIdx.x < end;
      const std::uint64_t j = end - 1 - threadIdx.x;
      const std::uint32_t other = inside ? memory.load(keys.data + j) : 0;
      // A barrier between loads and stores; it also counts the keys to move.
      const int greater = __syncthreads_count(inside && other > key ? 1 : 0);
      if (inside && other > key) memory.store(keys.data + j + 1, other);
      end -= static_cast<std::uint64_t>(greater);
      more = greater == static_cast<int>(sequential_threads);
    }
    if (threadIdx.x == 0) memory.store(keys.data + end, key);
    __syncthreads();
  }
}

}  // namespace

void selection(Keys keys, const Run& run) {
  with_memory(run, [&](auto memory) {
    selection_kernel<<<1, sequential_threads, 0, run.stream>>>(memory, keys);
    check_cuda(cudaGetLastError());
  });
}

void insertion(Keys keys, const Run& run) {
  with_memory(run, [&](auto memory) {
    insertion_kernel<<<1, sequential_threads, 0, run.stream>>>(memory, keys);
    check_cuda(cudaGetLastError());
  });
}

}  // namespace sortie::papers::classics
