// SPDX-License-Identifier: Apache-2.0
#include "primitives/cuda/device_radix_sort.hpp"

#include <cub/device/device_radix_sort.cuh>

#include "primitives/payload.hpp"

// One source file for all types: CUB's headers take longer to compile than its kernels.

namespace sortie {
namespace {

template <class Key, class Value>
cudaError_t cub_sort(void* temp, std::size_t& temp_bytes, RadixBuffers& buffers, std::uint64_t n,
                     int begin_bit, int end_bit, cudaStream_t stream) {
  cub::DoubleBuffer<Key> keys(static_cast<Key*>(buffers.keys),
                              static_cast<Key*>(buffers.other_keys));
  cudaError_t status = cudaSuccess;
  if constexpr (!has_values<Value>) {
    status = cub::DeviceRadixSort::SortKeys(temp, temp_bytes, keys, n, begin_bit, end_bit, stream);
  } else {
    cub::DoubleBuffer<Value> values(static_cast<Value*>(buffers.values),
                                    static_cast<Value*>(buffers.other_values));
    status = cub::DeviceRadixSort::SortPairs(temp, temp_bytes, keys, values, n, begin_bit, end_bit,
                                             stream);
  }
  if (temp != nullptr && status == cudaSuccess && keys.selector != 0) buffers.flip();
  return status;
}

}  // namespace

cudaError_t device_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                              RadixBuffers& buffers, std::uint64_t n, int key_bytes,
                              int value_bytes, int begin_bit, int end_bit, cudaStream_t stream) {
  return with_key_word(key_bytes, [&]<class Key>(Key) {
    return with_value_bytes(value_bytes, [&]<class Value>(Value) {
      return cub_sort<Key, Value>(temp_storage, temp_storage_bytes, buffers, n, begin_bit, end_bit,
                                  stream);
    });
  });
}

}  // namespace sortie
