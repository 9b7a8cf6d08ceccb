#pragma once

#include <cstdint>

#include "sortie/segsort/cuda/device_request.cuh"

namespace sortie::bench {

/// What a kernel of the library gets to sort pairs of u32 and u32, where one is started by itself.
inline segsort::Arguments<std::uint32_t> arguments_of(const segsort::DeviceRequest& request) {
  return segsort::arguments_of<std::uint32_t>(request, {}, 0, request.num_segments);
}

/// True for the one combination of types that these kernels are compiled for.
inline bool has_single_kernels(const segsort::DeviceRequest& request) {
  return request.key_type == KeyType::u32 && request.value_bytes == 4;
}

}  // namespace sortie::bench
