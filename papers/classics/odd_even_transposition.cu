// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/check.hpp"
#include "papers/classics/counted_memory.cuh"

namespace sortie::papers::classics {
namespace {

/// Thread t compares the keys at positions first + 2t and first + 2t + 1.
template <class Memory, class Item>
__global__ void phase_kernel(Memory memory, Array<Item> keys, std::uint64_t first) {
  const std::uint64_t i = first + 2 * thread_of_grid();
  if (i + 1 >= keys.n) return;
  const Item left = memory.load(keys.data + i);
  const Item right = memory.load(keys.data + i + 1);
  if (right < left) {
    memory.store(keys.data + i, right);
    memory.store(keys.data + i + 1, left);
  }
}

}  // namespace

template <class Item>
void odd_even_transposition(Array<Item> keys, const Run& run) {
  if (keys.n < 2) return;
  with_memory(run, [&](auto memory) {
    for (std::uint64_t phase = 0; phase < keys.n; ++phase)
      phase_kernel<<<blocks_for(keys.n / 2, threads), threads, 0, run.stream>>>(memory, keys,
                                                                                phase % 2);
    check_cuda(cudaGetLastError());
  });
}

template void odd_even_transposition(Keys, const Run&);
template void odd_even_transposition(Pairs, const Run&);

}  // namespace sortie::papers::classics
