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
/// \tparam Count  CUB has kernels for numbers of 32 and of 64 bits; those for 32 take less storage
template <class Key, class Value, class Count>
cudaError_t cub_sort_counted(void* temp, std::size_t& temp_bytes, RadixBuffers& buffers, Count n,
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

template <class Key, class Value, class Count>
cudaError_t cub_sort_counted(void* temp, std::size_t& temp_bytes, const RadixArrays& arrays,
                             Count n, int begin_bit, int end_bit, cudaStream_t stream) {
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

/// \param buffers  RadixBuffers or const RadixArrays
template <class Key, class Value, class Buffers>
cudaError_t cub_sort(void* temp, std::size_t& temp_bytes, Buffers& buffers, std::uint64_t n,
                     int begin_bit, int end_bit, cudaStream_t stream) {
  const auto sort = [&](auto count) {
    return cub_sort_counted<Key, Value>(temp, temp_bytes, buffers, count, begin_bit, end_bit,
                                        stream);
  };
  // Of these items, the tiles for numbers of 64 bits are larger, and their statuses take less storage.
  constexpr bool has_larger_wide_tiles = sizeof(Key) == 2 && sizeof(Value) == 8;
  constexpr std::uint64_t many_tiles = 1 << 16;
  const auto narrow = static_cast<std::uint32_t>(n);
  return narrow == n && !(has_larger_wide_tiles && n > many_tiles) ? sort(narrow) : sort(n);
}

}  // namespace sortie
