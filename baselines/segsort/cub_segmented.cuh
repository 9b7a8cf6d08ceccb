// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cub/device/device_segmented_sort.cuh>

#include "baselines/segsort/cub.hpp"

// Included by the sources that CMake generates, one for each type of key and of value.
namespace sortie::baselines {

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
