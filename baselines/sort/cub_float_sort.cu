// SPDX-License-Identifier: Apache-2.0
#include "baselines/sort/cub_float_sort.hpp"

#include <cuda_fp16.h>

#include <cub/device/device_radix_sort.cuh>

namespace sortie::baselines {
namespace {

template <class Key>
cudaError_t sort(void* temporary, std::size_t& bytes, const RadixArrays& arrays, std::uint64_t n,
                 int value_bytes, cudaStream_t stream) {
  const auto* const keys_in = static_cast<const Key*>(arrays.keys_in);
  auto* const keys_out = static_cast<Key*>(arrays.keys_out);
  if (value_bytes == 0)
    return cub::DeviceRadixSort::SortKeys(temporary, bytes, keys_in, keys_out, n, 0,
                                          8 * sizeof(Key), stream);
  // CUB's kernels for numbers of 32 bits are the faster ones for pairs.
  const auto narrow = static_cast<std::uint32_t>(n);
  if (value_bytes != 4 || narrow != n) return cudaErrorNotSupported;
  return cub::DeviceRadixSort::SortPairs(
      temporary, bytes, keys_in, keys_out, static_cast<const std::uint32_t*>(arrays.values_in),
      static_cast<std::uint32_t*>(arrays.values_out), narrow, 0, 8 * sizeof(Key), stream);
}

}  // namespace

cudaError_t cub_float_sort(void* temporary, std::size_t& bytes, const RadixArrays& arrays,
                           std::uint64_t n, int key_bytes, int value_bytes, cudaStream_t stream) {
  if (key_bytes == 2) return sort<__half>(temporary, bytes, arrays, n, value_bytes, stream);
  return key_bytes == 4 ? sort<float>(temporary, bytes, arrays, n, value_bytes, stream)
                        : sort<double>(temporary, bytes, arrays, n, value_bytes, stream);
}

}  // namespace sortie::baselines
