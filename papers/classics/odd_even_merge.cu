// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "core/cuda/check.hpp"
#include "papers/classics/counted_memory.cuh"

namespace sortie::papers::classics {
namespace {

/// Thread i compares positions i and i + distance if bit p of i equals that of r.
template <class Memory, class Item>
__global__ void step_kernel(Memory memory, Array<Item> keys, std::uint64_t p, std::uint64_t r,
                            std::uint64_t distance) {
  const std::uint64_t i = thread_of_grid();
  if (i + distance >= keys.n || (i & p) != r) return;
  const Item low = memory.load(keys.data + i);
  const Item high = memory.load(keys.data + i + distance);
  if (high < low) {
    memory.store(keys.data + i, high);
    memory.store(keys.data + i + distance, low);
  }
}

}  // namespace

template <class Item>
void odd_even_merge(Array<Item> keys, const Run& run) {
  if (keys.n < 2) return;
  const std::uint64_t half = std::bit_ceil(keys.n) / 2;
  with_memory(run, [&](auto memory) {
    for (std::uint64_t p = half; p > 0; p /= 2) {
      std::uint64_t q = half;
      std::uint64_t r = 0;
      std::uint64_t distance = p;
      for (;;) {
        step_kernel<<<blocks_for(keys.n, threads), threads, 0, run.stream>>>(memory, keys, p, r,
                                                                             distance);
        if (q == p) break;
        distance = q - p;
        q /= 2;
        r = p;
      }
    }
    check_cuda(cudaGetLastError());
  });
}

template void odd_even_merge(Keys, const Run&);
template void odd_even_merge(Pairs, const Run&);

}  // namespace sortie::papers::classics
