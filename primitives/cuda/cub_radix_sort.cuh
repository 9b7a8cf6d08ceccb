// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>

#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/payload.hpp"

/// cub::DeviceRadixSort for one type of keys and of values.
namespace sortie {

/// \tparam Value  a word of the width of the values, or NoValue
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

template <class Key, class Value>
cudaError_t cub_sort(void* temp, std::size_t& temp_bytes, const RadixArrays& arrays,
                     std::uint64_t n, int begin_bit, int end_bit, cudaStream_t stream) {
  const auto* const keys_in = static_cast<const Key*>(arrays.keys_in);
  auto* const keys_out = static_cast<Key*>(arrays.keys_out);
  if constexpr (!has_values<Value>) {
    return cub::DeviceRadixSort::SortKeys(temp, temp_bytes, keys_in, keys_out, n, begin_bit,
                                          end_bit, stream);
  } else {
    return cub::DeviceRadixSort::SortPairs(
        temp, temp_bytes, keys_in, keys_out, static_cast<const Value*>(arrays.values_in),
        static_cast<Value*>(arrays.values_out), n, begin_bit, end_bit, stream);
  }
}

}  // namespace sortie
