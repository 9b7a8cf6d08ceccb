// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/arguments.cuh"

namespace sortie::bench {

/// Arguments of a kernel of the library that is launched directly, for pairs of u32 and u32.
inline segsort::Arguments<std::uint32_t> arguments_of(const segsort::DeviceRequest& request) {
  return segsort::arguments_of<std::uint32_t>(request, {}, 0, request.num_segments);
}

/// True for the only combination of types for which these kernels are compiled.
inline bool has_single_kernels(const segsort::DeviceRequest& request) {
  return request.key_type == KeyType::u32 && request.value_bytes == 4;
}

}  // namespace sortie::bench
