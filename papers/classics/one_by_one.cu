// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/check.hpp"
#include "papers/classics/counted_memory.cuh"

namespace sortie::papers::classics {
namespace {

constexpr unsigned int sequential_threads = 1024;

/// A key and its place. The less of two has the smaller key, or the first place of equal ones.
template <class Item>
struct Least {
  Item key;
  std::uint32_t place;

  [[nodiscard]] __device__ Least or_less(const Least& other) const {
    const bool is_less = other.key < key || (other.key == key && other.place < place);
    return is_less ? other : *this;
  }
};

/// One block. Round i exchanges key i with the smallest key from there on, the first of them: a
/// minimum over (key, position) by all threads.
template <class Memory, class Item>
__global__ void __launch_bounds__(sequential_threads)
    selection_kernel(Memory memory, Array<Item> keys) {
  __shared__ Item keys_of_warps[32];
  __shared__ std::uint32_t places_of_warps[32];
  const unsigned int lane = threadIdx.x % 32;
  const auto least_of_warp = [](Least<Item> least) {
    for (unsigned int distance = 16; distance > 0; distance /= 2)
      least = least.or_less(
          {__shfl_xor_sync(~0U, least.key, distance), __shfl_xor_sync(~0U, least.place, distance)});
    return least;
  };
  for (std::uint64_t i = 0; i + 1 < keys.n; ++i) {
    Least<Item> least{static_cast<Item>(~Item{0}), ~0U};
    for (std::uint64_t j = i + threadIdx.x; j < keys.n; j += sequential_threads)
      least = least.or_less({memory.load(keys.data + j), static_cast<std::uint32_t>(j)});
    least = least_of_warp(least);
    if (lane == 0) {
      keys_of_warps[threadIdx.x / 32] = least.key;
      places_of_warps[threadIdx.x / 32] = least.place;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      least = least_of_warp({keys_of_warps[lane], places_of_warps[lane]});
      if (lane == 0) {
        const Item key = memory.load(keys.data + i);
        memory.store(keys.data + least.place, key);
        memory.store(keys.data + i, least.key);
      }
    }
    __syncthreads();
  }
}

/// One block. Round i moves the keys before key i that are greater one place to the right, in tiles
/// from the right, and puts key i into the gap.
template <class Memory, class Item>
__global__ void __launch_bounds__(sequential_threads)
    insertion_kernel(Memory memory, Array<Item> keys) {
  for (std::uint64_t i = 1; i < keys.n; ++i) {
    const Item key = memory.load(keys.data + i);
    std::uint64_t end = i;  // keys before it have not moved
    for (bool more = true; more;) {
      const bool inside = threadIdx.x < end;
      const std::uint64_t j = end - 1 - threadIdx.x;
      const Item other = inside ? memory.load(keys.data + j) : 0;
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

template <class Item>
void selection(Array<Item> keys, const Run& run) {
  with_memory(run, [&](auto memory) {
    selection_kernel<<<1, sequential_threads, 0, run.stream>>>(memory, keys);
    check_cuda(cudaGetLastError());
  });
}

template <class Item>
void insertion(Array<Item> keys, const Run& run) {
  with_memory(run, [&](auto memory) {
    insertion_kernel<<<1, sequential_threads, 0, run.stream>>>(memory, keys);
    check_cuda(cudaGetLastError());
  });
}

template void selection(Keys, const Run&);
template void selection(Pairs, const Run&);
template void insertion(Keys, const Run&);
template void insertion(Pairs, const Run&);

}  // namespace sortie::papers::classics
