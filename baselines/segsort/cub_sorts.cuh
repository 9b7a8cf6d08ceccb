// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include "baselines/segsort/cub.hpp"

// Included by the sources that CMake generates, one for each type of key.
namespace sortie::baselines {

template <class Key, class Value>
cudaError_t cub_radix(void* temporary, std::size_t& bytes, const CubArrays<Key, Value>& arrays,
                      int begin_bit, int end_bit, cudaStream_t stream) {
  if constexpr (!has_values<Value>) {
    return cub::DeviceRadixSort::SortKeys(temporary, bytes, arrays.keys_in, arrays.keys_out,
                                          arrays.items, begin_bit, end_bit, stream);
  } else {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, arrays.keys_in, arrays.keys_out,
                                           arrays.values_in, arrays.values_out, arrays.items,
                                           begin_bit, end_bit, stream);
  }
}

template <class Key, class Value>
cudaError_t cub_segmented(void* temporary, std::size_t& bytes, const CubArrays<Key, Value>& arrays,
                          std::int64_t segments, const std::uint32_t* begins,
                          const std::uint32_t* ends, cudaStream_t stream) {
  if constexpr (!has_values<Value>) {
    return cub::DeviceSegmentedSort::SortKeys(temporary, bytes, arrays.keys_in, arrays.keys_out,
                                              arrays.items, segments, begins, ends, stream);
  } else {
    return cub::DeviceSegmentedSort::SortPairs(temporary, bytes, arrays.keys_in, arrays.keys_out,
                                               arrays.values_in, arrays.values_out, arrays.items,
                                               segments, begins, ends, stream);
  }
}

}  // namespace sortie::baselines
