// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/radix/partition_kernels.hpp"

namespace sortie::multisort {

// CMake generates a source file for each key width.
template <class Word>
const PartitionKernels& kernels_of(int value_bytes);
extern template const PartitionKernels& kernels_of<std::uint8_t>(int);
extern template const PartitionKernels& kernels_of<std::uint16_t>(int);
extern template const PartitionKernels& kernels_of<std::uint32_t>(int);
extern template const PartitionKernels& kernels_of<std::uint64_t>(int);

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
  switch (key_bytes) {
    case 1:
      return kernels_of<std::uint8_t>(value_bytes);
    case 2:
      return kernels_of<std::uint16_t>(value_bytes);
    case 4:
      return kernels_of<std::uint32_t>(value_bytes);
    default:
      return kernels_of<std::uint64_t>(value_bytes);
  }
}

cudaError_t sum_batches(std::uint64_t* batch_rows, std::uint32_t batches, std::uint64_t* totals,
                        cudaStream_t stream) {
  static_assert(most_groups % columns_of_block == 0);
  sum_kernel<<<most_groups / columns_of_block, row_ranges * columns_of_block, 0, stream>>>(
      batch_rows, batches, totals);
  return cudaGetLastError();
}

}  // namespace sortie::multisort
