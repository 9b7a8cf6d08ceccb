#include "sortie/multisort/cuda/partition_kernels.hpp"

namespace sortie::multisort {

// Compiled in cuda/instances/.
template <class Word>
const PartitionKernels& kernels_of(int value_bytes);
extern template const PartitionKernels& kernels_of<std::uint8_t>(int);
extern template const PartitionKernels& kernels_of<std::uint16_t>(int);
extern template const PartitionKernels& kernels_of<std::uint32_t>(int);
extern template const PartitionKernels& kernels_of<std::uint64_t>(int);

namespace {

inline constexpr int stretches = 32;
inline constexpr int columns_of_block = 16;

/// A block sums up some columns; thread t a stretch of column t % columns_of_block.
__global__ void __launch_bounds__(stretches* columns_of_block)
    sum_kernel(std::uint64_t* rows, std::uint32_t pieces, std::uint64_t* totals) {
  __shared__ std::uint64_t sums[stretches][columns_of_block];
  const std::uint32_t in_block = threadIdx.x % columns_of_block;
  const std::uint32_t column = blockIdx.x * columns_of_block + in_block;
  const std::uint32_t stretch = threadIdx.x / columns_of_block;
  const std::uint32_t each = (pieces + stretches - 1) / stretches;
  const std::uint32_t begin = min(stretch * each, pieces);
  const std::uint32_t end = min(begin + each, pieces);
  std::uint64_t sum = 0;
#pragma unroll 8
  for (std::uint32_t piece = begin; piece < end; ++piece)
    sum += rows[std::uint64_t{piece} * most_groups + column];
  sums[stretch][in_block] = sum;
  __syncthreads();
  std::uint64_t before = 0;
  for (std::uint32_t s = 0; s < stretch; ++s) before += sums[s][in_block];
  if (stretch == stretches - 1) totals[column] = before + sum;
#pragma unroll 8
  for (std::uint32_t piece = begin; piece < end; ++piece) {
    std::uint64_t& count = rows[std::uint64_t{piece} * most_groups + column];
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

cudaError_t sum_pieces(std::uint64_t* piece_rows, std::uint32_t pieces, std::uint64_t* totals,
                       cudaStream_t stream) {
  static_assert(most_groups % columns_of_block == 0);
  sum_kernel<<<most_groups / columns_of_block, stretches * columns_of_block, 0, stream>>>(
      piece_rows, pieces, totals);
  return cudaGetLastError();
}

}  // namespace sortie::multisort
