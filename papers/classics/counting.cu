// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/check.hpp"
#include "papers/classics/counted_memory.cuh"
#include "sortie/device_buffer.hpp"

namespace sortie::papers::classics {
namespace {

/// Thread i finds the position of key i. By rank: it counts the keys before it in sorted order, that
/// is smaller keys, and equal keys with a lower index. By offset: it counts the greater keys on its
/// left and subtracts the smaller ones on its right; the key moves that far to the left.
/// The block loads all keys into shared memory, one tile at a time; each thread compares its key with
/// all keys of the tile.
template <bool ByOffset, class Memory, class Item>
__global__ void __launch_bounds__(threads)
    place_kernel(Memory memory, Array<Item> keys, Item* sorted) {
  __shared__ Item tile[threads];
  const std::uint64_t i = thread_of_grid();
  const Item key = i < keys.n ? memory.load(keys.data + i) : 0;
  std::uint64_t place = ByOffset ? i : 0;
  for (std::uint64_t begin = 0; begin < keys.n; begin += threads) {
    __syncthreads();
    const std::uint64_t j = begin + threadIdx.x;
    if (j < keys.n) tile[threadIdx.x] = memory.load(keys.data + j);
    __syncthreads();
    const auto count = static_cast<unsigned int>(min(std::uint64_t{threads}, keys.n - begin));
    for (unsigned int k = 0; k < count; ++k) {
      if constexpr (ByOffset) {
        place += begin + k < i ? (tile[k] > key ? ~0ULL : 0ULL) : (tile[k] < key ? 1ULL : 0ULL);
      } else {
        place += tile[k] < key || (tile[k] == key && begin + k < i) ? 1 : 0;
      }
    }
  }
  if (i < keys.n) memory.store(sorted + place, key);
}

template <bool ByOffset, class Item>
void count_and_move(Array<Item> keys, const Run& run) {
  if (keys.n < 2) return;
  DeviceBuffer<Item> sorted(keys.n, run.stream);
  with_memory(run, [&](auto memory) {
    place_kernel<ByOffset>
        <<<blocks_for(keys.n, threads), threads, 0, run.stream>>>(memory, keys, sorted.data());
    check_cuda(cudaGetLastError());
  });
  check_cuda(cudaMemcpyAsync(keys.data, sorted.data(), sorted.bytes(), cudaMemcpyDeviceToDevice,
                             run.stream));
}

}  // namespace

template <class Item>
void counting(Array<Item> keys, const Run& run) {
  count_and_move<false>(keys, run);
}

template <class Item>
void counting_by_offset(Array<Item> keys, const Run& run) {
  count_and_move<true>(keys, run);
}

template void counting(Keys, const Run&);
template void counting(Pairs, const Run&);
template void counting_by_offset(Keys, const Run&);
template void counting_by_offset(Pairs, const Run&);

}  // namespace sortie::papers::classics
