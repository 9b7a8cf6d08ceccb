// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/radix/partition_kernels.hpp"

#include "primitives/payload.hpp"

namespace sortie::multisort {

// move_kernel.cuh; CMake generates a source file for each key width.
template <class Word, int ValueBytes>
const PartitionKernels& kernels_of();

namespace {

inline constexpr int row_ranges = 32;
inline constexpr int columns_of_block = 16;

/// Exclusive prefix sums over the rows, and the totals. A block takes columns_of_block columns;
/// thread t sums one range of the rows of column t % columns_of_block.
__global__ void __launch_bounds__(row_ranges* columns_of_block)
    sum_kernel(std::uint64_t* rows, std::uint32_t batches, std::uint64_t* totals) {
  __shared__ std::uint64_t sums[row_ranges][columns_of_block];
  const std::uint32_t in_block = threadIdx.x % columns_of_block;
  const std::uint32_t column = blockIdx.x * columns_of_block + in_block;
  const std::uint32_t range = threadIdx.x / columns_of_block;
  const std::uint32_t each = (batches + row_ranges - 1) / row_ranges;
  const std::uint32_t begin = min(range * each, batches);
  const std::uint32_t end = min(begin + each, batches);
  std::uint64_t sum = 0;
#pragma unroll 8
  for (std::uint32_t batch = begin; batch < end; ++batch)
    sum += rows[std::uint64_t{batch} * most_groups + column];
  sums[range][in_block] = sum;
  __syncthreads();
  std::uint64_t before = 0;
  for (std::uint32_t s = 0; s < range; ++s) before += sums[s][in_block];
  if (range == row_ranges - 1) totals[column] = before + sum;
#pragma unroll 8
  for (std::uint32_t batch = begin; batch < end; ++batch) {
    std::uint64_t& count = rows[std::uint64_t{batch} * most_groups + column];
    const std::uint64_t own = count;
    count = before;
    before += own;
  }
}

}  // namespace

const PartitionKernels& partition_kernels(int key_bytes, int value_bytes) {
  return with_key_word(key_bytes, [&]<class Word>(Word) -> const PartitionKernels& {
    if (value_bytes == 0) return kernels_of<Word, 0>();
    return value_bytes == 4 ? kernels_of<Word, 4>() : kernels_of<Word, 8>();
  });
}

cudaError_t sum_batches(std::uint64_t* batch_rows, std::uint32_t batches, std::uint64_t* totals,
                        cudaStream_t stream) {
  static_assert(most_groups % columns_of_block == 0);
  sum_kernel<<<most_groups / columns_of_block, row_ranges * columns_of_block, 0, stream>>>(
      batch_rows, batches, totals);
  return cudaGetLastError();
}

}  // namespace sortie::multisort
