// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/radix/partition_kernels.hpp"

#include "multisort/cuda/radix/count_kernels.cuh"
#include "multisort/cuda/radix/move_kernel.cuh"
#include "primitives/key_dispatch.hpp"

namespace sortie::multisort {

// CMake generates a source file for each.
#define SORTIE_EXTERN_MOVE(Word, value_bytes) \
  extern template cudaError_t launch_move<Word, value_bytes>(const MoveArguments&, cudaStream_t)
#define SORTIE_EXTERN_KERNELS(Word)                                                      \
  extern template cudaError_t launch_count<Word>(const CountArguments&, std::uint32_t,   \
                                                 cudaStream_t);                          \
  extern template cudaError_t launch_refine<Word>(const RefineArguments&, cudaStream_t); \
  extern template cudaError_t launch_sample<Word>(const SampleArguments&, cudaStream_t); \
  extern template cudaError_t launch_encode<Word>(void*, std::uint64_t, KeyOrder, bool,  \
                                                  cudaStream_t);                         \
  SORTIE_EXTERN_MOVE(Word, 0);                                                           \
  SORTIE_EXTERN_MOVE(Word, 4);                                                           \
  SORTIE_EXTERN_MOVE(Word, 8)
SORTIE_EXTERN_KERNELS(std::uint8_t);
SORTIE_EXTERN_KERNELS(std::uint16_t);
SORTIE_EXTERN_KERNELS(std::uint32_t);
SORTIE_EXTERN_KERNELS(std::uint64_t);
#undef SORTIE_EXTERN_KERNELS
#undef SORTIE_EXTERN_MOVE

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

template <class Word, int ValueBytes>
constexpr PartitionKernels kernels_of{
    static_cast<std::uint32_t>(move_shape<Word, ValueBytes>.tile()),
    launch_count<Word>,
    launch_refine<Word>,
    launch_sample<Word>,
    launch_move<Word, ValueBytes>,
    launch_encode<Word>};

}  // namespace

const PartitionKernels& partition_kernels(int key_bytes, int value_bytes) {
  return with_key_word(key_bytes, [&]<class Word>(Word) -> const PartitionKernels& {
    if (value_bytes == 0) return kernels_of<Word, 0>;
    return value_bytes == 4 ? kernels_of<Word, 4> : kernels_of<Word, 8>;
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
