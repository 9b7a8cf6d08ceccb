// SPDX-License-Identifier: Apache-2.0
#include "baselines/sort/cub_value_sort.hpp"

#include "primitives/cuda/cub_radix_sort.cuh"

namespace sortie::baselines {

cudaError_t cub_value_sort(void* temporary, std::size_t& bytes, const RadixArrays& arrays,
                           std::uint64_t n, int key_bytes, int value_bytes, cudaStream_t stream) {
  // CUB's kernels for numbers of 32 bits are the faster ones for pairs.
  const auto narrow = static_cast<std::uint32_t>(n);
  if (narrow != n) return cudaErrorNotSupported;
  return with_key_word(key_bytes, [&]<class Key>(Key) {
    const auto sort = [&]<class Value>(Value) {
      return cub_sort_counted<Key, Value>(temporary, bytes, arrays, narrow, 0, 8 * sizeof(Key),
                                          stream);
    };
    if (value_bytes == 1) return sort(std::uint8_t{});
    if (value_bytes == 2) return sort(std::uint16_t{});
    return value_bytes == 16 ? sort(uint4{}) : cudaErrorNotSupported;
  });
}

}  // namespace sortie::baselines
