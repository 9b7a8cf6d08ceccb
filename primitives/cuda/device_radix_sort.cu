// SPDX-License-Identifier: Apache-2.0
#include "primitives/cuda/device_radix_sort.hpp"

#include "primitives/cuda/cub_radix_sort.cuh"

// One source file for all types: CUB's headers take longer to compile than its kernels.

namespace sortie {
namespace {

/// Buffers: RadixBuffers or const RadixArrays.
template <class Buffers>
cudaError_t sort_with_types(void* temp, std::size_t& temp_bytes, Buffers& buffers, std::uint64_t n,
                            int key_bytes, int value_bytes, int begin_bit, int end_bit,
                            cudaStream_t stream) {
  return with_key_word(key_bytes, [&]<class Key>(Key) {
    return with_value_bytes(value_bytes, [&]<class Value>(Value) {
      return cub_sort<Key, Value>(temp, temp_bytes, buffers, n, begin_bit, end_bit, stream);
    });
  });
}

}  // namespace

cudaError_t device_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                              RadixBuffers& buffers, std::uint64_t n, int key_bytes,
                              int value_bytes, int begin_bit, int end_bit, cudaStream_t stream) {
  return sort_with_types(temp_storage, temp_storage_bytes, buffers, n, key_bytes, value_bytes,
                         begin_bit, end_bit, stream);
}

cudaError_t device_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                              const RadixArrays& arrays, std::uint64_t n, int key_bytes,
                              int value_bytes, int begin_bit, int end_bit, cudaStream_t stream) {
  return sort_with_types(temp_storage, temp_storage_bytes, arrays, n, key_bytes, value_bytes,
                         begin_bit, end_bit, stream);
}

}  // namespace sortie
