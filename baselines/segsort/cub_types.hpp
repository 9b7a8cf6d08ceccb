// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "primitives/payload.hpp"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::baselines {

/// Calls `function` with typed zero values of the request's key and value types, of those that are
/// measured with CUB's sorts.
/// \return cudaErrorNotSupported for other types
template <class Function>
cudaError_t with_cub_types(const segsort::DeviceRequest& request, const Function& function) {
  return with_value_bytes(request.value_bytes, [&]<class Value>(Value value) {
    if constexpr (sizeof(Value) <= 4) {
      if (request.key_type == KeyType::u8) return function(std::uint8_t{}, value);
      if (request.key_type == KeyType::u16) return function(std::uint16_t{}, value);
    }
    if (request.key_type == KeyType::u32) return function(std::uint32_t{}, value);
    if (request.key_type == KeyType::u64) return function(std::uint64_t{}, value);
    return cudaErrorNotSupported;
  });
}

}  // namespace sortie::baselines
