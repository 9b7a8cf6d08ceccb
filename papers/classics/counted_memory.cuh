// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/check.hpp"
#include "papers/classics/classics.hpp"

namespace sortie::papers::classics {

/// Wraps all accesses of the classics to keys in global memory. With Counting, each warp adds the
/// number of 128-byte segments that its threads access to the counter; without, the access is a
/// plain load or store.
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

/// Calls body(memory) with the memory wrapper that the run requires.
template <class Body>
void with_memory(const Run& run, Body body) {
  if (run.transactions != nullptr) {
    body(Memory<true>{run.transactions});
  } else {
    body(Memory<false>{nullptr});
  }
}

/// Threads per block of the kernels that do not name another number.
inline constexpr unsigned int threads = 256;

/// Number of blocks of `threads` threads for `items` items. \pre items > 0
[[nodiscard]] inline unsigned int blocks_for(std::uint64_t items, unsigned int threads) {
  return static_cast<unsigned int>((items - 1) / threads + 1);
}

/// The key of an item.
[[nodiscard]] __device__ inline std::uint32_t key_of(std::uint32_t key) {
  return key;
}
[[nodiscard]] __device__ inline std::uint32_t key_of(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair >> 32);
}

/// Index of this thread in the grid.
[[nodiscard]] __device__ inline std::uint64_t thread_of_grid() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

}  // namespace sortie::papers::classics
