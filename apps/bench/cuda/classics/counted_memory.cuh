#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/bench/cuda/classics/classics.hpp"
#include "sortie/core/cuda/check.hpp"

namespace sortie::bench::classics {

/// All access of the classics to keys in global memory goes through this: with Counting, each warp
/// adds the number of segments of 128 bytes that its threads touch; without, it is the plain
/// access.
template <bool Counting>
struct Memory {
  unsigned long long* transactions;

  template <class T>
  [[nodiscard]] __device__ T load(const T* place) const {
    count(place);
    return *place;
  }

  template <class T>
  __device__ void store(T* place, T value) const {
    count(place);
    *place = value;
  }

 private:
  __device__ void count(const void* place) const {
    if constexpr (Counting) {
      const unsigned int active = __activemask();
      const unsigned long long segment = reinterpret_cast<unsigned long long>(place) / 128;
      const unsigned int sharers = __match_any_sync(active, segment);
      const unsigned int lane = threadIdx.x % 32;
      const unsigned int leaders =
          __ballot_sync(active, lane == static_cast<unsigned int>(__ffs(sharers)) - 1);
      if (lane == static_cast<unsigned int>(__ffs(active)) - 1)
        atomicAdd(transactions, static_cast<unsigned long long>(__popc(leaders)));
    }
  }
};

/// Calls body(memory) with the memory that a run asks for.
template <class Body>
void with_memory(const Run& run, Body body) {
  if (run.transactions != nullptr) {
    body(Memory<true>{run.transactions});
  } else {
    body(Memory<false>{nullptr});
  }
}

/// Blocks of `threads` for `items` threads. \pre items > 0
[[nodiscard]] inline unsigned int blocks_for(std::uint64_t items, unsigned int threads) {
  return static_cast<unsigned int>((items - 1) / threads + 1);
}

/// Number of this thread in the grid.
[[nodiscard]] __device__ inline std::uint64_t thread_of_grid() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

}  // namespace sortie::bench::classics
