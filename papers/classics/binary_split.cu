// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/cuda/check.hpp"
#include "papers/classics/prefix_sum.cuh"

namespace sortie::papers::classics {
namespace {

constexpr int key_bits = 32;

/// Counts, for each block, the keys whose bit is 0.
template <class Memory, class Item>
__global__ void __launch_bounds__(scan_threads)
    count_zeros_kernel(Memory memory, Array<Item> keys, int bit, std::uint32_t* zeros) {
  const std::uint64_t i = thread_of_grid();
  const bool is_zero = i < keys.n && (key_of(memory.load(keys.data + i)) >> bit & 1) == 0;
  const int count = __syncthreads_count(is_zero ? 1 : 0);
  if (threadIdx.x == 0) memory.store(zeros + blockIdx.x, static_cast<std::uint32_t>(count));
}

/// Moves keys: a key with a 0 to the position given by the number of zeros before it, keys with a 1
/// after all zeros.
/// \param zeros  number of zeros before each block; followed by the total
template <class Memory, class Item>
__global__ void __launch_bounds__(scan_threads)
    split_kernel(Memory memory, Array<Item> keys, int bit, const std::uint32_t* zeros,
                 Item* sorted) {
  __shared__ std::uint32_t shared[33];
  const std::uint64_t i = thread_of_grid();
  const Item key = i < keys.n ? memory.load(keys.data + i) : 0;
  const bool is_zero = i < keys.n && (key_of(key) >> bit & 1) == 0;
  std::uint32_t total = 0;
  const std::uint32_t own = sum_before(is_zero ? 1 : 0, shared, total);
  if (i >= keys.n) return;
  const std::uint64_t zeros_before = memory.load(zeros + blockIdx.x) + own;
  const std::uint64_t place =
      is_zero ? zeros_before : memory.load(zeros + gridDim.x) + (i - zeros_before);
  memory.store(sorted + place, key);
}

}  // namespace

template <class Item>
void binary_split(Array<Item> keys, const Run& run) {
  if (keys.n < 2) return;
  const unsigned int blocks = blocks_for(keys.n, scan_threads);
  DeviceBuffer<Item> other(keys.n, run.stream);
  DeviceBuffer<std::uint32_t> zeros(blocks + 1, run.stream);
  with_memory(run, [&](auto memory) {
    Array<Item> from = keys;
    Array<Item> to{other.data(), keys.n};
    // An even number of passes: the last one writes to the original array.
    static_assert(key_bits % 2 == 0);
    for (int bit = 0; bit < key_bits; ++bit) {
      count_zeros_kernel<<<blocks, scan_threads, 0, run.stream>>>(memory, from, bit, zeros.data());
      prefix_sum(memory, zeros.data(), blocks + 1, run.stream);
      split_kernel<<<blocks, scan_threads, 0, run.stream>>>(memory, from, bit, zeros.data(),
                                                            to.data);
      std::swap(from, to);
    }
    check_cuda(cudaGetLastError());
  });
}

template void binary_split(Keys, const Run&);
template void binary_split(Pairs, const Run&);

}  // namespace sortie::papers::classics
